//! Constants and imports that stand in a body leave a program where it runs: in vector frames, in task blocks.

use crate::common::{agree_at, column};
use autobatch::{Engine, Executor, Isa, Options, autobatch};

const SIZES: [usize; 3] = [1, 67, 300];

/// In the body, and in a block of it.
#[autobatch(strict)]
fn volume(pressure: f64, temperature: f64) -> f64 {
    use std::f64::consts::{E, PI};
    const ATTRACTION: f64 = 0.137;
    const OWN: [f64; 2] = [3.87e-5, 1.0];
    let energy = 8.314 * temperature;
    let mut v = energy / pressure;
    for _ in 0..50 {
        const LEAST: f64 = 1e-12;
        let value = ((pressure * v - pressure * OWN[0] - energy) * v + ATTRACTION) * v - ATTRACTION * OWN[0];
        let slope = (3.0 * pressure * v - 2.0 * (pressure * OWN[0] + energy)) * v + ATTRACTION;
        let step = value / slope;
        v -= step * OWN[1];
        if step.abs() < LEAST * v {
            break;
        }
    }
    v * PI / E
}

/// Recursion, with a constant of a type that the module has.
#[derive(Clone, Copy)]
struct Step {
    by: u32,
}

#[autobatch(strict)]
fn ways(left: u32) -> u32 {
    const TWO: Step = Step { by: 2 };
    if left < TWO.by { 1 } else { ways(left - 1).wrapping_add(ways(left - TWO.by)) }
}

/// Outside it is a list of another type.
const SHARED: [u8; 2] = [1, 2];

#[autobatch(strict)]
fn with_a_name_of_the_module(x: u32) -> u32 {
    const SHARED: [u32; 2] = [70_000, 3];
    let (mut n, mut sum) = (x, 0);
    while n > 2 {
        sum += SHARED[(n & 1) as usize];
        n -= SHARED[1].min(n);
    }
    sum
}

#[test]
fn they_agree() {
    let rows: Vec<u32> = (0..300).map(|i: u32| i * 37 % 301 * u32::from(SHARED[0])).collect();
    let pressure = |r: &u32| 1e4 + 900.0 * f64::from(*r);
    let temperature = |r: &u32| 250.0 + f64::from(*r);
    agree_at(
        &SIZES,
        &rows,
        |r| volume(pressure(r), temperature(r)),
        |b, o| volume_batched_with(column(b, pressure), column(b, temperature), o),
    );
    agree_at(&SIZES, &rows, |r| ways(r % 17), |b, o| ways_batched_with(column(b, |r| r % 17), o));
    agree_at(
        &SIZES,
        &rows,
        |r| with_a_name_of_the_module(*r),
        |b, o| with_a_name_of_the_module_batched_with(column(b, |r| *r), o),
    );
}

#[test]
fn they_run_on_vectors() {
    let options = Options::default().executor(Executor::Masked).isa(Isa::Avx2).report(true);
    let engines = [
        volume_batched_with(&[1e5; 300], &[300.0; 300], &options).unwrap().report().engine,
        ways_batched_with(&[9; 300], &options).unwrap().report().engine,
    ];
    if cfg!(target_arch = "x86_64") {
        assert_eq!(engines, [Engine::VectorFrames, Engine::TaskBlocks]);
    }
}

#[derive(Clone, Copy)]
struct Way(f64, f64);

impl Way {
    fn dot(self, other: Way) -> f64 {
        self.0 * other.0 + self.1 * other.1
    }
}

impl std::ops::Add for Way {
    type Output = Way;
    fn add(self, other: Way) -> Way {
        Way(self.0 + other.0, self.1 + other.1)
    }
}

fn pull(x: f64, k: f64) -> f64 {
    -k * x
}

/// Structures, operators and helpers, with a constant and a function in the body.
#[autobatch(strict)]
fn swings(x: f64, y: f64) -> f64 {
    const STEPS: usize = 60;
    const H: f64 = 0.0625;
    fn scaled(x: f64) -> f64 {
        x * 1.5
    }
    let (mut way, mut energy) = (Way(x, y), scaled(x));
    for i in 0..STEPS {
        let step = Way(way.1 * H, pull(way.0, 2.0) * H);
        way = way + step;
        energy += way.dot(step) * i as f64;
    }
    energy
}

const LEN: usize = 3;

fn total(parts: [f64; LEN]) -> f64 {
    parts[0] + parts[1] * parts[2]
}

#[derive(Clone, Copy)]
struct Parts {
    all: [f64; LEN],
}

/// What stands in the body has the names of what stands beside it.
#[autobatch(strict)]
fn with_hidden_names(x: f64, y: f64) -> f64 {
    const LEN: usize = 40;
    fn pull(x: f64, k: f64) -> f64 {
        k - x
    }
    let mut sum = y;
    let mut parts = Parts { all: [x, y, 0.5] };
    for i in 0..LEN {
        parts = Parts { all: [parts.all[1], sum, parts.all[0] * 0.5] };
        sum = sum * 0.5 + total([x, i as f64, 0.25]) + pull(sum, 0.125) * parts.all[2];
    }
    sum
}

/// A function of the body has the name of a structure's constructor.
#[autobatch(strict)]
fn with_a_hidden_constructor(x: f64, y: f64) -> f64 {
    #[allow(non_snake_case)]
    fn Way(x: f64, y: f64) -> self::Way {
        self::Way(y, x)
    }
    let mut sum = 0.0;
    for i in 0..40 {
        let way = Way(x * i as f64, sum);
        sum = sum * 0.5 + way.0 * 0.25 - way.1;
    }
    sum - y
}

#[test]
fn constants_and_functions_hide_what_has_their_names() {
    let inputs: Vec<(f64, f64)> =
        (0..300).map(|i| (f64::from(i * 37 % 101) / 50.0 - 1.0, f64::from(i * 53 % 97) / 24.0)).collect();
    let (x, y) = (|b: &[(f64, f64)]| column(b, |m| m.0), |b: &[(f64, f64)]| column(b, |m| m.1));
    agree_at(&SIZES, &inputs, |m| swings(m.0, m.1), |b, o| swings_batched_with(x(b), y(b), o));
    agree_at(
        &SIZES,
        &inputs,
        |m| with_hidden_names(m.0, m.1),
        |b, o| with_hidden_names_batched_with(x(b), y(b), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |m| with_a_hidden_constructor(m.0, m.1),
        |b, o| with_a_hidden_constructor_batched_with(x(b), y(b), o),
    );
    let program = swings_batched::program().to_string();
    assert!(program.contains("once for all members, on vectors across them"), "{program}");
}
