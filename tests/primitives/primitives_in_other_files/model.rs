//! What a program calls.

pub(crate) mod inner;

use std::cell::Cell;

thread_local! {
    /// The calls of the kernel.
    pub(crate) static CALLS: Cell<usize> = const { Cell::new(0) };
}

#[autobatch::primitive(batched = slopes)]
pub(crate) fn slope(x: f64) -> f64 {
    2.0 * x
}

fn slopes(x: &[f64]) -> Vec<f64> {
    CALLS.set(CALLS.get() + 1);
    x.iter().map(|x| 2.0 * x).collect()
}
