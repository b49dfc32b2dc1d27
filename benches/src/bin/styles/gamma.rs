//! Gamma variates by Marsaglia and Tsang's rejection, the mean of a few for each member: the generator in a state, in a local, in numbers.

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 16_384;
const VARIATES: u32 = 16;

/// Xorshift, as many write their own.
#[derive(Clone, Copy, Debug)]
struct Xorshift(u64);

impl Xorshift {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform on `0..1`.
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A standard normal number by the polar method.
    fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = self.uniform();
            if u < 1.0 - 0.0331 * x * x * x * x {
                return d * v;
            }
            if u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }
}

/// The generator's methods.
#[autobatch]
fn methods(rng: &mut Xorshift, shape: f64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..VARIATES {
        sum += rng.gamma(shape);
    }
    sum / f64::from(VARIATES)
}

/// The loops in the function itself.
#[autobatch]
fn inline(rng: &mut Xorshift, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    let mut sum = 0.0;
    for _ in 0..VARIATES {
        loop {
            let x = loop {
                let (u, v) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
                let s = u * u + v * v;
                if s > 0.0 && s < 1.0 {
                    break u * (-2.0 * s.ln() / s).sqrt();
                }
            };
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = rng.uniform();
            if u < 1.0 - 0.0331 * x * x * x * x || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                sum += d * v;
                break;
            }
        }
    }
    sum / f64::from(VARIATES)
}

/// The generator made from a seed, in a local.
#[autobatch]
fn seeded(seed: u64, shape: f64) -> f64 {
    let mut rng = Xorshift(seed);
    let mut sum = 0.0;
    for _ in 0..VARIATES {
        sum += rng.gamma(shape);
    }
    sum / f64::from(VARIATES)
}

fn next(state: u64) -> u64 {
    let state = state ^ (state << 13);
    let state = state ^ (state >> 7);
    state ^ (state << 17)
}

fn unit(state: u64) -> f64 {
    (state >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The generator in a number, the loops as conditions.
#[autobatch]
fn numbers(seed: u64, shape: f64) -> f64 {
    let mut state = seed;
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    let mut sum = 0.0;
    let mut left = VARIATES;
    while left > 0 {
        let (mut u, mut s) = (0.0, 0.0);
        while s <= 0.0 || s >= 1.0 {
            state = next(state);
            u = 2.0 * unit(state) - 1.0;
            state = next(state);
            let v = 2.0 * unit(state) - 1.0;
            s = u * u + v * v;
        }
        let x = u * (-2.0 * s.ln() / s).sqrt();
        let v = 1.0 + c * x;
        if v > 0.0 {
            let v = v * v * v;
            state = next(state);
            let u = unit(state);
            if u < 1.0 - 0.0331 * x * x * x * x || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                sum += d * v;
                left -= 1;
            }
        }
    }
    sum / f64::from(VARIATES)
}

counterpart! {
    fn ispc_gamma(columns(seeds: u64, shapes: f64)) -> f64
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    let mut numbers_of = Numbers::new(17);
    let seeds: Vec<u64> = (0..n).map(|_| numbers_of.bits() | 1).collect();
    let shapes: Vec<f64> = (0..n).map(|_| numbers_of.within(1.0, 6.0)).collect();
    macro_rules! state {
        ($name:literal, $scalar:ident, $batched:ident) => {
            Style {
                name: $name,
                inputs: shapes.clone(),
                states: seeds.iter().map(|seed| Xorshift(*seed)).collect::<Vec<_>>(),
                scalar: |shapes, m, rng| $scalar(rng, shapes[m]),
                batched: |shapes, states, options| $batched(states, shapes, options),
            }
            .any()
        };
    }
    macro_rules! seed {
        ($name:literal, $scalar:ident, $batched:ident) => {
            Style {
                name: $name,
                inputs: (seeds.clone(), shapes.clone()),
                states: vec![(); n],
                scalar: |i, m, ()| $scalar(i.0[m], i.1[m]),
                batched: |i, _, options| $batched(&i.0, &i.1, options),
            }
            .against(Agreement::Close { tolerance: 1e-9, except: 0.001 }, |i, target, first, out| {
                ispc_gamma(target, first, &i.0, &i.1, out);
            })
        };
    }
    vec![
        state!("gamma/methods", methods, methods_batched_with),
        state!("gamma/inline", inline, inline_batched_with),
        seed!("gamma/local", seeded, seeded_batched_with),
        seed!("gamma/numbers", numbers, numbers_batched_with),
    ]
}
