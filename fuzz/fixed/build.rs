//! Writes the programs of the fixed seed, as the modules of a test.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use autobatch_fuzz::{crate_text, generate};

/// The seed, and how many programs. With another seed, a program may fail that nobody has looked at yet: that is
/// what `cargo run -p autobatch-fuzz` is for.
const SEED: u64 = 1;
const PROGRAMS: usize = 64;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo gives a build script its directory"));
    let programs: Vec<_> = generate::seeds(SEED).take(PROGRAMS).map(generate::owned_program).collect();
    let mut main = String::new();
    for (index, program) in programs.iter().enumerate() {
        let name = crate_text::name(index);
        let path = out.join(format!("{name}.rs"));
        write(&path, &crate_text::module(program, true));
        writeln!(main, "#[path = {path:?}]\nmod {name};").expect("a string takes all text");
    }
    let entries = crate_text::entries(programs.iter().enumerate());
    writeln!(main, "const ENTRIES: &[autobatch_fuzz::harness::Entry] = {entries};")
        .expect("a string takes all text");
    write(&out.join("programs.rs"), &main);
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the build directory can be written");
}
