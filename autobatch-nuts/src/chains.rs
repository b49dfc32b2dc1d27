//! Many chains in one batch.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use autobatch::{BatchError, Faults, Options, Outcome};
use ndarray::Array1;
use rand::{RngExt as _, SeedableRng as _};

use crate::warmup::{Spread, StepSize};
use crate::{Density, Draw, Generator, Model, Nuts, Point, Real};

/// Trajectories per chain in one batched call, so that a progress bar moves.
const PIECE: usize = 25;

/// Why there are no draws.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SampleError {
    /// The public columns of [`Chains`] are not equally long.
    Batch(BatchError),
    /// Some chains came to an end, each with its fault.
    Faults(Faults),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleError::Batch(error) => error.fmt(f),
            SampleError::Faults(faults) => write!(f, "chains at fault: {faults}"),
        }
    }
}

impl Error for SampleError {}

impl From<BatchError> for SampleError {
    fn from(error: BatchError) -> Self {
        SampleError::Batch(error)
    }
}

impl From<Faults> for SampleError {
    fn from(faults: Faults) -> Self {
        SampleError::Faults(faults)
    }
}

/// Chains of one posterior, each with its state, step size and random numbers.
///
/// What a chain does depends on the model, the seed and its number only, and not on how the batch is run, as far as
/// the model's batched kernel rounds as its scalar gradient does (see [`Model::gradients`]).
///
/// ```
/// use autobatch::Options;
/// use autobatch_nuts::models::EightSchools;
/// use autobatch_nuts::{Chains, Summary};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = EightSchools::<f64>::new();
/// let mut chains = Chains::new(&model, 16, 1, 0.9);
/// let options = Options::default();
/// chains.warm_up(60, &options, |_| ())?;
/// let draws = chains.draw(40, &options, |_| ())?;
/// let mu: Vec<Vec<f64>> = draws.iter().map(|chain| chain.iter().map(|draw| draw.q[0]).collect()).collect();
/// assert!(Summary::of(&mu).ess_bulk > 50.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Chains<'m, T> {
    /// The sampler; [`warm_up`](Self::warm_up) changes the scales of its density.
    pub nuts: Nuts<'m, T>,
    /// Where each chain is.
    pub states: Vec<Arc<Point<T>>>,
    /// Step sizes.
    pub steps: Vec<StepSize>,
    /// Generators.
    pub generators: Vec<Generator>,
}

impl<'m, T: Real> Chains<'m, T> {
    /// Chains at random places, uniform between -2 and 2 as in Stan, which will adapt their step sizes until
    /// trajectories have the mean acceptance probability `target`.
    pub fn new(model: &'m dyn Model<T>, chains: usize, seed: u32, target: f64) -> Self {
        Self::begin(model, chains, seed, StepSize::new(0.1, target), |rng| {
            (0..model.dim()).map(|_| T::of(rng.random_range(-2.0..2.0))).collect()
        })
    }

    /// Chains that begin where `place` says, with a given step size.
    pub fn begin(
        model: &'m dyn Model<T>,
        chains: usize,
        seed: u32,
        step: StepSize,
        mut place: impl FnMut(&mut Generator) -> Array1<T>,
    ) -> Self {
        let density = Density::new(model);
        let generator = |chain| Generator::seed_from_u64(u64::from(seed) << 32 | chain);
        let mut generators: Vec<_> = (0..chains as u64).map(generator).collect();
        let states = generators.iter_mut().map(|rng| Arc::new(Point::at(&density, place(rng)))).collect();
        Self { nuts: Nuts::new(density), states, steps: vec![step; chains], generators }
    }

    /// Runs each chain for some trajectories, as one batch.
    ///
    /// # Errors
    ///
    /// If the public columns are not equally long.
    pub fn run(
        &mut self,
        trajectories: usize,
        options: &Options,
    ) -> Result<Outcome<Vec<Draw<T>>>, BatchError> {
        self.nuts.trajectories = trajectories;
        T::chains(&self.nuts, &mut self.states, &mut self.steps, &mut self.generators, options)
    }

