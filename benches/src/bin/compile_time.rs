//! What `#[autobatch]` costs at compile time: programs (`benches/compile`) are built with and without it.
//!
//! `cargo run --release -p autobatch-bench --bin compile_time [ROUNDS]`

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROGRAMS: [(&str, &str); 3] = [
    ("fib", include_str!("../../compile/fib.rs")),
    ("mandel", include_str!("../../compile/mandel.rs")),
    ("queens and path tracer", include_str!("../../compile/tracer.rs")),
];

/// A crate with one program, without and with the attribute.
struct Crate {
    folder: PathBuf,
    target: PathBuf,
}

impl Crate {
    fn new() -> Result<Crate> {
        let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = benches.parent().ok_or("the workspace")?;
        let program = env::current_exe()?;
        let tagged = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
        let folder = tagged.ok_or("a target directory")?.join("compile_time");
        fs::create_dir_all(folder.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [features]\nbatched = []\n\n\
             [dependencies]\nautobatch = {{ path = {root:?} }}\n\n[workspace]\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        // The same versions, so that nothing has to be looked up.
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Crate { target: folder.join("target"), folder })
    }

    /// Seconds of a build.
    fn build(&self, flags: &[&str]) -> Result<f64> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["rustc", "--quiet"]).args(flags).args(["--", "-Cstrip=symbols"]);
        command.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "0");
        let begin = Instant::now();
        let status = command.status()?;
        let seconds = begin.elapsed().as_secs_f64();
        if status.success() { Ok(seconds) } else { Err("the program does not compile".into()) }
    }

    /// The best time to compile the program alone, and the size of the executable.
    fn measure(&self, source: &str, flags: &[&str], rounds: usize) -> Result<(f64, u64)> {
        let mut best = f64::INFINITY;
        for round in 0..=rounds {
            fs::write(self.folder.join("src/main.rs"), format!("{source}// {round}\n"))?;
            let all = self.build(flags)?;
            // What cargo takes when there is nothing to do.
            let nothing = self.build(flags)?;
            // The first round builds what the program depends on.
            if round > 0 {
                best = best.min(all - nothing);
            }
        }
        let kind = if flags.contains(&"--release") { "release" } else { "debug" };
        let program = self.target.join(kind).join(format!("program{}", env::consts::EXE_SUFFIX));
        Ok((best, fs::metadata(program)?.len()))
    }
}

fn main() -> Result<()> {
    let rounds = env::args().nth(1).map_or(Ok(3), |rounds| rounds.parse())?;
    let build = Crate::new()?;
    println!(
        "Seconds to compile the program alone, best of {rounds}, without -> with `#[autobatch]`; kB of the executable.\n"
    );
    println!("| program | lines | debug | release | debug, kB | release, kB |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, source) in PROGRAMS {
        let mut cells = [[(0.0, 0); 2]; 2];
        for (cells, profile) in cells.iter_mut().zip([&[][..], &["--release"]]) {
            for (cell, batched) in cells.iter_mut().zip([&[][..], &["--features", "batched"]]) {
                *cell = build.measure(source, &[profile, batched].concat(), rounds)?;
            }
        }
        let [debug, release] = cells;
        let seconds = |[without, with]: [(f64, u64); 2]| format!("{:.2} -> {:.2}", without.0, with.0);
        let size = |[without, with]: [(f64, u64); 2]| format!("{} -> {}", without.1 / 1000, with.1 / 1000);
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            source.lines().count(),
            seconds(debug),
            seconds(release),
            size(debug),
            size(release)
        );
    }
    Ok(())
}
