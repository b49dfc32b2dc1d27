//! Bayesian inference with many chains in one batch: the recursive No-U-Turn Sampler on the eight-schools
//! posterior, checked against Stan.
//!
//! ```text
//! cargo run --release --example nuts            # 256 chains
//! cargo run --release --example nuts -- --help  # what can be changed
//! ```
//!
//! `sampler.rs` is the sampler for one chain, `batch.rs` runs it for all of them. The exit status is non-zero
//! if a mean is further from Stan's than chance explains.

mod batch;
mod cli;
mod model;
mod sampler;
mod summary;
mod warmup;

use batch::{COMPARED, Chains, SAMPLING, gradients, run_batch, utilisation};
use cli::{Config, Request};
use indicatif::{ProgressBar, ProgressStyle};
use model::{DIM, EightSchools};
use sampler::{Draw, Run};
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use summary::{Summary, summarise};

/// A trajectory has at most 2^10 - 1 leaves.
const MAX_DEPTH: u32 = 10;
/// Trajectories per batched call, so that the progress bar moves.
const PIECE: usize = 50;
/// Trajectories per batched call in the comparison of executors.
const COMPARED_PIECE: usize = 200;
/// Stan's posterior: name, mean, standard deviation, from [`REFERENCE_DRAWS`] nearly independent draws.
const REFERENCE: [(&str, f64, f64); 3] =
    [("mu", 4.4105, 3.3091), ("tau", 3.6021, 3.1983), ("theta_1", 6.1505, 5.6156)];
