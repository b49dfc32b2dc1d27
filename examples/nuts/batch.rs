//! Many chains in one call: the only place that knows how a batch of chains is run.

use crate::model::{EightSchools, Point};
use crate::sampler::{Draw, Generator, LEAF_STEPS, Run, chain_batched_with};
pub(crate) use autobatch::Executor;
use autobatch::Options;
use std::error::Error;

/// The executor that draws the posterior.
pub(crate) const SAMPLING: Executor = Executor::Auto;

/// The executors that are compared.
pub(crate) const COMPARED: &[(&str, Executor)] = &[
    ("scalar", Executor::Scalar),
    ("masked", Executor::Masked),
    ("program counter", Executor::ProgramCounter),
];

/// Chains as columns, one entry of each per chain.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    pub(crate) states: Vec<Point>,
    pub(crate) steps: Vec<f64>,
    pub(crate) generators: Vec<Generator>,
}

/// Gradient evaluations behind some draws.
pub(crate) fn gradients(draws: &[Vec<Draw>]) -> u64 {
    draws.iter().flatten().map(|draw| u64::from(draw.steps)).sum()
}

/// Runs all chains for some trajectories each; gives the draws of each chain.
pub(crate) fn run_batch(
    executor: Executor,
    model: &EightSchools,
    run: &Run,
    chains: &mut Chains,
) -> Result<Vec<Vec<Draw>>, Box<dyn Error>> {
    let options = Options::default().executor(executor);
    let Chains { states, steps, generators } = chains;
    Ok(chain_batched_with(model, run, states, &*steps, generators, &options)?.into_values()?)
}

/// The share of lanes at work where the gradient is, if the executor has lanes.
pub(crate) fn utilisation(
    executor: Executor,
    model: &EightSchools,
    run: &Run,
    chains: &mut Chains,
) -> Result<Option<f64>, Box<dyn Error>> {
    if executor == Executor::Scalar {
        return Ok(None);
    }
    // Counting costs time, so the runs that are timed do without.
    let options = Options::default().executor(executor).report(true);
    let Chains { states, steps, generators } = chains;
    let outcome = chain_batched_with(model, run, states, &*steps, generators, &options)?;
    let blocks: Vec<(u64, f64)> = (outcome.report().blocks.iter())
        .filter(|block| block.function == "build")
        .map(|block| (block.active, block.utilisation()))
        .collect();
    // The block with the leapfrog steps is known by its count: once per leaf, or once per step.
    let steps = gradients(&outcome.into_values()?);
    let counts = [steps, steps / u64::from(LEAF_STEPS)];
    Ok(blocks.into_iter().find(|(active, _)| counts.contains(active)).map(|(_, utilisation)| utilisation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::chain;
    use crate::warmup::start;

    #[test]
    fn every_executor_gives_the_scalar_chains() {
        let model = EightSchools::new();
        let run = Run { trajectories: 12, max_depth: 6 };
        for count in [1, 2, 37] {
            let start = start(&model, count, 11);
            let mut alone = start.clone();
            let draws: Vec<Vec<Draw>> = (alone.states.iter_mut().zip(&alone.steps))
                .zip(&mut alone.generators)
                .map(|((state, &eps), rng)| chain(&model, &run, state, eps, rng))
                .collect();
            for &(name, executor) in COMPARED {
                let mut chains = start.clone();
                let batch = run_batch(executor, &model, &run, &mut chains).unwrap();
                assert_eq!(batch, draws, "{name}, {count} chains");
                assert_eq!(chains.states, alone.states, "{name}, {count} chains");
                assert_eq!(chains.generators, alone.generators, "{name}, {count} chains");
            }
        }
    }
}
