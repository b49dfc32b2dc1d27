//! All accepted forms compile without any warning in a crate of their own that denies all lints, pedantic
//! ones included, forbids unsafe code and shadows the standard library's names, in editions 2021 and 2024.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of the accepted forms, for one edition. It has the workspace's lock file, so that nothing
/// has to be resolved or downloaded.
fn package(edition: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("this package is in tests");
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("warning-free-{edition}"));
    fs::create_dir_all(&package).expect("a directory of the test's own");
    let manifest = format!(
        "[package]\nname = \"warning-free-{edition}\"\nversion = \"0.0.0\"\nedition = {edition:?}\npublish = false\n\n\
         [lib]\npath = {:?}\n\n\
         [dependencies]\nautobatch = {{ path = {root:?} }}\nndarray = \"0.17\"\n\n\
         [workspace]\n\n[profile.dev]\ndebug = \"line-tables-only\"\n",
        root.join("tests/diagnostics/warning_free/lib.rs"),
    );
    fs::write(package.join("Cargo.toml"), manifest).expect("the manifest can be written");
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).expect("the lock file can be copied");
    package
}

/// Runs clippy, which runs rustc's own checks too.
fn is_free_of_warnings(edition: &str) {
    let package = package(edition);
    // The directory that this test was built in: the same profile, so that dependencies have been checked there.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is part of the build directory");
    let output = Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--quiet", "--color=never"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.is_empty(), "edition {edition}:\n{messages}");
}

#[test]
fn in_edition_2021() {
    is_free_of_warnings("2021");
}

#[test]
fn in_edition_2024() {
    is_free_of_warnings("2024");
}
