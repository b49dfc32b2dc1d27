//! Bayesian inference with many chains in one batch: the recursive No-U-Turn Sampler, checked against Stan.
//!
//! ```text
//! cargo run --release --example nuts                              # eight schools, 256 chains
//! cargo run --release --example nuts -- --model gaussian-process
//! cargo run --release --example nuts -- --help                    # what can be changed
//! ```
//!
//! The sampler is the package `autobatch-nuts`. The exit status is non-zero if a mean is further from Stan's than
//! chance explains.

mod cli;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use autobatch::Options;
use autobatch_nuts::models::{Autoregressive, EightSchools, Gaussian, GaussianProcess, LogisticRegression};
use autobatch_nuts::{Chains, Draw, Model, Real, chains};
use cli::{Config, POSTERIORS, Posterior, Request};
use indicatif::{ProgressBar, ProgressStyle};

/// Quantities that are printed and drawn; the CSV file has all of them.
const SHOWN: usize = 12;
/// Draws behind Stan's means and standard deviations, nearly independent.
const REFERENCE_DRAWS: f64 = 10_000.0;
/// Combined standard errors that a mean may be off.
const TOLERANCE: f64 = 4.0;

/// Stan's posterior: name, mean, standard deviation.
fn reference(posterior: Posterior) -> &'static [(&'static str, f64, f64)] {
    match posterior {
        Posterior::EightSchools => {
            &[("mu", 4.4105, 3.3091), ("tau", 3.6021, 3.1983), ("theta_1", 6.1505, 5.6156)]
        }
        Posterior::GaussianProcess => {
            &[("rho", 6.8744, 1.2657), ("alpha", 2.4424, 0.7818), ("sigma", 1.8287, 0.5050)]
        }
        _ => &[],
    }
}

fn main() -> ExitCode {
    let config = match cli::parse(std::env::args().skip(1)) {
        Ok(Request::Sample(config)) => config,
        Ok(Request::Help(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("nuts: {message}");
            return ExitCode::from(2);
        }
    };
    let done = match config.double {
        true => infer::<f64>(&config),
        false => infer::<f32>(&config),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("nuts: {error}");
            ExitCode::FAILURE
        }
    }
}

fn model<T: Real>(posterior: Posterior) -> Box<dyn Model<T>> {
    match posterior {
        Posterior::EightSchools => Box::new(EightSchools::new()),
        Posterior::GaussianProcess => Box::new(GaussianProcess::new()),
        Posterior::Autoregressive => Box::new(Autoregressive::new(100, 0.9)),
        Posterior::Wishart => Box::new(Gaussian::wishart(100, 100, 1)),
        Posterior::Logistic => Box::new(LogisticRegression::synthetic(10_000, 100, 1)),
    }
}

/// Samples, writes files, prints the table, and says whether the means are Stan's.
fn infer<T: Real>(config: &Config) -> Result<bool, Box<dyn Error>> {
    let name = POSTERIORS.iter().find(|(_, p)| *p == config.posterior).map_or("", |(name, _)| name);
    let model = model::<T>(config.posterior);
    println!(
        "{name} in {}, {} chains in one batch, {} rounds of warm-up, {} draws each, seed {}",
        std::any::type_name::<T>(),
        config.chains,
        config.warmup,
        config.draws,
        config.seed
    );

    let options = Options::default();
    let mut chains = Chains::new(&*model, config.chains, config.seed, config.acceptance);
    chains.nuts.leaf_steps = config.leaf_steps;
    let clock = Instant::now();
    let bar = progress_bar("warm-up", config.warmup)?;
    chains.warm_up(config.warmup, &options, |rounds| bar.inc(rounds as u64))?;
    bar.finish_and_clear();
    let warmed = clock.elapsed();
    let bar = progress_bar("sampling", config.draws)?;
    let draws = chains.draw(config.draws, &options, |draws| bar.inc(draws as u64))?;
    bar.finish_and_clear();
    let sampled = clock.elapsed() - warmed;

    let posterior = chains.quantities(&draws);
    let steps = chains.steps.iter().map(autobatch_nuts::StepSize::current).collect();
    let folder = write(name, &posterior, &draws)?;
    let shown = first(&posterior);
    println!("\n{}", shown.table());
    if shown.names.len() < posterior.names.len() {
        println!("… and {} more\n", posterior.names.len() - shown.names.len());
    }
    let good = against_stan(config.posterior, &posterior);
    print_run(&draws, steps, warmed, sampled);
    println!("Draws and pictures are in {}", folder.display());
    Ok(good)
}

