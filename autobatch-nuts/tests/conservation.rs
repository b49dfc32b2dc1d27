//! A trajectory that starts at a draw from the target ends at one.

use autobatch::Options;
use autobatch_nuts::models::Gaussian;
use autobatch_nuts::{Chains, Generator, Model, StepSize};
use ndarray::{Array1, array};
use rand::RngExt as _;
use rand_distr::StandardNormal;

const CHAINS: usize = 10_000;

/// `x ~ Beta(2, 3)`, sampled as `ln(x / (1 - x))`.
struct Beta;

impl Model<f64> for Beta {
    fn dim(&self) -> usize {
        1
    }

    fn gradient(&self, q: &[f64], grad: &mut [f64]) -> f64 {
        let x = 1.0 / (1.0 + (-q[0]).exp());
        grad[0] = 2.0 - 5.0 * x;
        2.0 * x.ln() + 3.0 * (1.0 - x).ln()
    }

    fn quantities(&self, q: &[f64]) -> Vec<f64> {
        vec![1.0 / (1.0 + (-q[0]).exp())]
    }
}

/// The distance of Kolmogorov and Smirnov from the uniform distribution, times the root of the number.
fn distance(mut uniform: Vec<f64>) -> f64 {
    uniform.sort_unstable_by(f64::total_cmp);
    let n = uniform.len() as f64;
    let gaps = uniform.iter().enumerate().map(|(i, u)| (u - i as f64 / n).max((i as f64 + 1.0) / n - u));
    gaps.fold(0.0, f64::max) * n.sqrt()
}

fn conserved(
    model: &dyn Model<f64>,
    eps: f64,
    leaf_steps: u32,
    exact: impl FnMut(&mut Generator) -> Array1<f64>,
    cumulative: impl Fn(f64) -> f64,
) {
    let mut chains = Chains::begin(model, CHAINS, 9, StepSize::fixed(eps), exact);
    chains.nuts.leaf_steps = leaf_steps;
    let before: Vec<f64> = chains.states.iter().map(|state| state.q[0]).collect();
    // Once in a thousand times the distance is larger than 1.95.
    let uniform = |q: &[f64]| q.iter().map(|q| cumulative(model.quantities(&[*q])[0])).collect();
    assert!(distance(uniform(&before)) < 1.95, "the exact draws");
    for round in 0..2 {
        let draws = chains.run(1, &Options::default()).unwrap().into_values().unwrap();
        let after: Vec<f64> = draws.iter().map(|chain| chain[0].q[0]).collect();
        let distance = distance(uniform(&after));
        assert!(distance < 1.95, "step size {eps}, trajectory {round}: {distance}");
        let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        assert!(moved * 3 > CHAINS, "{moved} have moved");
    }
}

#[test]
fn normal() {
    let model = Gaussian::new(array![[0.25]]); // standard deviation 2
    for (eps, leaf_steps) in [(0.4, 4), (2.0, 1), (3.4, 1)] {
        let exact = |rng: &mut Generator| array![2.0 * rng.sample::<f64, _>(StandardNormal)];
        let cumulative = |x: f64| (1.0 + autobatch::math::erf(x / 2.0 / 2.0_f64.sqrt())) / 2.0;
        conserved(&model, eps, leaf_steps, exact, cumulative);
    }
}

#[test]
fn beta() {
    for (eps, leaf_steps) in [(0.2, 4), (1.2, 1), (1.9, 1)] {
        let exact = |rng: &mut Generator| {
            // The second smallest of four.
            let mut uniform: [f64; 4] = rng.random();
            uniform.sort_unstable_by(f64::total_cmp);
            array![(uniform[1] / (1.0 - uniform[1])).ln()]
        };
        let cumulative = |x: f64| x * x * (6.0 - 8.0 * x + 3.0 * x * x);
        conserved(&Beta, eps, leaf_steps, exact, cumulative);
    }
}
