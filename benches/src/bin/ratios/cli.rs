//! The command line.

use autobatch::Isa;
use autobatch_bench::kernels::{self, Entry};
use autobatch_bench::variant::{isa_name, isas};

pub(crate) const HELP: &str = "\
Compares the ways to run each kernel: scalar, rayon, the executors of autobatch, and ISPC if it was linked
(build with the environment variable ISPC naming the compiler).

Usage: ratios [OPTIONS] [KERNEL]...

Options:
  --kernel NAME,...   only these kernels (also: plain arguments)       [all]
  --isa NAME,...      only these instruction sets (avx512, avx2, baseline, neon)
                                                                       [those of the CPU]
  --threads N,...     numbers of threads                               [1 and all]
  --rounds N          rounds; the best of each way counts              [7]
  --members N         members of each batch                            [the kernel's own]
  --auto              only `Auto` against rayon, on small batches and the whole one, how often it is behind
  --quick             one round of small batches, to see that all works
  --list              the kernels' names
  --help              this text";

/// What the user asked for.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) kernels: Vec<&'static Entry>,
    pub(crate) isas: Vec<Isa>,
    pub(crate) threads: Vec<usize>,
    pub(crate) rounds: usize,
    pub(crate) members: Option<usize>,
}

impl Config {
    /// The largest number of threads.
    pub(crate) fn most_threads(&self) -> usize {
        self.threads.last().copied().unwrap_or(1)
    }
}

/// The outcome of reading the command line.
#[derive(Debug)]
pub(crate) enum Request {
    Measure(Config),
    Auto(Config),
    List,
    Help,
}

/// Reads the arguments that follow the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let (mut kernels, mut isa_list, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rounds, mut members, mut quick, mut auto) = (None, None, false, false);
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let (flag, inline) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (argument.as_str(), None),
        };
        let mut value = || {
            let value = inline.clone().or_else(|| arguments.next());
            value.ok_or_else(|| format!("`{flag}` needs a value; see `--help`"))
        };
        match flag {
            "--kernel" => kernels.extend(list(&value()?, kernel)?),
            "--isa" => isa_list.extend(list(&value()?, isa)?),
            "--threads" => threads.extend(list(&value()?, number)?),
            "--rounds" => rounds = Some(number(&value()?)?),
            "--members" => members = Some(number(&value()?)?),
            "--quick" => quick = true,
            "--auto" => auto = true,
            "--list" => return Ok(Request::List),
            "--help" | "-h" => return Ok(Request::Help),
            name if !name.starts_with('-') => kernels.extend(list(name, kernel)?),
            unknown => return Err(format!("`{unknown}` is not an option; see `--help`")),
        }
    }
    if kernels.is_empty() {
        kernels.extend(kernels::ALL);
    }
    if isa_list.is_empty() {
        isa_list = isas();
    }
    if threads.is_empty() {
        threads = vec![1, rayon::current_num_threads()];
    }
    threads.sort_unstable();
    threads.dedup();
    let request = if auto { Request::Auto } else { Request::Measure };
    Ok(request(Config {
        kernels,
        isas: isa_list,
        threads,
        rounds: rounds.unwrap_or(if quick { 1 } else { 7 }),
        members: members.or(quick.then_some(256)),
    }))
}

fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(parse).collect()
}

fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("`{text}` is not a whole number above 0")),
    }
}

fn kernel(name: &str) -> Result<&'static Entry, String> {
    let found = kernels::ALL.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| format!("there is no kernel `{name}`; `--list` names them"))
}

fn isa(name: &str) -> Result<Isa, String> {
    let found = isas().into_iter().find(|isa| isa_name(*isa) == name);
    found.ok_or_else(|| {
        let names: Vec<_> = isas().into_iter().map(isa_name).collect();
        format!("`{name}` is not an instruction set of this CPU; it has {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, String> {
        parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let Ok(Request::Measure(config)) =
            read("--kernel mandel,fib collatz --threads=2,1,2 --rounds 3 --members 64")
        else {
            panic!("a valid command line");
        };
        let names: Vec<_> = config.kernels.iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["mandel", "fib", "collatz"]);
        assert_eq!((config.threads, config.rounds, config.members), (vec![1, 2], 3, Some(64)));
        assert!(matches!(read("--list"), Ok(Request::List)));
        assert!(matches!(read("fib --help"), Ok(Request::Help)));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("--kernel nonesuch", "no kernel `nonesuch`"),
            ("--rounds 0", "above 0"),
            ("--rounds", "needs a value"),
            ("--isa sparc", "not an instruction set"),
            ("--sideways", "not an option"),
        ] {
            let error = read(text).expect_err("a mistake");
            assert!(error.contains(part), "{error}");
        }
    }
}