fn progress_bar(what: &'static str, length: usize) -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("{msg:8} [{bar:40}] {pos}/{len} per chain, {eta} left")?;
    Ok(ProgressBar::new(length as u64).with_style(style.progress_chars("=> ")).with_message(what))
}

/// The quantities that are shown.
fn first(posterior: &chains::Posterior) -> chains::Posterior {
    let shown = SHOWN.min(posterior.names.len());
    let (names, values) = (posterior.names[..shown].to_vec(), posterior.values[..shown].to_vec());
    chains::Posterior { names, values }
}

/// Writes draws, the table of all quantities and pictures.
fn write<T: Real>(
    name: &str,
    posterior: &chains::Posterior,
    draws: &[Vec<Draw<T>>],
) -> Result<PathBuf, Box<dyn Error>> {
    // Beside the profile's folder with `examples/nuts`.
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(3).ok_or("the program stands in no target directory")?;
    let folder = target.join("nuts").join(name);
    std::fs::create_dir_all(&folder)?;
    posterior.write_csv(draws, std::io::BufWriter::new(std::fs::File::create(folder.join("draws.csv"))?))?;
    std::fs::write(folder.join("summary.txt"), posterior.table())?;
    let shown = first(posterior);
    std::fs::write(folder.join("trace.svg"), shown.trace_plot()?)?;
    std::fs::write(folder.join("ranks.svg"), shown.rank_plot()?)?;
    Ok(folder)
}

/// Prints how far means are off Stan's; false if one is too far off.
fn against_stan(which: Posterior, posterior: &chains::Posterior) -> bool {
    let summaries = posterior.summaries();
    let mut good = true;
    for &(name, mean, sd) in reference(which) {
        let Some(at) = posterior.names.iter().position(|other| other == name) else { return false };
        let off = summaries[at].errors_off(mean, sd, REFERENCE_DRAWS);
        // Not `>`: an error that is not a number is no pass.
        let fine = off.abs() <= TOLERANCE;
        good &= fine;
        println!(
            "{name:8} mean {:8.4}, Stan {mean:8.4}: {off:5.2} combined standard errors off{}",
            summaries[at].mean,
            if fine { "" } else { ", too far" }
        );
    }
    good
}

/// Prints what a statistician checks before believing the table.
fn print_run<T>(draws: &[Vec<Draw<T>>], mut steps: Vec<f64>, warmed: Duration, sampled: Duration) {
    let all = || draws.iter().flatten();
    let count = all().count() as f64;
    let gradients = all().map(|draw| f64::from(draw.steps)).sum::<f64>();
    let acceptance = all().map(|draw| draw.acceptance).sum::<f64>() / count;
    let diverged = all().filter(|draw| draw.diverged).count();
    steps.sort_unstable_by(f64::total_cmp);
    println!(
        "Warm-up {:.2} s, sampling {:.2} s; {:.1} gradients per draw, {:.0} per second; acceptance \
         {acceptance:.3}, step size {:.3} (median; {:.3} to {:.3}), {diverged} of {count} trajectories diverged",
        warmed.as_secs_f64(),
        sampled.as_secs_f64(),
        gradients / count,
        gradients / sampled.as_secs_f64(),
        steps[steps.len() / 2],
        steps[0],
        steps[steps.len() - 1],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_that_is_off_is_noticed() {
        // Means of 0.5 around Stan's, with small errors.
        let values =
            |mean: f64| vec![(0..100).map(|i| mean + f64::from(i * 37 % 100) / 99.0 - 0.5).collect()];
        let names = ["mu", "tau", "theta_1"].map(str::to_owned).to_vec();
        let good = chains::Posterior { names, values: [4.41, 3.6, 6.15].map(values).to_vec() };
        assert!(against_stan(Posterior::EightSchools, &good));
        for wrong in [3.0, f64::NAN] {
            let mut bad = good.clone();
            bad.values[1] = values(wrong);
            assert!(!against_stan(Posterior::EightSchools, &bad));
        }
        let mut renamed = good.clone();
        renamed.names[2] = "theta".to_owned();
        assert!(!against_stan(Posterior::EightSchools, &renamed));
        assert!(against_stan(Posterior::Logistic, &good));
    }
}
