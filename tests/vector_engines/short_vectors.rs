//! Vectors of 16 bytes, all there is with SSE2: programs of which they hold four lanes run on them, others as scalar code where that pays.

use crate::common::{agree_at, column};
use autobatch::autobatch;
#[cfg(target_arch = "x86_64")]
use autobatch::{Executor, Isa, Options};

/// Task blocks of four lanes.
#[autobatch(strict)]
fn fib(n: u32) -> u32 {
    if n <= 1 { 1 } else { fib(n - 2).wrapping_add(fib(n - 1)) }
}

/// A gang of four lanes to a vector: enough work in each call.
#[autobatch(strict)]
fn quadrature(low: f32, high: f32, depth: u32) -> f32 {
    let middle = 0.5 * (low + high);
    let at = |x: f32| 1.0 / (1.0 + 25.0 * x * x) + x * x * x;
    let (a, b, c) = (at(low), at(middle), at(high));
    let (d, e) = (at(0.5 * (low + middle)), at(0.5 * (middle + high)));
    let coarse = (high - low) * (a + 4.0 * b + c) / 6.0;
    let fine = (high - low) * (a + 4.0 * d + 2.0 * b + 4.0 * e + c) / 12.0;
    if depth == 0 || (fine - coarse).abs() <= 1e-5 * (high - low).abs() {
        fine + (fine - coarse) / 15.0
    } else {
        quadrature(low, middle, depth - 1) + quadrature(middle, high, depth - 1)
    }
}

/// A loop that lanes leave at different times.
#[autobatch(strict)]
fn halvings(x: u32) -> u32 {
    let (mut n, mut steps) = (x, 0);
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { n - 1 };
        steps += 1;
    }
    steps
}

/// The same with two lanes.
#[autobatch(strict)]
fn long_halvings(x: u64) -> u64 {
    let (mut n, mut steps) = (x, 0);
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { n - 1 };
        steps += 1;
    }
    steps
}

/// Straight code on two lanes of floats.
#[autobatch(strict)]
fn hypotenuse(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt() / (1.0 + a.abs())
}

/// Each call needs the result of the one before.
#[autobatch(strict)]
fn hofstadter(n: u32) -> u32 {
    if n < 1 { 0 } else { n - hofstadter(hofstadter(n - 1)) }
}

const SIZES: [usize; 3] = [1, 33, 211];

#[test]
fn all_compute_the_same_bits() {
    let numbers: Vec<u32> = (0..97).map(|i| i * 37 % 15).collect();
    agree_at(&SIZES, &numbers, |n| fib(*n), |n, options| fib_batched_with(n, options));
    agree_at(
        &SIZES,
        &numbers,
        |n| halvings(n * 977),
        |n, options| halvings_batched_with(column(n, |n| n * 977), options),
    );
    agree_at(
        &SIZES,
        &numbers,
        |n| long_halvings(u64::from(*n) << 40),
        |n, options| long_halvings_batched_with(column(n, |n| u64::from(*n) << 40), options),
    );
    agree_at(&SIZES, &numbers, |n| hofstadter(*n), |n, options| hofstadter_batched_with(n, options));
    let ends: Vec<(f32, f32)> = (0..61).map(|i| (-1.0 + 0.03 * i as f32, 1.0 - 0.001 * i as f32)).collect();
    agree_at(
        &SIZES,
        &ends,
        |x| quadrature(x.0, x.1, 6),
        |x, options| {
            quadrature_batched_with(column(x, |x| x.0), column(x, |x| x.1), column(x, |_| 6), options)
        },
    );
    let legs: Vec<(f64, f64)> = ends.iter().map(|(a, b)| (f64::from(*a) * 1e3, f64::from(*b))).collect();
    agree_at(
        &SIZES,
        &legs,
        |x| hypotenuse(x.0, x.1),
        |x, options| hypotenuse_batched_with(column(x, |x| x.0), column(x, |x| x.1), options),
    );
}

/// Where scalar code runs instead, the report says so; if the report is asked for, blocks run, to be counted.
#[test]
#[cfg(target_arch = "x86_64")]
fn vectors_run_where_they_pay() {
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor).isa(Isa::Baseline);
        let (n, x, wide) = ([7; 100], [7.0; 100], [7; 100]);
        let runs = |options: &Options| {
            [
                fib_batched_with(&n, options).unwrap().report().executor,
                halvings_batched_with(&n, options).unwrap().report().executor,
                hypotenuse_batched_with(&x, &x, options).unwrap().report().executor,
                hofstadter_batched_with(&n, options).unwrap().report().executor,
                long_halvings_batched_with(&wide, options).unwrap().report().executor,
            ]
        };
        let scalar = Executor::Scalar;
        let chosen = [executor, executor, executor, scalar, scalar];
        assert_eq!(runs(&options), chosen);
        assert_eq!(runs(&options.clone().count_blocks(true)), [executor; 5]);
        // Scalar code counts the same steps.
        assert_eq!(runs(&options.max_steps(1_000_000)), chosen);
    }
}
