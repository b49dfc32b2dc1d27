//! Times of the ways to run a kernel, taken in turn so that a slow moment of the machine meets all of them.

use std::time::Instant;

use crate::ways::{Family, Way};
use crate::{Case, Variant};
use autobatch::Isa;

/// A way's times.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// The family of the way.
    pub family: Family,
    /// Its instruction set; `None` for scalar code.
    pub isa: Option<Isa>,
    /// Its number of threads.
    pub threads: usize,
    /// Seconds of the best round.
    pub best: f64,
    /// Seconds of the median round.
    pub median: f64,
}

/// The times of one kernel at one size.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Its name.
    pub kernel: &'static str,
    /// The members of the batch.
    pub members: usize,
    /// A time per way.
    pub times: Vec<Time>,
}

impl Measurement {
    /// The best time of a way.
    pub fn best(&self, family: Family, isa: Option<Isa>, threads: usize) -> Option<f64> {
        let way = |time: &&Time| (time.family, time.isa, time.threads) == (family, isa, threads);
        self.times.iter().find(way).map(|time| time.best)
    }
}

/// Runs shorter than this are repeated for one sample.
pub const SAMPLE: f64 = 2e-3;

/// Checks that all ways agree, then takes their times round by round.
///
/// # Errors
///
/// The disagreement in words.
pub fn measure(
    kernel: &'static str,
    case: &dyn Case,
    ways: &[Way<'_>],
    rounds: usize,
) -> Result<Measurement, String> {
    let variants: Vec<_> = ways.iter().map(|way| way.variant.clone()).collect();
    case.check(&variants)?;
    let repetitions: Vec<u32> = ways
        .iter()
        .map(|way| (SAMPLE / sample(case, &way.variant, 1)).ceil().clamp(1.0, 10_000.0) as u32)
        .collect();
    let mut samples = vec![Vec::with_capacity(rounds); ways.len()];
    for _ in 0..rounds {
        for ((way, samples), &repetitions) in ways.iter().zip(&mut samples).zip(&repetitions) {
            samples.push(sample(case, &way.variant, repetitions));
        }
    }
    let times = ways.iter().zip(samples).map(|(way, mut samples)| {
        samples.sort_by(f64::total_cmp);
        let (best, median) = (samples[0], samples[samples.len() / 2]);
        Time { family: way.family, isa: way.isa, threads: way.threads, best, median }
    });
    Ok(Measurement { kernel, members: case.members(), times: times.collect() })
}

/// Seconds per run.
pub fn sample(case: &dyn Case, variant: &Variant<'_>, repetitions: u32) -> f64 {
    let begin = Instant::now();
    for _ in 0..repetitions {
        case.run(variant);
    }
    begin.elapsed().as_secs_f64() / f64::from(repetitions)
}
