//! Compiles many programs as one crate, and runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::crate_text;
use crate::tree::Program;

/// How a failure begins that rustc reports.
pub const COMPILES_NOT: &str = "does not compile";

/// What test crates are called.
const PACKAGE: &str = "autobatch-fuzz-batch";

/// Where and how test crates are built.
#[derive(Clone, Debug)]
pub struct Workbench {
    /// The workspace that has autobatch.
    pub root: PathBuf,
    /// A directory for packages and what is built of them.
    pub directory: PathBuf,
    /// Optimised and without overflow checks, as users measure; else as they test.
    pub release: bool,
    /// Threads of rustc; `None` is cargo's default.
    pub jobs: Option<usize>,
    /// Only whether programs compile, which is faster.
    pub check: bool,
}

/// What became of a batch of programs.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Functions compiled and run.
    pub functions: usize,
    /// Programs compiled and run.
    pub programs: usize,
    /// Results compared.
    pub comparisons: u64,
    /// Members run, and those that panic.
    pub members: u64,
    /// Members whose scalar function panics.
    pub panics: u64,
    /// What failed, by place in the batch.
    pub failures: BTreeMap<usize, String>,
    /// Programs that rustc refuses without the attribute: mistakes of the generator, or of a shrinking step.
    pub rejected: BTreeMap<usize, String>,
}

impl Workbench {
    /// Compiles and runs programs. What is common to all, a broken crate of ours for one, is an error.
    ///
    /// # Errors
    ///
    /// If files can't be written, cargo can't be run, or fails at no program in particular.
    pub fn test(&self, programs: &[Program]) -> io::Result<Verdict> {
        let mut verdict = Verdict::default();
        let mut left: BTreeSet<usize> = (0..programs.len()).collect();
        loop {
            if left.is_empty() {
                return Ok(verdict);
            }
            let errors = self.compile(programs, &left, true)?;
            if errors.is_empty() {
                break;
            }
            let suspects: BTreeSet<usize> = errors.keys().copied().collect();
            let refused = self.refused(programs, &suspects)?;
            for index in suspects.iter().copied().filter(|index| !refused.contains_key(index)) {
                verdict.failures.insert(index, format!("{COMPILES_NOT}: {}", errors[&index]));
            }
            verdict.rejected.extend(refused);
            left.retain(|index| !suspects.contains(index));
        }
        if self.check {
            return Ok(verdict);
        }
        verdict.programs = left.len();
        verdict.functions = left.iter().map(|index| programs[*index].functions.len()).sum();
        self.run(left, &mut verdict)?;
        Ok(verdict)
    }

    /// The programs that rustc refuses without the attribute, with its first error of each.
    ///
    /// # Errors
    ///
    /// As [`Workbench::test`].
    pub fn refused(
        &self,
        programs: &[Program],
        chosen: &BTreeSet<usize>,
    ) -> io::Result<BTreeMap<usize, String>> {
        let (mut left, mut refused) = (chosen.clone(), BTreeMap::new());
        // One error may hide another, so this ends when the rest compiles.
        while !left.is_empty() {
            let errors = self.compile(programs, &left, false)?;
            if errors.is_empty() {
                break;
            }
            left.retain(|index| !errors.contains_key(index));
            refused.extend(errors);
        }
        Ok(refused)
    }

    fn package(&self, batched: bool) -> PathBuf {
        self.directory.join(if batched { "batched" } else { "scalar" })
    }

    /// Builds the chosen programs; the first error of each that has one.
    fn compile(
        &self,
        programs: &[Program],
        chosen: &BTreeSet<usize>,
        batched: bool,
    ) -> io::Result<BTreeMap<usize, String>> {
        let package = self.package(batched);
        let source = package.join("src");
        if source.exists() {
            fs::remove_dir_all(&source)?;
        }
        fs::create_dir_all(&source)?;
        let mut main = String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n");
        for index in chosen {
            let name = crate_text::name(*index);
            main.push_str(&format!("mod {name};\n"));
            fs::write(source.join(format!("{name}.rs")), crate_text::module(&programs[*index], batched))?;
        }
        let entries = crate_text::entries(chosen.iter().map(|index| (*index, &programs[*index])));
        main.push_str(&format!("fn main() {{ autobatch_fuzz::harness::main({entries}) }}\n"));
        fs::write(source.join("main.rs"), main)?;
        fs::write(package.join("Cargo.toml"), self.manifest())?;
        // The workspace's own lock file, so that nothing has to be resolved or downloaded.
        fs::copy(self.root.join("Cargo.lock"), package.join("Cargo.lock"))?;
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .arg(if batched && !self.check { "build" } else { "check" })
            .args(["--offline", "--quiet", "--color=never", "--message-format=short", "--target-dir"])
            .arg(self.directory.join("target"))
            .current_dir(&package)
            .env_remove("CARGO_TARGET_DIR");
        if self.release && batched && !self.check {
            cargo.arg("--release");
        }
        if let Some(jobs) = self.jobs {
            cargo.arg(format!("-j{jobs}"));
        }
        let output = cargo.output()?;
        if output.status.success() {
            return Ok(BTreeMap::new());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let mut errors = BTreeMap::new();
        for line in text.lines() {
            let place = line.strip_prefix("src/").and_then(|rest| rest.split_once(".rs:"));
            if let Some((name, message)) = place
                && let Some(index) = crate_text::index(name)
            {
                errors.entry(index).or_insert_with(|| message.to_string());
            }
        }
        if errors.is_empty() {
            return Err(io::Error::other(format!("cargo fails at no program in particular:\n{text}")));
        }
        Ok(errors)
    }

    fn manifest(&self) -> String {
        let (facade, harness) = (&self.root, self.root.join("fuzz"));
        format!(
            "[package]\nname = {PACKAGE:?}\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dependencies]\nautobatch = {{ path = {facade:?}, default-features = false }}\n\
             autobatch-fuzz = {{ path = {harness:?}, default-features = false, features = [\"harness\"] }}\n\n\
             [profile.dev]\ndebug = 0\nincremental = false\n\n\
             [profile.release]\ndebug = 0\n\n[workspace]\n"
        )
    }

    /// Runs the programs, going on behind one that ends the process.
    fn run(&self, mut left: BTreeSet<usize>, verdict: &mut Verdict) -> io::Result<()> {
        let profile = if self.release { "release" } else { "debug" };
        let binary = self.directory.join("target").join(profile).join(PACKAGE);
        let binary = Path::new(&binary).with_extension(std::env::consts::EXE_EXTENSION);
        while !left.is_empty() {
            let output = Command::new(&binary)
                .args(left.iter().map(|index| crate_text::name(*index)))
                .stdin(Stdio::null())
                .output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let mut current = None;
            for line in text.lines() {
                let mut words = line.split('\t');
                let (word, name) = (words.next(), words.next());
                let Some(index) = name.and_then(crate_text::index) else { continue };
                let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
                match word {
                    Some("begin") => current = Some(index),
                    Some("end") => {
                        verdict.comparisons += number();
                        verdict.members += number();
                        verdict.panics += number();
                        left.remove(&index);
                        current = None;
                    }
                    Some("fail") => {
                        verdict.failures.insert(index, words.collect::<Vec<_>>().join(" "));
                    }
                    _ => {}
                }
            }
            if left.is_empty() {
                break;
            }
            let Some(index) = current else {
                return Err(io::Error::other(format!("the test crate stops between programs: {output:?}")));
            };
            left.remove(&index);
            let how = format!("the process ends: {}", output.status);
            verdict.failures.entry(index).or_insert(how);
        }
        Ok(())
    }
}
