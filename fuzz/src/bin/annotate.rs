//! Puts the attribute on every function of a source tree, and says which compile.

use std::env;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use autobatch_fuzz::annotate::report::{counts, list, table};
use autobatch_fuzz::annotate::{Request, annotate};

const USAGE: &str = "\
usage: annotate [options] PATH…

Puts #[autobatch] on every function under PATH that has a parameter to batch over, in a copy of the tree, and lists what
the attribute refuses and what rustc does not compile with it. PATH is a package, a workspace, a folder of
Rust files, or one file. The exit code is 1 if something does not compile.

  --strict        #[autobatch(strict)]: which functions are block programs, and why the others are not
  --each          functions that have references only get #[each] on the first one; else they are passed over
  --all           list what is batched too
  --keep          keep the copy
  --timeout N     seconds that one compilation may take (default 300)
  --memory N      MiB of memory that one process may have (default 10240)
  --autobatch PATH
                  another checkout of autobatch than this one
  --features LIST, --all-features, --no-default-features
                  as for cargo

example: what of my crate would batch?

  cargo run -p autobatch-fuzz --bin annotate -- --each --strict ../my-crate";

fn arguments() -> Result<(Vec<Request>, bool), String> {
    let mut request = Request::new(&PathBuf::new());
    let (mut paths, mut all) = (Vec::new(), false);
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text:?} is not a number"));
        match arg.as_str() {
            "--strict" => request.strict = true,
            "--each" => request.each = true,
            "--all" => all = true,
            "--keep" => request.keep = true,
            "--timeout" => request.timeout = Duration::from_secs(number(value()?)?),
            "--autobatch" => {
                let path = value()?;
                request.autobatch =
                    PathBuf::from(&path).canonicalize().map_err(|e| format!("{path}: {e}"))?;
            }
            "--memory" => request.memory = number(value()?)?,
            "--features" => request.cargo.extend([format!("--features={}", value()?)]),
            "--all-features" | "--no-default-features" => request.cargo.push(arg),
            "--help" => return Err(String::new()),
            _ if arg.starts_with('-') => return Err(format!("unknown argument {arg}\n")),
            _ => paths.push(PathBuf::from(arg)),
        }
    }
    match paths.is_empty() {
        true => Err("which tree?\n".into()),
        false => Ok((paths.into_iter().map(|path| Request { path, ..request.clone() }).collect(), all)),
    }
}

fn main() -> ExitCode {
    let (requests, all) = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(if error.is_empty() { 0 } else { 2 });
        }
    };
    let strict = requests[0].strict;
    let (mut outcomes, mut failed) = (Vec::new(), false);
    for request in requests {
        eprintln!("{}", request.path.display());
        match annotate(&request, &mut |text| eprintln!("  {text}")) {
            Ok(outcome) => {
                print!("{}", list(&outcome, all));
                let _ = std::io::stdout().flush();
                if let Some(copy) = &outcome.copy {
                    eprintln!("  the copy is {}", copy.display());
                }
                outcomes.push(outcome);
            }
            Err(error) => {
                eprintln!("{}: {error}", request.path.display());
                failed = true;
            }
        }
    }
    println!("\n{}", table(&outcomes, strict));
    let broken = outcomes.iter().map(|outcome| counts(outcome).broken).sum::<usize>();
    match (failed, broken) {
        (true, _) => ExitCode::from(2),
        (false, 0) => ExitCode::SUCCESS,
        (false, _) => ExitCode::FAILURE,
    }
}
