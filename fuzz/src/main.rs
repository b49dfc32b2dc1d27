//! Random programs, compiled in bulk and compared; a failure is made small.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, io};

use autobatch_fuzz::generate;
use autobatch_fuzz::shrink::shrink;
use autobatch_fuzz::workbench::{Verdict, Workbench};

const USAGE: &str = "\
usage: autobatch-fuzz [options]

  --seed N        the seed of the run; else a fresh one
  --functions N   stop after so many functions (default 1000)
  --minutes N     stop after so many minutes instead
  --batch N       programs compiled at once (default 150)
  --release       optimised, without overflow checks
  --program N     this program only; can be given several times
  --print         print the programs and do nothing else
  --check         only whether programs compile, which is faster
  --scalar        only whether rustc takes the programs without the attribute
  --owned         only programs without types that borrow
  --no-shrink     report failures as they are
  --jobs N        jobs of cargo";

struct Arguments {
    seed: u64,
    functions: usize,
    minutes: Option<u64>,
    batch: usize,
    release: bool,
    programs: Vec<u64>,
    print: bool,
    check: bool,
    scalar: bool,
    owned: bool,
    shrink: bool,
    jobs: Option<usize>,
}

fn arguments() -> Result<Arguments, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let mut parsed = Arguments {
        seed: now,
        functions: 1000,
        minutes: None,
        batch: 150,
        release: false,
        programs: Vec::new(),
        print: false,
        check: false,
        scalar: false,
        owned: false,
        shrink: true,
        jobs: None,
    };
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> Result<u64, String> {
            let value = args.next().ok_or(format!("{arg} needs a number"))?;
            value.parse().map_err(|_| format!("{arg} needs a number, not {value:?}"))
        };
        match arg.as_str() {
            "--seed" => parsed.seed = number()?,
            "--functions" => parsed.functions = number()? as usize,
            "--minutes" => parsed.minutes = Some(number()?),
            "--batch" => parsed.batch = number()?.max(1) as usize,
            "--release" => parsed.release = true,
            "--program" => parsed.programs.push(number()?),
            "--check" => parsed.check = true,
            "--print" => parsed.print = true,
            "--scalar" => parsed.scalar = true,
            "--owned" => parsed.owned = true,
            "--no-shrink" => parsed.shrink = false,
            "--jobs" => parsed.jobs = Some(number()? as usize),
            "--help" => return Err(String::new()),
            _ => return Err(format!("unknown argument {arg}\n")),
        }
    }
    Ok(parsed)
}

fn main() -> ExitCode {
    let args = match arguments() {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs batches; the number of failures.
fn run(args: &Arguments) -> io::Result<usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default();
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let bench = Workbench {
        root,
        directory: target.join("fuzz"),
        release: args.release,
        jobs: args.jobs,
        check: args.check,
    };
    let begin = Instant::now();
    let mut seeds: Box<dyn Iterator<Item = u64>> = match args.programs.is_empty() {
        true => {
            println!("seed {}", args.seed);
            Box::new(generate::seeds(args.seed))
        }
        false => Box::new(args.programs.iter().copied()),
    };
    let (mut functions, mut programs, mut comparisons, mut failures) = (0, 0, 0, 0);
    loop {
        let chosen: Vec<u64> = seeds.by_ref().take(args.batch).collect();
        let done = match args.minutes {
            Some(minutes) => begin.elapsed() >= Duration::from_secs(60 * minutes),
            None => functions >= args.functions,
        };
        if chosen.is_empty() || (done && args.programs.is_empty()) {
            break;
        }
        let make = if args.owned { generate::owned_program } else { generate::program };
        let batch: Vec<_> = chosen.into_iter().map(make).collect();
        if args.print {
            batch.iter().for_each(|program| println!("// {}\n{}", program.seed, program.source(true)));
            if args.programs.is_empty() && batch.len() >= args.functions {
                break;
            }
            functions += batch.len();
            continue;
        }
        let verdict = if args.scalar {
            let rejected = bench.refused(&batch, &(0..batch.len()).collect())?;
            Verdict { rejected, ..Verdict::default() }
        } else {
            bench.test(&batch)?
        };
        functions += if args.check || args.scalar {
            batch.iter().map(|program| program.functions.len()).sum()
        } else {
            verdict.functions
        };
        programs += verdict.programs;
        comparisons += verdict.comparisons;
        println!(
            "{:>6.0} s: {} functions in {} programs, {} comparisons; {} of {} members panic, {} programs refused by rustc, {} failures",
            begin.elapsed().as_secs_f64(),
            verdict.functions,
            verdict.programs,
            verdict.comparisons,
            verdict.panics,
            verdict.members,
            verdict.rejected.len(),
            verdict.failures.len()
        );
        for (index, message) in &verdict.rejected {
            println!("refused by rustc: --program {}: {message}", batch[*index].seed);
        }
        for (index, message) in verdict.failures {
            failures += 1;
            let program = batch[index].clone();
            let seed = program.seed;
            println!("\nFAILURE of program {seed}: {message}");
            if args.shrink {
                let (small, message) = shrink(&bench, program, message, &mut |size| {
                    println!("  {size} pieces");
                })?;
                println!("shrunk: {message}\n\n{}", small.source(true));
            }
            let release = if args.release { " --release" } else { "" };
            let owned = if args.owned { " --owned" } else { "" };
            println!("to see it again: cargo run -p autobatch-fuzz -- --program {seed}{release}{owned}\n");
        }
    }
    println!(
        "in all: {functions} functions in {programs} programs, {comparisons} comparisons, {failures} failures, {:.1} minutes",
        begin.elapsed().as_secs_f64() / 60.0
    );
    Ok(failures)
}
