//! Starting points, step sizes and scales: what is found out before the draws that count.

use crate::batch::{Chains, Executor, run_batch};
use crate::model::{DIM, EightSchools, Point};
use crate::sampler::{Generator, Run};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use std::error::Error;

/// Acceptance probability aimed at. High, for the sake of the narrow part of the posterior at small `tau`.
const TARGET: f64 = 0.9;

/// Chains at random starting points, as Stan chooses them: uniform between -2 and 2.
///
/// Each generator depends on the seed and the chain's number only.
pub(crate) fn start(model: &EightSchools, chains: usize, seed: u32) -> Chains {
    let mut generators: Vec<_> =
        (0..chains as u64).map(|chain| Generator::seed_from_u64(u64::from(seed) << 32 | chain)).collect();
    let states = generators
        .iter_mut()
        .map(|rng| Point::at(model, std::array::from_fn(|_| rng.random_range(-2.0..2.0))))
        .collect();
    Chains { states, steps: vec![0.1; chains], generators }
}

/// Adapts the chains and the model's scales in `rounds` trajectories per chain; calls `tick` after each.
///
/// The first half finds the bulk of the posterior. Its last draws, of all chains together, give the
/// scales; the second half finds the step sizes that go with them.
pub(crate) fn warm_up(
    executor: Executor,
    model: &mut EightSchools,
    chains: &mut Chains,
    rounds: usize,
    run: &Run,
    mut tick: impl FnMut(),
) -> Result<(), Box<dyn Error>> {
    let run = Run { trajectories: 1, ..*run };
    let first = rounds / 2;
    let mut spread = Spread::default();
    for (stage, rounds) in [first, rounds - first].into_iter().enumerate() {
        let mut adaptations: Vec<_> = (chains.states.iter().zip(&chains.steps).zip(&mut chains.generators))
            .map(|((state, &eps), rng)| StepSize::new(reasonable_step(model, state, eps, rng)))
            .collect();
        for round in 0..rounds {
            for (eps, adaptation) in chains.steps.iter_mut().zip(&adaptations) {
                *eps = adaptation.current();
            }
            let batch = run_batch(executor, model, &run, chains)?;
            for (draws, adaptation) in batch.iter().zip(&mut adaptations) {
                let draw = draws.last().ok_or("a warm-up call made no draw")?;
                adaptation.learn(draw.acceptance);
                if stage == 0 && 2 * round >= rounds {
                    spread.add(&model.unscaled(&draw.q));
                }
            }
            tick();
        }
        for (eps, adaptation) in chains.steps.iter_mut().zip(&adaptations) {
            *eps = adaptation.settled();
        }
        if stage == 0 {
            let scaled = model.with_scale(spread.scale());
            for state in &mut chains.states {
                *state = Point::at(&scaled, scaled.scaled(&model.unscaled(&state.q)));
            }
            *model = scaled;
        }
    }
    Ok(())
}

/// A step size whose first leapfrog step is accepted with a probability of about one half.
fn reasonable_step(model: &EightSchools, state: &Point, guess: f64, rng: &mut Generator) -> f64 {
    let mut z = *state;
    z.p = std::array::from_fn(|_| rng.sample(StandardNormal));
    let accepted = |eps: f64| z.leapfrog(model, eps).energy() - z.energy() > 0.5_f64.ln();
    let mut eps = guess;
    let grow = accepted(eps);
    while accepted(eps) == grow && (1e-8..1e8).contains(&eps) {
        eps *= if grow { 2.0 } else { 0.5 };
    }
    eps
}

/// Nesterov's dual averaging, as in section 3.2 of the paper.
#[derive(Clone, Copy, Debug)]
struct StepSize {
    centre: f64,
    rounds: f64,
    error: f64,
    log_eps: f64,
    log_mean: f64,
}

impl StepSize {
    fn new(eps: f64) -> Self {
        Self { centre: (10.0 * eps).ln(), rounds: 0.0, error: 0.0, log_eps: eps.ln(), log_mean: eps.ln() }
    }