const REFERENCE_DRAWS: f64 = 10_000.0;
/// Combined standard errors that a mean may be off.
const TOLERANCE: f64 = 4.0;

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
    match infer(&config) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("nuts: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Samples, prints the tables, and says whether the means are Stan's.
fn infer(config: &Config) -> Result<bool, Box<dyn Error>> {
    let mut model = EightSchools::new();
    let mut chains = warmup::start(&model, config.chains, config.seed);
    println!(
        "Eight schools, {} chains in one batch, {} warm-up rounds, {} draws each, seed {}",
        config.chains, config.warmup, config.draws, config.seed
    );

    let run = Run { trajectories: PIECE, max_depth: MAX_DEPTH };
    let clock = Instant::now();
    let bar = progress_bar("warm-up", config.warmup)?;
    warmup::warm_up(SAMPLING, &mut model, &mut chains, config.warmup, &run, || bar.inc(1))?;
    bar.finish_and_clear();
    let warmed = clock.elapsed();
    let start = chains.clone();

    let draws = sample(&model, &mut chains, config.draws)?;
    let sampled = clock.elapsed() - warmed;

    let summaries = summarise_all(&model, &draws);
    let good = print_posterior(&summaries);
    print_run(&draws, &start.steps, warmed, sampled);
    let same = compare(&model, &start, config.draws)?;
    Ok(good && same)
}

fn progress_bar(what: &'static str, length: usize) -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("{msg:8} [{bar:40}] {pos}/{len} per chain, {eta} left")?;
    Ok(ProgressBar::new(length as u64).with_style(style.progress_chars("=> ")).with_message(what))
}

/// Draws per chain, in batched calls of [`PIECE`] trajectories.
fn sample(model: &EightSchools, chains: &mut Chains, draws: usize) -> Result<Vec<Vec<Draw>>, Box<dyn Error>> {
    let bar = progress_bar("sampling", draws)?;
    let mut all = vec![Vec::with_capacity(draws); chains.states.len()];
    let mut done = 0;
    while done < draws {
        let run = Run { trajectories: PIECE.min(draws - done), max_depth: MAX_DEPTH };
        let batch = run_batch(SAMPLING, model, &run, chains)?;
        for (all, new) in all.iter_mut().zip(batch) {
            all.extend(new);
        }
        done += run.trajectories;
        bar.inc(run.trajectories as u64);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// A summary of each of the model's quantities.
fn summarise_all(model: &EightSchools, draws: &[Vec<Draw>]) -> [Summary; DIM] {
    let values: Vec<Vec<_>> =
        (draws.iter()).map(|chain| chain.iter().map(|draw| model.quantities(&draw.q)).collect()).collect();
    std::array::from_fn(|i| {
        let chains: Vec<Vec<f64>> =
            values.iter().map(|chain| chain.iter().map(|quantities| quantities[i]).collect()).collect();
        summarise(&chains)
    })
}

/// How many combined standard errors a mean is off Stan's, which has a Monte-Carlo error too.
fn errors_off(summary: &Summary, mean: f64, sd: f64) -> f64 {
    (summary.mean - mean) / summary.mcse.hypot(sd / REFERENCE_DRAWS.sqrt())
}

/// Prints the posterior beside Stan's; false if a mean is too far off.
fn print_posterior(summaries: &[Summary; DIM]) -> bool {
    println!("\n{:35}{:>7} {:>9}  | Stan", "", "", "");
    println!(
        "{:8} {:>8} {:>8} {:>8} {:>7} {:>9}  | {:>8} {:>8} {:>11}",
        "", "mean", "sd", "MCSE", "R-hat", "bulk ESS", "mean", "sd", "errors off"
    );
    let mut good = true;
    for (name, s) in EightSchools::names().iter().zip(summaries) {
        let line = format!(
            "{name:8} {:8.4} {:8.4} {:8.4} {:7.4} {:9.0}  |",
            s.mean, s.sd, s.mcse, s.r_hat, s.bulk_ess
        );
        match REFERENCE.iter().find(|reference| reference.0 == name) {
            Some(&(_, mean, sd)) => {
                let off = errors_off(s, mean, sd);
                // Not `>`: an error that is not a number is no pass.
                let fine = off.abs() <= TOLERANCE;
                good &= fine;
                println!("{line} {mean:8.4} {sd:8.4} {off:11.2}{}", if fine { "" } else { "  too far" });
            }
            None => println!("{line}"),
        }
    }
    if good {
        println!("All three means are within {TOLERANCE} combined standard errors of Stan's.");
    } else {
        println!("A mean is more than {TOLERANCE} combined standard errors off Stan's.");
    }
    good
}

/// Prints what a statistician checks before believing the table.
fn print_run(draws: &[Vec<Draw>], steps: &[f64], warmed: Duration, sampled: Duration) {
    let all = || draws.iter().flatten();
    let count = all().count() as f64;
    let gradients = gradients(draws) as f64;
    let acceptance = all().map(|draw| draw.acceptance).sum::<f64>() / count;
    let diverged = all().filter(|draw| draw.diverged).count();
    let mut steps = steps.to_vec();
    steps.sort_unstable_by(f64::total_cmp);
    println!(
        "Warm-up {:.2} s, sampling {:.2} s; {:.1} gradients per draw, acceptance {acceptance:.3}, \
         step size {:.3} (median; {:.3} to {:.3}), {diverged} of {count} trajectories diverged",
        warmed.as_secs_f64(),
        sampled.as_secs_f64(),
        gradients / count,
        steps[steps.len() / 2],
        steps[0],
        steps[steps.len() - 1],
    );
}

/// Runs the same chains with each executor, prints the speed of each; false if the draws differ.
fn compare(model: &EightSchools, start: &Chains, draws: usize) -> Result<bool, Box<dyn Error>> {
    let run = Run { trajectories: COMPARED_PIECE.min(draws), max_depth: MAX_DEPTH };
    println!("\n{} trajectories of all chains in one call, the best of three", run.trajectories);
    println!("{:16} {:>10} {:>13} {:>12}  draws", "executor", "gradients", "gradients/s", "utilisation");
    let mut expected: Option<Vec<Vec<Draw>>> = None;
    let mut all_same = true;
    for &(name, executor) in COMPARED {
        let mut best = f64::INFINITY;
        let mut draws = vec![];
        for _ in 0..3 {
            let mut chains = start.clone();
            let clock = Instant::now();
            draws = run_batch(executor, model, &run, &mut chains)?;
            best = best.min(clock.elapsed().as_secs_f64());
        }
        let gradients = gradients(&draws);
        let utilisation = utilisation(executor, model, &run, &mut start.clone())?;
        let utilisation = utilisation.map_or("-".to_owned(), |share| format!("{share:.3}"));
        let verdict = match &expected {
            None => "reference",
            Some(expected) if *expected == draws => "bit-identical",
            Some(_) => {
                all_same = false;
                "DIFFERENT"
            }
        };
        println!("{name:16} {gradients:10} {:13.0} {utilisation:>12}  {verdict}", gradients as f64 / best);
        expected.get_or_insert(draws);
    }
    Ok(all_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_finds_stans_means() {
        let mut model = EightSchools::new();
        let mut chains = warmup::start(&model, 64, 2);
        let run = Run { trajectories: 1, max_depth: MAX_DEPTH };
        warmup::warm_up(SAMPLING, &mut model, &mut chains, 100, &run, || ()).unwrap();
        let draws = sample(&model, &mut chains, 120).unwrap();
        let summaries = summarise_all(&model, &draws);
        assert!(print_posterior(&summaries));
        assert!(summaries.iter().all(|s| s.r_hat < 1.03 && s.bulk_ess > 1000.0), "{summaries:?}");
    }

    #[test]
    fn a_mean_that_is_off_is_noticed() {
        let fine = Summary { mean: 4.41, sd: 3.3, mcse: 0.02, r_hat: 1.0, bulk_ess: 2e4 };
        let mut summaries = [fine; DIM];
        summaries[1].mean = 3.6;
        summaries[2].mean = 6.15;
        assert!(print_posterior(&summaries));
        for wrong in [3.9, f64::NAN] {
            summaries[1].mean = wrong;
            assert!(!print_posterior(&summaries));
        }
    }
}
