//! The sampler of the crate `nuts-rs` on the same density.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use autobatch_nuts::{Generator, Model, Real};
use nuts_rs::{
    Chain as _, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings as _,
};
use rand::SeedableRng as _;
use rayon::prelude::*;

/// The model, with a count of its gradients.
#[derive(Clone)]
struct Counted<'m, T> {
    model: &'m dyn Model<T>,
    count: &'m AtomicU64,
    q: Vec<T>,
    grad: Vec<T>,
}

/// The density has no errors.
#[derive(Debug)]
enum Never {}

impl std::fmt::Display for Never {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

impl Error for Never {}

impl LogpError for Never {
    fn is_recoverable(&self) -> bool {
        match *self {}
    }
}

impl<T: Real> HasDims for Counted<'_, T> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), self.model.dim() as u64)])
    }
}

impl<T: Real> CpuLogpFunc for Counted<'_, T> {
    type LogpError = Never;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Never> {
        self.count.fetch_add(1, Ordering::Relaxed);
        for (q, x) in self.q.iter_mut().zip(position) {
            *q = T::of(*x);
        }
        let lp = self.model.gradient(&self.q, &mut self.grad);
        for (x, slope) in gradient.iter_mut().zip(&self.grad) {
            *x = slope.double();
        }
        Ok(lp.double())
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        array: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(array.to_vec())
    }
}

/// Gradients per second of `starts.len()` chains under rayon, each for `draws` draws.
pub(crate) fn rate<T: Real>(
    model: &dyn Model<T>,
    starts: &[Vec<f64>],
    draws: u64,
    seed: u64,
) -> Result<f64, Box<dyn Error>> {
    let count = AtomicU64::new(0);
    let settings = DiagNutsSettings { num_tune: draws / 2, num_draws: draws, seed, ..Default::default() };
    let clock = Instant::now();
    let all = starts.par_iter().enumerate().try_for_each(|(chain, start)| {
        let chain = chain as u64;
        let zeros = vec![T::zero(); model.dim()];
        let density = Counted { model, count: &count, q: zeros.clone(), grad: zeros };
        let mut rng = Generator::seed_from_u64(seed << 32 | chain);
        let fail = |error| format!("nuts-rs: {error}");
        let mut sampler = settings.new_chain(chain, CpuMath::new(density), &mut rng).map_err(fail)?;
        sampler.set_position(start).map_err(fail)?;
        for _ in 0..draws {
            sampler.draw().map_err(fail)?;
        }
        Ok::<(), String>(())
    });
    all?;
    Ok(count.into_inner() as f64 / clock.elapsed().as_secs_f64())
}