    fn learn(&mut self, acceptance: f64) {
        self.rounds += 1.0;
        let weight = 1.0 / (self.rounds + 10.0);
        self.error += weight * (TARGET - acceptance - self.error);
        self.log_eps = self.centre - self.rounds.sqrt() / 0.05 * self.error;
        let weight = self.rounds.powf(-0.75);
        self.log_mean += weight * (self.log_eps - self.log_mean);
    }

    /// The step size to try next.
    fn current(&self) -> f64 {
        self.log_eps.exp()
    }

    /// The step size that the adaptation has come to.
    fn settled(&self) -> f64 {
        self.log_mean.exp()
    }
}

/// Mean and spread of positions, by Welford's recurrence.
#[derive(Clone, Debug, Default)]
struct Spread {
    n: f64,
    mean: [f64; DIM],
    squares: [f64; DIM],
}

impl Spread {
    fn add(&mut self, x: &[f64; DIM]) {
        self.n += 1.0;
        for ((x, mean), squares) in x.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let before = x - *mean;
            *mean += before / self.n;
            *squares += before * (x - *mean);
        }
    }

    /// Standard deviations, drawn a little towards one as Stan does, for the sake of short runs.
    fn scale(&self) -> [f64; DIM] {
        std::array::from_fn(|i| {
            let variance = if self.n > 1.0 { self.squares[i] / (self.n - 1.0) } else { 1.0 };
            ((self.n * variance + 5.0) / (self.n + 5.0)).sqrt()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::SAMPLING;

    #[test]
    fn dual_averaging_finds_the_target() {
        // An acceptance that falls as exp(-eps): the target is met at -ln(TARGET).
        let mut adaptation = StepSize::new(1.0);
        for _ in 0..2000 {
            adaptation.learn((-adaptation.current()).exp());
        }
        assert!((adaptation.settled() / -TARGET.ln() - 1.0).abs() < 0.05, "{}", adaptation.settled());
    }

    #[test]
    fn spread_is_the_standard_deviation() {
        let mut spread = Spread::default();
        for i in 0..100_000 {
            spread.add(&[f64::from(i % 2) * 6.0; DIM]);
        }
        assert!((spread.scale()[3] - 3.0).abs() < 1e-3);
        assert_eq!(Spread::default().scale(), [1.0; DIM]);
    }

    #[test]
    fn a_reasonable_step_is_neither_tiny_nor_huge() {
        let model = EightSchools::new();
        let mut chains = start(&model, 20, 3);
        for (state, rng) in chains.states.iter().zip(&mut chains.generators) {
            for guess in [1e-4, 0.1, 100.0] {
                let eps = reasonable_step(&model, state, guess, rng);
                assert!((1e-3..10.0).contains(&eps), "{eps}");
            }
        }
    }

    #[test]
    fn chains_depend_on_their_seed_and_number_only() {
        let model = EightSchools::new();
        let (few, many, other) = (start(&model, 3, 5), start(&model, 9, 5), start(&model, 3, 6));
        assert_eq!(few.states, many.states[..3]);
        assert_ne!(few.states, other.states);
        assert_ne!(many.states[0], many.states[1]);
    }

    #[test]
    fn warm_up_reaches_the_target_acceptance() {
        let mut model = EightSchools::new();
        let mut chains = start(&model, 32, 1);
        let run = Run { trajectories: 50, max_depth: 10 };
        let mut ticks = 0;
        warm_up(SAMPLING, &mut model, &mut chains, 150, &run, || ticks += 1).unwrap();
        assert_eq!(ticks, 150);
        let batch = run_batch(SAMPLING, &model, &run, &mut chains).unwrap();
        let draws = batch.iter().flatten();
        let mean = draws.map(|draw| draw.acceptance).sum::<f64>() / (32.0 * 50.0);
        // Averaging log step sizes errs on the side of short steps.
        assert!((TARGET - 0.03..TARGET + 0.08).contains(&mean), "{mean}");
    }
}
