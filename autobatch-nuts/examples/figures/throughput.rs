//! Gradients per second.
//!
//! The three forms of the paper: the masked executor with blocks that are compiled as wholes, the same with a kernel for each operation on
//! vectors ([`unfused`](crate::unfused)), as TensorFlow runs it eagerly, and the program counter.
//!
//! All chains have the same step size, the median of those that a short warm-up finds, as in the paper. Where regressors
//! are independent trajectories are then equally long, and the figure shows what the machinery costs; with `--correlated`
//! they differ, and it shows divergence too.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use autobatch::{Executor, Options};
use autobatch_nuts::models::LogisticRegression;
use autobatch_nuts::{Chains, Draw, Generator, Model, Real, StepSize};
use ndarray::{Array1, Array2};
use rand::SeedableRng as _;
use rayon::prelude::*;

use crate::chart::{Axis, BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, Series, Style, svg};
use crate::cli::Config;
use crate::unfused::Unfused;
use crate::{progress_bar, sizes, write};

pub(crate) const REGRESSORS: usize = 100;
/// Chains that are warmed up; larger batches begin at their states.
const WARM: usize = 32;
const WARM_UP: usize = 50;
/// Turns of each way at each size, of which the best counts.
const ROUNDS: usize = 5;
/// In a turn small batches are measured again until this many seconds have passed.
const SECONDS: f64 = 0.2;
/// Of chains that run one by one no more than so many are measured: more are not faster, only longer.
const ALONE: usize = 16;
const ALONE_NUTS_RS: usize = 4;
/// The batch size that is compared in words.
const COMPARED: usize = 256;

/// A way to run the chains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Scalar,
    Rayon,
    Unfused,
    Masked,
    Counter,
    CounterTwo,
    NutsRs,
    Bare,
}

const WAYS: [(Way, &str); 8] = [
    (Way::Scalar, "scalar"),
    (Way::Rayon, "scalar, rayon"),
    (Way::Unfused, "masked, unfused"),
    (Way::Masked, "masked"),
    (Way::Counter, "program counter"),
    (Way::CounterTwo, "program counter, 2 threads"),
    (Way::NutsRs, "nuts-rs, 2 threads"),
    (Way::Bare, "bare products, 2 threads"),
];

pub(crate) fn run<T: Real>(config: &Config) -> Result<(), Box<dyn Error>> {
    if cfg!(debug_assertions) {
        return Err("without optimisation there is nothing to measure: add --release".into());
    }
    let make = if config.correlated { LogisticRegression::correlated } else { LogisticRegression::synthetic };
    let model: LogisticRegression<T> = make(config.points, REGRESSORS, 1);
    let warm = warm(&model, config.seed)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;

    let sizes = sizes(config);
    let bar = progress_bar(ROUNDS * sizes.len() * WAYS.len())?;
    let mut rates = vec![[None; WAYS.len()]; sizes.len()];
    // All of them in turns, so that a busy moment of the machine decides nothing.
    for _ in 0..ROUNDS {
        for (rates, &size) in rates.iter_mut().zip(&sizes) {
            for ((way, name), rate) in WAYS.into_iter().zip(&mut *rates) {
                let size = match way {
                    Way::Scalar | Way::Rayon => size.min(ALONE),
                    Way::NutsRs => size.min(ALONE_NUTS_RS),
                    _ => size,
                };
                let start = many(&warm, size, config.seed);
                bar.set_message(format!("{size} chains, {name}"));
                let new = pool.install(|| best(way, &model, &start, config.seed));
                *rate = new
                    .map_err(|error| error.to_string())?
                    .map(|new| rate.map_or(new, |old: f64| old.max(new)));
                bar.inc(1);
            }
            let rates = rates.iter().map(|rate| rate.map_or("-".to_owned(), |rate| format!("{rate:.0}")));
            bar.println(format!("{size:5} chains: {}", rates.collect::<Vec<_>>().join(", ")));
        }
    }
    bar.finish_and_clear();
    print(config, std::any::type_name::<T>(), &sizes, &rates)
}

