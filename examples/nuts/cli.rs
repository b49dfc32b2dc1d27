//! The command line.

const HELP: &str = "\
Samples a posterior with the No-U-Turn Sampler, many chains in one batch.

Usage: nuts [OPTIONS]

Options:
  --model M        eight-schools, gaussian-process, autoregressive, wishart, or
                   logistic                           [eight-schools]
  --precision P    f32 or f64                         [f64]
  --chains N       chains in the batch                [256; with --quick 64]
  --draws N        draws per chain after warm-up      [500; with --quick 150]
  --warmup N       rounds of adaptation per chain     [300; with --quick 150]
  --acceptance A   mean acceptance probability aimed at, 0.5 to 0.99 [0.9]
  --leaf-steps N   leapfrog steps per leaf of the tree [4; of the Gaussian process 2]
  --seed N         seed of all random numbers         [1]
  --quick          a shorter run
  --help           this text

Draws, the table and trace and rank plots go to the folder `nuts` of the target directory.";

/// A posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posterior {
    EightSchools,
    GaussianProcess,
    Autoregressive,
    Wishart,
    Logistic,
}

/// Their names.
pub(crate) const POSTERIORS: [(&str, Posterior); 5] = [
    ("eight-schools", Posterior::EightSchools),
    ("gaussian-process", Posterior::GaussianProcess),
    ("autoregressive", Posterior::Autoregressive),
    ("wishart", Posterior::Wishart),
    ("logistic", Posterior::Logistic),
];

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) posterior: Posterior,
    /// In `f64`, else in `f32`.
    pub(crate) double: bool,
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    pub(crate) warmup: usize,
    pub(crate) acceptance: f64,
    pub(crate) leaf_steps: u32,
    pub(crate) seed: u32,
}

/// The outcome of reading the command line.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Sample(Config),
    Help(&'static str),
}

/// Reads the arguments that follow the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let (mut chains, mut draws, mut warmup, mut seed, mut quick) = (None, None, None, 1, false);
    let mut leaf_steps = None;
    let (mut posterior, mut double, mut acceptance) = (Posterior::EightSchools, true, 0.9);
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let (flag, mut inline) = match argument.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let mut value = |what: &str| {
            let value = inline.take().or_else(|| arguments.next());
            value.ok_or_else(|| format!("`{flag}` needs {what}"))
        };
        let mut number = |least: u32| -> Result<u32, String> {
            let value = value("a number, as in `--chains 100`")?;
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
            "--draws" => draws = Some(number(autobatch_nuts::summary::MIN_DRAWS as u32)? as usize),
            "--warmup" => warmup = Some(number(20)? as usize),
            "--leaf-steps" => leaf_steps = Some(number(1)?),
            "--seed" => seed = number(0)?,
            "--acceptance" => {
                let text = value("a probability, as in `--acceptance 0.8`")?;
                acceptance = match text.parse() {
                    Ok(p) if (0.5..=0.99).contains(&p) => p,
                    _ => return Err(format!("`--acceptance` is a number from 0.5 to 0.99, not `{text}`")),
                };
            }
            "--model" => {
                let text = value("the name of a model")?;
                let names = POSTERIORS.map(|(name, _)| name).join(", ");
                let found = POSTERIORS.iter().find(|(name, _)| *name == text);
                posterior = found.ok_or_else(|| format!("no model `{text}`; the models are {names}"))?.1;
            }
            "--precision" => {
                double = match value("`f32` or `f64`")?.as_str() {
                    "f32" => false,
                    "f64" => true,
                    text => return Err(format!("`--precision` is `f32` or `f64`, not `{text}`")),
                };
            }
            "--quick" => quick = true,
            "--help" | "-h" => return Ok(Request::Help(HELP)),
            _ => return Err(format!("unknown argument `{argument}`\n\n{HELP}")),
        }
        if let Some(value) = inline {
            return Err(format!("`{flag}` takes no value, but got `{value}`"));
        }
    }
    Ok(Request::Sample(Config {
        posterior,
        double,
        chains: chains.unwrap_or(if quick { 64 } else { 256 }),
        draws: draws.unwrap_or(if quick { 150 } else { 500 }),
        warmup: warmup.unwrap_or(if quick { 150 } else { 300 }),
        acceptance,
        // Four steps come close to half a turn of this posterior's trajectories: leaves would be mirror images.
        leaf_steps: leaf_steps.unwrap_or(if posterior == Posterior::GaussianProcess { 2 } else { 4 }),
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
        let config = Config {
            posterior: Posterior::EightSchools,
            double: true,
            chains: 8,
            draws: 500,
            warmup: 300,
            acceptance: 0.9,
            leaf_steps: 4,
            seed: 4,
        };
        assert_eq!(read("--chains 8 --seed=4"), Ok(Request::Sample(config)));
        let config = Config { chains: 64, draws: 99, warmup: 150, seed: 1, ..config };
        assert_eq!(read("--draws 99 --quick"), Ok(Request::Sample(config)));
        let config = Config { posterior: Posterior::Logistic, double: false, acceptance: 0.8, ..config };
        let line = "--draws 99 --quick --model=logistic --precision f32 --acceptance 0.8";
        assert_eq!(read(line), Ok(Request::Sample(config)));
        for (line, steps) in [("--model gaussian-process", 2), ("--model gaussian-process --leaf-steps 1", 1)]
        {
            assert!(
                matches!(read(line), Ok(Request::Sample(Config { leaf_steps, .. })) if leaf_steps == steps)
            );
        }
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
            ("--model funnel", "no model `funnel`; the models are eight-schools, "),
            ("--precision double", "not `double`"),
            ("--acceptance 1", "from 0.5 to 0.99"),
        ] {
            let message = read(line).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
