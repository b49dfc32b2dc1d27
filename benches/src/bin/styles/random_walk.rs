//! A random walk that ends where it leaves a strip, its generator a `&mut` parameter or a local copy of it.

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 16_384;
const STEPS: u32 = 400;

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
}

#[autobatch]
fn generator(rng: &mut Xorshift, width: f64) -> u32 {
    let mut x = 0.0f64;
    for step in 0..STEPS {
        x += rng.uniform() - 0.5;
        if x.abs() > width {
            return step;
        }
    }
    STEPS
}

#[autobatch]
fn copied(rng: &mut Xorshift, width: f64) -> u32 {
    let mut local = *rng;
    let mut x = 0.0f64;
    let mut steps = STEPS;
    for step in 0..STEPS {
        x += local.uniform() - 0.5;
        if x.abs() > width {
            steps = step;
            break;
        }
    }
    *rng = local;
    steps
}

counterpart! {
    fn ispc_random_walk(columns(seeds: u64, widths: f64)) -> u32
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let members = members.unwrap_or(MEMBERS);
    let mut numbers = Numbers::new(11);
    let generators: Vec<Xorshift> = (0..members).map(|_| Xorshift(numbers.bits() | 1)).collect();
    let widths: Vec<f64> = (0..members).map(|_| numbers.within(0.5, 8.0)).collect();
    vec![
        Style {
            name: "random walk, &mut generator",
            inputs: widths.clone(),
            states: generators.clone(),
            scalar: |widths, m, rng| generator(rng, widths[m]),
            batched: |widths, states, options| generator_batched_with(states, widths, options),
        }
        .any(),
        Style {
            name: "random walk, generator in a local",
            inputs: (generators.iter().map(|rng| rng.0).collect::<Vec<_>>(), widths),
            states: generators,
            scalar: |i, m, rng| copied(rng, i.1[m]),
            batched: |i, states, options| copied_batched_with(states, &i.1, options),
        }
        .against(Agreement::Exact, |i, target, first, out| {
            ispc_random_walk(target, first, &i.0, &i.1, out);
        }),
    ]
}