/// Warm chains, with one step size.
pub(crate) fn warm<T: Real>(model: &dyn Model<T>, seed: u32) -> Result<Chains<'_, T>, Box<dyn Error>> {
    let options = Options::default().threads(2);
    // Coefficients are small: from zero it is not far.
    let zero = |_: &mut Generator| Array1::zeros(REGRESSORS);
    let mut warm = Chains::begin(model, WARM, seed, StepSize::new(0.01, 0.8), zero);
    let bar = progress_bar(WARM_UP)?.with_message("warm-up");
    warm.warm_up(WARM_UP, &options, |rounds| bar.inc(rounds as u64))?;
    bar.finish_and_clear();
    let eps = median(warm.steps.iter().map(StepSize::current).collect());
    warm.steps.fill(StepSize::fixed(eps));
    Ok(warm)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The warm chains again and again, each with a generator of its own.
pub(crate) fn many<'m, T: Real>(warm: &Chains<'m, T>, size: usize, seed: u32) -> Chains<'m, T> {
    let mut all = warm.clone();
    let generator = |chain| Generator::seed_from_u64(u64::from(seed) << 32 | 1 << 31 | chain);
    all.generators = (0..size as u64).map(generator).collect();
    all.states = warm.states.iter().cycle().take(size).map(Arc::clone).collect();
    all.steps = warm.steps.iter().cycle().take(size).copied().collect();
    all
}

/// The best rate of several measurements, in gradients per second.
fn best<T: Real>(
    way: Way,
    model: &LogisticRegression<T>,
    start: &Chains<'_, T>,
    seed: u32,
) -> Result<Option<f64>, Box<dyn Error + Send + Sync>> {
    let clock = Instant::now();
    let mut best = None;
    while best.is_none() || clock.elapsed().as_secs_f64() < SECONDS {
        let rate = once(way, model, start, seed)?;
        if rate.is_none() {
            return Ok(None);
        }
        best = best.max(rate.map(f64::to_bits)); // positive numbers are ordered as their bits
    }
    Ok(best.map(f64::from_bits))
}

fn once<T: Real>(
    way: Way,
    model: &LogisticRegression<T>,
    start: &Chains<'_, T>,
    seed: u32,
) -> Result<Option<f64>, Box<dyn Error + Send + Sync>> {
    let mut chains = start.clone();
    let size = chains.states.len();
    let mut batch = |options: Options| -> Result<u64, Box<dyn Error + Send + Sync>> {
        Ok(gradients(&chains.run(1, &options)?.into_values()?))
    };
    let clock = Instant::now();
    let count = match way {
        Way::Scalar => gradients(&chains.run_scalar(1)),
        Way::Rayon => {
            let nuts = &chains.nuts;
            let columns = (&mut chains.states, &mut chains.steps, &mut chains.generators);
            let draws = columns.into_par_iter().map(|(state, step, rng)| nuts.chain(state, step, rng));
            gradients(&draws.collect::<Vec<_>>())
        }
        Way::Unfused => {
            let eps: Vec<T> = chains.steps.iter().map(|step| T::of(step.current())).collect();
            let options = Options::default().executor(Executor::Masked).threads(1);
            let (states, generators) = (&mut chains.states, &mut chains.generators);
            let outcome =
                Unfused(chains.nuts.clone()).trajectory_batched_with(states, eps, generators, &options)?;
            outcome.into_values()?.iter().map(|draw| u64::from(draw.steps)).sum()
        }
        Way::Masked => batch(Options::default().executor(Executor::Masked).threads(1))?,
        Way::Counter => batch(Options::default().executor(Executor::ProgramCounter).threads(1))?,
        Way::CounterTwo => batch(Options::default().executor(Executor::ProgramCounter).threads(2))?,
        Way::NutsRs => return peer(model, start, seed),
        Way::Bare => {
            let share = size.div_ceil(2);
            let shares = [share, size - share].map(|rows| Array2::from_elem((rows, REGRESSORS), T::of(0.1)));
            shares.par_iter().filter(|q| q.nrows() > 0).for_each(|q| {
                model.bare_products(q.view(), Array2::zeros(q.raw_dim()).view_mut());
            });
            size as u64
        }
    };
    Ok(Some(count as f64 / clock.elapsed().as_secs_f64()))
}

