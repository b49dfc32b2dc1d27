//! The command line.

use crate::summary::MIN_DRAWS;

const HELP: &str = "\
Samples the eight-schools posterior with the No-U-Turn Sampler, many chains in one batch.

Usage: nuts [OPTIONS]

Options:
  --chains N   chains in the batch            [256; with --quick 64]
  --draws N    draws per chain after warm-up  [500; with --quick 150]
  --warmup N   adaptation rounds per chain    [300; with --quick 150]
  --seed N     seed of all random numbers     [1]
  --quick      a shorter run
  --help       this text";

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    pub(crate) warmup: usize,
    pub(crate) seed: u32,
}

/// The outcome of reading the command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Sample(Config),
    Help(&'static str),
}

/// Reads the arguments that follow the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let (mut chains, mut draws, mut warmup, mut seed, mut quick) = (None, None, None, 1, false);
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let (flag, mut inline) = match argument.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let mut number = |least: u32| -> Result<u32, String> {
            let value = inline.take().or_else(|| arguments.next());
            let value = value.ok_or_else(|| format!("`{flag}` needs a number, as in `{flag} 100`"))?;
            match value.parse() {
                Ok(n) if n >= least => Ok(n),
                Ok(_) => Err(format!("`{flag}` must be at least {least}, not {value}")),
                Err(_) => {
                    Err(format!("`{flag}` needs a whole number from {least} to {}, not `{value}`", u32::MAX))
                }
            }
        };
        match flag {
            "--chains" => chains = Some(number(1)? as usize),
            "--draws" => draws = Some(number(MIN_DRAWS as u32)? as usize),
            "--warmup" => warmup = Some(number(20)? as usize),
            "--seed" => seed = number(0)?,
            "--quick" => quick = true,
            "--help" | "-h" => return Ok(Request::Help(HELP)),
            _ => return Err(format!("unknown argument `{argument}`\n\n{HELP}")),
        }
        if let Some(value) = inline {
            return Err(format!("`{flag}` takes no value, but got `{value}`"));
        }
    }
    Ok(Request::Sample(Config {
        chains: chains.unwrap_or(if quick { 64 } else { 256 }),
        draws: draws.unwrap_or(if quick { 150 } else { 500 }),
        warmup: warmup.unwrap_or(if quick { 150 } else { 300 }),
        seed,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn flags_are_read_in_either_form() {
        let config = Config { chains: 8, draws: 500, warmup: 300, seed: 4 };
        assert_eq!(read("--chains 8 --seed=4"), Ok(Request::Sample(config)));
        let config = Config { chains: 64, draws: 99, warmup: 150, seed: 1 };
        assert_eq!(read("--draws 99 --quick"), Ok(Request::Sample(config)));
        assert!(matches!(read("--quick -h"), Ok(Request::Help(_))));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("--chain 3", "unknown argument `--chain`"),
            ("--chains", "`--chains` needs a number"),
            ("--chains 0", "at least 1"),
            ("--draws many", "not `many`"),
            ("--draws 2", "at least 8"),
            ("--seed -1", "not `-1`"),
            ("--quick=3", "takes no value"),
        ] {
            let message = read(line).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
