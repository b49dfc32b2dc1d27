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
