//! Ownership in the scalar function is ownership in the batched one: what is written through a shared borrow is
//! kept, what is borrowed lives as long as its borrows, and each value is dropped once, in its turn.
//!
//! rustc has checked each of these functions. None of them is `strict`: a function whose locals may borrow from
//! one another runs its scalar code for each member.

#![forbid(unsafe_code)]
// The code here is as users write it, not as one should: each odd form is a way that a reference can take.
#![allow(clippy::all)]

#[path = "../common/mod.rs"]
mod common;

mod aliases_write_through;
mod borrows_stay_valid;
mod casts_and_methods_borrow;
mod containers_hold_references;
mod types_are_inferred;
mod writes_are_kept;

use std::fmt::Debug;

use autobatch::{BatchError, Options, Outcome};
use common::{Bits, agree_at};

/// Compares a batched function with its scalar one on each of the inputs, a value per member.
macro_rules! agree {
    ($inputs:expr, $scalar:expr, $batched:expr) => {
        $crate::hold(&$inputs, $scalar, $batched)
    };
}
pub(crate) use agree;

/// One test a promise.
macro_rules! promises {
    ($($promise:ident: $scalar:path, $batched:path, $inputs:expr;)*) => {
        $(#[test]
        fn $promise() {
            $crate::agree!(
                $inputs,
                |input| $scalar(input.clone()),
                |batch, options| $batched(batch, options)
            );
        })*
    };
}
pub(crate) use promises;

/// The scalar function is the oracle. The inputs have to lead to results that differ, or a test could not fail.
#[track_caller]
fn hold<I, R>(
    inputs: &[I],
    scalar: fn(&I) -> R,
    batched: fn(&[I], &Options<'_>) -> Result<Outcome<R>, BatchError>,
) where
    I: Clone + Debug,
    R: Bits,
{
    assert_eq!(inputs.len(), 37);
    let expected: Vec<R> = inputs.iter().map(scalar).collect();
    let differing = (1..expected.len()).filter(|&at| !expected[at].same(&expected[at - 1])).count();
    assert!(differing > 8, "only {differing} of the results differ from their neighbours");
    agree_at(&[1, 211], inputs, scalar, batched);
}

/// Small numbers in no order.
fn numbers() -> Vec<u64> {
    (0..37).map(|i| i * i % 53 + i % 5 + 1).collect()
}

fn floats() -> Vec<f64> {
    (0..37).map(|i| f64::from(i * i % 41) * 0.37 - 3.1).collect()
}

/// Lists of different lengths, none empty.
fn lists() -> Vec<Vec<f64>> {
    let list = |i: u32| (0..1 + i * 7 % 11).map(|k| f64::from(i * i % 19 + k * 5 % 7) * 0.25 - 1.0).collect();
    (0..37).map(list).collect()
}

/// Words and numbers, separated by blanks.
fn texts() -> Vec<String> {
    const WORDS: [&str; 7] = ["ash", "beech", "12", "elm", "fir", "oak", "7"];
    let text = |i: usize| {
        let words: Vec<_> = (0..1 + i * 5 % 9).map(|k| WORDS[(i * 3 + k * k) % 7]).collect();
        words.join(" ")
    };
    (0..37).map(text).collect()
}

/// Owns numbers that borrows can be taken of, in itself and on the heap. A borrow that outlives it reads what is there
/// then; one of the numbers in it reads the place that it left, too.
#[derive(Debug)]
struct Rows {
    d: [f64; 8],
    heap: Vec<f64>,
}

impl Rows {
    fn of(n: u64) -> Self {
        let d = std::array::from_fn(|k| ((n as usize * 7 + k * k) % 61) as f64 * 0.5 + k as f64);
        Self { d, heap: d.to_vec() }
    }

    /// Ends it.
    fn spent(mut self) -> f64 {
        self.heap.reverse();
        self.heap.iter().zip(&self.d).fold(0.0, |sum, (a, b)| sum * 0.5 + a - b * 0.25)
    }
}

/// Lends from numbers of another.
struct View<'a> {
    of: &'a [f64],
    by: f64,
}

impl View<'_> {
    fn at(&self, k: u64) -> f64 {
        self.of[k as usize % self.of.len()] * self.by
    }
}
