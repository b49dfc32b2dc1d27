//! The attribute on small trees, compiled as a user's would be.

#![cfg(feature = "annotate")]

use std::fs;
use std::path::Path;

use autobatch_fuzz::annotate::report::counts;
use autobatch_fuzz::annotate::{Outcome, Request, Verdict, annotate};

const LIBRARY: &str = "\
#![no_std]
#![forbid(warnings)]

pub mod inner;

/// Compiles.
#[inline]
pub fn half(x: f64) -> f64 {
    x / 2.0
}

/// Refused.
pub async fn later(x: u8) -> u8 {
    x
}

/// Gets `#[each]`.
pub fn total(values: &[f64]) -> f64 {
    values.iter().sum()
}

#[cfg(not(target_pointer_width = \"64\"))]
pub fn elsewhere(x: u8) -> u8 {
    x
}
";

const INNER: &str = "\
/// Does not compile with the attribute: the name of its batched form is taken.
pub fn taken(x: u8) -> u8 {
    x + 1
}

pub fn taken_batched(x: u8) -> u8 {
    taken(x)
}

pub struct Scale(pub f64);

impl Scale {
    pub fn by(&self, x: f64) -> f64 { self.0 * x }
    pub async fn slowly(&self, x: f64) -> f64 { self.0 * x }
    pub fn lost(&self, x: f64) -> f64 { self.0 + x }
    pub fn lost_batched(&self, x: f64) -> f64 { self.lost(x) }
}
";

fn verdict<'o>(outcome: &'o Outcome, name: &str) -> &'o Verdict {
    let found = outcome.functions.iter().find(|judged| judged.name == name);
    &found.unwrap_or_else(|| panic!("{name} is in {outcome:#?}")).verdict
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

#[test]
fn packages_and_loose_files() {
    let folder = std::env::temp_dir().join(format!("autobatch-annotate-test-{}", std::process::id()));
    let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let package = folder.join("package");
    write(&package, &[("Cargo.toml", manifest), ("src/lib.rs", LIBRARY), ("src/inner.rs", INNER)]);
    // So that nothing has to be resolved or downloaded.
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock"), package.join("Cargo.lock"))
        .unwrap();
    let request = Request { each: true, cargo: vec!["--offline".into()], ..Request::new(&package) };
    let outcome = annotate(&request, &mut |_| ()).unwrap();
    for name in ["half", "total", "Scale::by"] {
        assert_eq!(verdict(&outcome, name), &Verdict::Batched, "{name}");
    }
    let refused = |name| matches!(verdict(&outcome, name), Verdict::Refused(why) if why.contains("async"));
    assert!(refused("later") && refused("Scale::slowly"));
    let broken = |name| matches!(verdict(&outcome, name), Verdict::Broken { .. });
    assert!(broken("taken"));
    let twice =
        |name| matches!(verdict(&outcome, name), Verdict::Refused(why) if why.contains("`impl` block"));
    assert!(twice("Scale::lost"));
    assert_eq!(outcome.absent, 1);
    assert!(outcome.functions.iter().all(|judged| judged.name != "elsewhere"));
    let half = outcome.functions.iter().find(|judged| judged.name == "half").unwrap();
    assert_eq!((half.file.as_str(), half.line), ("src/lib.rs", 8));
    assert_eq!(fs::read_to_string(package.join("src/lib.rs")).unwrap(), LIBRARY, "the tree is as it was");

    let loose = folder.join("loose");
    let files = [
        ("one.rs", "mod part;\npub fn f(x: u8) -> u8 { part::g(x) }\n"),
        ("one/part.rs", "pub fn g(x: u8) -> u8 { x }\n"),
        ("deep/two-more.rs", "fn main() {}\nfn h(mut n: u64) -> u64 { while n > 9 { n /= 10; } n }\n"),
        ("broken.rs", "pub fn i(x: u8) -> u16 { x }\n"),
    ];
    write(&loose, &files);
    let outcome = annotate(&Request { strict: true, ..Request::new(&loose) }, &mut |_| ()).unwrap();
    for name in ["f", "g", "h"] {
        assert_eq!(verdict(&outcome, name), &Verdict::Batched, "{name}");
    }
    let files: Vec<&str> = outcome.left_out.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!((counts(&outcome).functions, files), (3, vec!["broken.rs"]));
    fs::remove_dir_all(folder).unwrap();
}
