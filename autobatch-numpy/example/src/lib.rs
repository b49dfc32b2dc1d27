//! Batched functions as a Python package.

#![allow(clippy::manual_is_multiple_of)] // vector code knows the operator

use autobatch::{autobatch, same};
use autobatch_numpy::Ufunc;
use pyo3::prelude::*;

#[autobatch]
fn collatz(mut n: u64, limit: u32) -> u32 {
    let mut steps = 0;
    while n != 1 && steps < limit {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

trait Float: Copy + PartialOrd + std::ops::Mul<Output = Self> + std::ops::Sub<Output = Self> {
    const HALF: Self;
    fn quotient(self, by: Self) -> Self;
}

impl Float for f32 {
    const HALF: f32 = 0.5;
    fn quotient(self, by: f32) -> f32 {
        self / by
    }
}

impl Float for f64 {
    const HALF: f64 = 0.5;
    fn quotient(self, by: f64) -> f64 {
        self / by
    }
}

/// A square root by so many steps of Newton.
#[autobatch]
fn root<T: Float>(x: T, steps: u8) -> T {
    let mut y = x;
    for _ in 0..steps {
        y = y - (y * y - x).quotient(y) * T::HALF;
    }
    y
}

#[autobatch]
fn share(whole: i64, parts: i64) -> i64 {
    whole / parts
}

#[autobatch]
fn checked_root(x: f64) -> f64 {
    assert!(x >= 0.0, "{x} is negative");
    x.sqrt()
}

#[autobatch]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[autobatch]
fn norm(x: [f64; 3]) -> f64 {
    (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt()
}

#[autobatch]
fn both(a: bool, b: bool) -> bool {
    a & b
}

#[pymodule]
fn steps(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let collatz = Ufunc::new("collatz")
        .doc("The steps of the Collatz sequence from n to 1, at most limit.")
        .with(|[n, limit], options| collatz_batched_with(n, limit, options));
    let root = Ufunc::new("root")
        .with(|[x], options| root_batched_with::<f32>(x, same(40), options))
        .with(|[x], options| root_batched_with::<f64>(x, same(40), options));
    let share = Ufunc::new("share").with(|[whole, parts], options| share_batched_with(whole, parts, options));
    let raises = Ufunc::new("checked_root").with(|[x], options| checked_root_batched_with(x, options));
    let nan =
        Ufunc::new("root_or_nan").nan_on_fault().with(|[x], options| checked_root_batched_with(x, options));
    let cross = Ufunc::new("cross").with(|[a, b], options| cross_batched_with(a, b, options));
    let norm = Ufunc::new("norm").with(|[x], options| norm_batched_with(x, options));
    let both = Ufunc::new("both").with(|[a, b], options| both_batched_with(a, b, options));
    module.add("collatz", collatz.build(py)?)?;
    module.add("root", root.build(py)?)?;
    module.add("share", share.build(py)?)?;
    module.add("checked_root", raises.build(py)?)?;
    module.add("root_or_nan", nan.build(py)?)?;
    module.add("cross", cross.build(py)?)?;
    module.add("norm", norm.build(py)?)?;
    module.add("both", both.build(py)?)
}