    /// The same without a batch: the scalar function, chain by chain.
    pub fn run_scalar(&mut self, trajectories: usize) -> Vec<Vec<Draw<T>>> {
        self.nuts.trajectories = trajectories;
        let columns = self.states.iter_mut().zip(&mut self.steps).zip(&mut self.generators);
        columns.map(|((state, step), rng)| self.nuts.chain(state, step, rng)).collect()
    }

    /// `count` draws per chain; calls `tick` with numbers of draws done.
    ///
    /// # Errors
    ///
    /// If a chain panics, or the public columns are not equally long.
    pub fn draw(
        &mut self,
        count: usize,
        options: &Options,
        mut tick: impl FnMut(usize),
    ) -> Result<Vec<Vec<Draw<T>>>, SampleError> {
        let mut all = vec![Vec::with_capacity(count); self.states.len()];
        let mut done = 0;
        while done < count {
            let piece = PIECE.min(count - done);
            for (all, new) in all.iter_mut().zip(self.run(piece, options)?.into_values()?) {
                all.extend(new);
            }
            done += piece;
            tick(piece);
        }
        Ok(all)
    }

    /// Adapts step sizes and scales in `rounds` trajectories per chain; calls `tick` with numbers of rounds done.
    ///
    /// Each chain adapts its step size by dual averaging. The last draws of all chains together give the
    /// scales: twice, after a fifth of the rounds and after half of them. The rest finds the step sizes that go
    /// with them.
    ///
    /// # Errors
    ///
    /// If a chain panics, or the public columns are not equally long.
    pub fn warm_up(
        &mut self,
        rounds: usize,
        options: &Options,
        mut tick: impl FnMut(usize),
    ) -> Result<(), SampleError> {
        let (first, second) = (rounds / 5, rounds / 2);
        for (stage, rounds) in [first, second - first, rounds - second].into_iter().enumerate() {
            if stage > 0 {
                self.steps.iter_mut().for_each(StepSize::restart);
            }
            let draws = self.draw(rounds, options, &mut tick)?;
            if stage == 2 {
                break;
            }
            let mut spread = Spread::new(self.nuts.density.model().dim());
            for draw in draws.iter().flat_map(|draws| &draws[draws.len() / 2..]) {
                spread.add(&self.nuts.density.unscaled(&draw.q));
            }
            self.rescale(spread.scale());
        }
        self.steps.iter_mut().for_each(StepSize::settle);
        Ok(())
    }

    /// Goes on in coordinates that are divided by `scale`.
    fn rescale(&mut self, scale: Array1<T>) {
        let old = self.nuts.density.clone();
        let new = old.with_scale(scale);
        let moved = |state: &Arc<Point<T>>| {
            let q = new.scaled(&old.unscaled(&state.q));
            // The gradient in new coordinates, without asking the model once more for each chain.
            let grad = &state.grad / old.scale() * new.scale();
            Arc::new(Point { q, grad, p: state.p.clone(), lp: state.lp })
        };
        self.states = self.states.iter().map(moved).collect();
        self.nuts.density = new;
    }

    /// The model's quantities for all draws of all chains.
    pub fn quantities(&self, draws: &[Vec<Draw<T>>]) -> Posterior {
        let density = &self.nuts.density;
        let names = density.model().names();
        let mut values: Vec<Vec<Vec<f64>>> =
            vec![draws.iter().map(|chain| Vec::with_capacity(chain.len())).collect(); names.len()];
        for (i, draw) in
            draws.iter().enumerate().flat_map(|(i, chain)| chain.iter().map(move |draw| (i, draw)))
        {
            let x = density.unscaled(&draw.q).to_vec();
            for (values, value) in values.iter_mut().zip(density.model().quantities(&x)) {
                values[i].push(value);
            }
        }
        Posterior { names, values }
    }
}

/// Draws as the model reports them.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// One name per quantity.
    pub names: Vec<String>,
    /// Of each quantity, for each chain, its draws.
    pub values: Vec<Vec<Vec<f64>>>,
}
