//! The command line.

const HELP: &str = "\
Measures the No-U-Turn Sampler, many chains in one batch.

Usage: figures <throughput|utilisation|styles> [OPTIONS]

  throughput       gradients per second on a logistic regression (needs --release)
  utilisation      how full the batched gradient is on correlated normal distributions
  styles           the sampler on fibers against the block program: gradients per second and calls of the batched
                   gradient on a logistic regression, f64 (needs --release)

Options:
  --least N        smallest number of chains          [1]
  --most N         largest number of chains           [1024]
  --trajectories N of each chain in a batch, for utilisation: 1, and 10 and 100 up to this [10]
  --points N       points of the logistic regression  [10000]
  --precision P    f32 or f64, for throughput         [f64]
  --correlated     regressors that are correlated and badly scaled, for throughput
  --seed N         seed of all random numbers         [1]
  --help           this text

Table, CSV file and chart go to the folder `nuts` of the target directory.";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Throughput,
    Utilisation,
    Styles,
}

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) figure: Figure,
    pub(crate) least: usize,
    pub(crate) most: usize,
    pub(crate) trajectories: usize,
    pub(crate) points: usize,
    pub(crate) double: bool,
    pub(crate) correlated: bool,
    pub(crate) seed: u32,
}

/// The outcome of reading the command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Run(Config),
    Help(&'static str),
}

/// Reads the arguments that follow the program's name.
pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut figure = None;
    let (mut least, mut most, mut points, mut double, mut seed) = (1, 1024, 10_000, true, 1);
    let mut trajectories = 10;
    let mut correlated = false;
    while let Some(argument) = arguments.next() {
        let mut number = |least: u32| -> Result<u32, String> {
            let text = arguments.next().ok_or_else(|| format!("`{argument}` needs a number"))?;
            match text.parse() {
                Ok(n) if n >= least => Ok(n),
                _ => Err(format!("`{argument}` needs a whole number from {least}, not `{text}`")),
            }
        };
        match argument.as_str() {
            "throughput" => figure = Some(Figure::Throughput),
            "utilisation" => figure = Some(Figure::Utilisation),
            "styles" => figure = Some(Figure::Styles),
            "--least" => least = number(1)? as usize,
            "--most" => most = number(1)? as usize,
            "--trajectories" => trajectories = number(1)? as usize,
            "--points" => points = number(10)? as usize,
            "--seed" => seed = number(0)?,
            "--correlated" => correlated = true,
            "--precision" => {
                double = match arguments.next().as_deref() {
                    Some("f32") => false,
                    Some("f64") => true,
                    _ => return Err("`--precision` is `f32` or `f64`".to_owned()),
                };
            }
            "--help" | "-h" => return Ok(Request::Help(HELP)),
            _ => return Err(format!("unknown argument `{argument}`\n\n{HELP}")),
        }
    }
    let figure = figure.ok_or_else(|| format!("which figure?\n\n{HELP}"))?;
    Ok(Request::Run(Config { figure, least, most, trajectories, points, double, correlated, seed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_and_mistakes_named() {
        let config = Config {
            figure: Figure::Throughput,
            least: 2,
            most: 8,
            trajectories: 10,
            points: 10_000,
            double: false,
            correlated: true,
            seed: 1,
        };
        let line = "throughput --least 2 --most 8 --precision f32 --correlated";
        assert_eq!(read(line), Ok(Request::Run(config)));
        assert!(matches!(read("--help"), Ok(Request::Help(_))));
        for (line, part) in [
            ("", "which figure?"),
            ("utilization", "unknown argument `utilization`"),
            ("throughput --most 0", "from 1, not `0`"),
            ("throughput --most", "needs a number"),
            ("throughput --precision f16", "`f32` or `f64`"),
        ] {
            assert!(read(line).unwrap_err().contains(part), "{line}");
        }
    }
}