pub(crate) fn gradients<T>(draws: &[Vec<Draw<T>>]) -> u64 {
    draws.iter().flatten().map(|draw| u64::from(draw.steps)).sum()
}

#[cfg(feature = "nuts-rs")]
fn peer<T: Real>(
    model: &LogisticRegression<T>,
    start: &Chains<'_, T>,
    seed: u32,
) -> Result<Option<f64>, Box<dyn Error + Send + Sync>> {
    let density = &start.nuts.density;
    let place = |q| density.unscaled(q).iter().map(|x| x.double()).collect();
    let starts: Vec<Vec<f64>> = start.states.iter().map(|state| place(&state.q)).collect();
    let rate = crate::peer::rate(model, &starts, 2, seed.into());
    Ok(Some(rate.map_err(|error| error.to_string())?))
}

#[cfg(not(feature = "nuts-rs"))]
fn peer<T>(
    _: &LogisticRegression<T>,
    _: &Chains<'_, T>,
    _: u32,
) -> Result<Option<f64>, Box<dyn Error + Send + Sync>> {
    Ok(None)
}

fn print(
    config: &Config,
    precision: &str,
    sizes: &[usize],
    rates: &[[Option<f64>; WAYS.len()]],
) -> Result<(), Box<dyn Error>> {
    let design = if config.correlated { "correlated design, " } else { "" };
    let about = format!("logistic regression, {} x {REGRESSORS}, {design}{precision}", config.points);
    let mut table = format!("Gradients per second, {about}\n{:>7}", "chains");
    let mut csv = String::from("chains");
    // Writing to a string can't fail.
    for (_, name) in WAYS {
        let _ = write!(table, " {name:>27}");
        let _ = write!(csv, ",{}", name.replace(", ", " ").replace(' ', "_"));
    }
    for (size, rates) in sizes.iter().zip(rates) {
        let _ = write!(table, "\n{size:7}");
        let _ = write!(csv, "\n{size}");
        for rate in rates {
            let _ = write!(table, " {:>27}", rate.map_or("-".to_owned(), |rate| format!("{rate:.0}")));
            let _ = write!(csv, ",{}", rate.map_or(String::new(), |rate| rate.to_string()));
        }
    }
    table.push('\n');
    csv.push('\n');
    if let Some(at) = sizes.iter().position(|size| *size == COMPARED.min(config.most)) {
        let of = |way| WAYS.iter().position(|(other, _)| *other == way).and_then(|i| rates[at][i]);
        let ours = of(Way::CounterTwo).unwrap_or(f64::NAN);
        for (other, name) in [
            (Way::NutsRs, "nuts-rs"),
            (Way::Rayon, "scalar chains under rayon"),
            (Way::Bare, "the bare products"),
        ] {
            if let Some(rate) = of(other) {
                let _ = writeln!(
                    table,
                    "{} chains, program counter, 2 threads: {:.2} times {name}",
                    sizes[at],
                    ours / rate
                );
            }
        }
    }
    println!("\n{table}");
    println!(
        "Scalar chains run one by one: where there are more than {ALONE}, that many were measured, and of nuts-rs \
         {ALONE_NUTS_RS}."
    );
    let colours = [PINK, RED, BLACK, ORANGE, SKY, BLUE, GREEN, GREY];
    let series: Vec<Series> = (WAYS.iter().zip(colours).enumerate())
        .map(|(i, ((way, name), colour))| {
            let points = sizes.iter().zip(rates).filter_map(|(size, rates)| Some((*size as f64, rates[i]?)));
            let style = if *way == Way::Bare { Style::Broad } else { Style::Marked(4) };
            Series { name: (*name).to_owned(), colour, style, points: points.collect() }
        })
        .filter(|series| !series.points.is_empty())
        .rev() // what is broad lies below
        .collect();
    let title = format!("Gradients per second, {about}");
    let svg = svg(&title, &Axis::Logarithmic("gradients per second"), &series)?;
    let design = if config.correlated { "-correlated" } else { "" };
    let name = |ending: &str| format!("throughput{design}-{}-{precision}.{ending}", config.points);
    write(&name("txt"), &table)?;
    println!("{}", write(&name("csv"), &csv)?.display());
    println!("{}", write(&name("svg"), &svg)?.display());
    Ok(())
}
