//! The sampler on fibers against the block program, on the logistic regression of [`throughput`](crate::throughput).
//!
//! Both draw the same chains as far as the kernel rounds alike, so they differ in machinery only. They take turns, so that both see
//! the same machine.

#[path = "../../tests/style_independence/counted.rs"]
mod counted;
#[path = "../../tests/style_independence/sampler.rs"]
mod sampler;

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use autobatch::Options;
use autobatch_nuts::models::LogisticRegression;
use autobatch_nuts::{Chains, Draw, Point};
use counted::Counted;
use sampler::Problem;

use crate::cli::Config;
use crate::throughput::{REGRESSORS, gradients, many, median, warm};
use crate::{progress_bar, sizes, write};

/// Turns of each.
const ROUNDS: usize = 7;

type Draws = Vec<Vec<Draw<f64>>>;

/// How one of them has run, in the median.
struct Figures {
    rate: f64,
    calls: usize,
}

pub(crate) fn run(config: &Config) -> Result<(), Box<dyn Error>> {
    if cfg!(debug_assertions) {
        return Err("without optimisation there is nothing to measure: add --release".into());
    }
    let make = if config.correlated { LogisticRegression::correlated } else { LogisticRegression::synthetic };
    let model = Counted::new(make(config.points, REGRESSORS, 1));
    let warm = warm(&model, config.seed)?;
    let sizes = sizes(config);
    let bar = progress_bar(sizes.len() * 2 * ROUNDS)?;
    let design = if config.correlated { ", correlated design" } else { "" };
    let mut table = format!(
        "Gradients per second, logistic regression, {} x {REGRESSORS}{design}, f64: medians of {ROUNDS} rounds\n\
         {:>7} {:>7} {:>14} {:>9} {:>6} {:>12} {:>12} {:>6}\n",
        config.points,
        "chains",
        "threads",
        "block program",
        "fibers",
        "ratio",
        "block calls",
        "fiber calls",
        "ratio"
    );
    for &size in &sizes {
        let start = many(&warm, size, config.seed);
        for threads in [1, 2] {
            bar.set_message(format!("{size} chains, {threads} threads"));
            let options = Options::default().threads(threads);
            let mut times = [(); 2].map(|()| Vec::new());
            for round in 0..=ROUNDS {
                for way in [round % 2, 1 - round % 2] {
                    let clock = Instant::now();
                    let run = if way == 0 { in_blocks } else { on_fibers };
                    model.take();
                    let draws = run(&start, &options)?;
                    let (time, (calls, rows)) = (clock.elapsed().as_secs_f64(), model.take());
                    if rows as u64 != gradients(&draws) {
                        return Err("a gradient is not the kernel's".into());
                    }
                    // The first round warms up.
                    if round > 0 {
                        times[way].push((rows as f64 / time, calls));
                    }
                }
                bar.inc(u64::from(round > 0));
            }
            let [blocks, fibers] = times.map(|times| Figures {
                rate: median(times.iter().map(|time| time.0).collect()),
                calls: median(times.iter().map(|time| time.1 as f64).collect()) as usize,
            });
            // Writing to a string can't fail.
            let _ = writeln!(
                table,
                "{size:7} {threads:7} {:14.0} {:9.0} {:6.3} {:12} {:12} {:6.3}",
                blocks.rate,
                fibers.rate,
                fibers.rate / blocks.rate,
                blocks.calls,
                fibers.calls,
                fibers.calls as f64 / blocks.calls as f64
            );
        }
    }
    bar.finish_and_clear();
    println!("{table}");
    println!("{}", write("styles.txt", &table)?.display());
    Ok(())
}

fn in_blocks(start: &Chains<'_, f64>, options: &Options) -> Result<Draws, Box<dyn Error>> {
    Ok(start.clone().run(1, options)?.into_values()?)
}

fn on_fibers(start: &Chains<'_, f64>, options: &Options) -> Result<Draws, Box<dyn Error>> {
    let problem = Problem::of(start, 1);
    let mut states: Vec<Point<f64>> = start.states.iter().map(|z| Point::clone(z)).collect();
    let (mut steps, mut generators) = (start.steps.clone(), start.generators.clone());
    let outcome = sampler::chain_batched_with(&problem, &mut states, &mut steps, &mut generators, options)?;
    Ok(outcome.into_values()?)
}
