//! Generic functions of all kinds: what keeps their errors from being shown twice must accept all of them.

#![allow(missing_docs, missing_debug_implementations, clippy::must_use_candidate)]
#![allow(clippy::needless_pass_by_value, clippy::only_used_in_recursion)]

use ::std::ops::{Add, Mul};

use autobatch::autobatch;

pub struct Part<'a, T> {
    values: &'a [T],
    count: &'a mut usize,
}

/// The first value.
#[autobatch]
pub fn first<T: Copy + Send + Sync>(part: &Part<'_, T>, n: usize) -> T {
    let all = *part.count + part.values.len();
    if n == 0 { part.values[all / 2] } else { first(part, n - 1) }
}

#[autobatch]
impl<'a, T: Copy + Send + Sync> Part<'a, T> {
    /// A reference to it.
    pub fn borrowed(&self, n: usize) -> &'a T {
        if n == 0 { &self.values[0] } else { self.borrowed(n - 1) }
    }
}

/// An array as a slice.
#[autobatch]
pub fn sliced<T: Sync>(x: &[T; 3], n: usize) -> &[T] {
    if n == 0 { x } else { sliced(x, n - 1) }
}

/// A closure behind a pointer.
#[autobatch]
pub fn boxed<T: Copy + Send + Into<f64> + 'static>(x: T, n: usize) -> Box<dyn Fn(f64) -> f64 + Send> {
    if n == 0 { Box::new(move |y| y + x.into()) } else { boxed(x, n - 1) }
}

/// A pointer to a function.
#[autobatch]
pub fn pointer<T: Copy>(x: T, n: usize) -> fn(T) -> T {
    if n == 0 { |y| y } else { pointer(x, n - 1) }
}

/// References to values that are not named.
#[autobatch]
pub fn lent<T: Copy + Send + Sync>(n: usize, #[each] v: &[T]) -> usize {
    if n == 0 { v.len() } else { lent(n - 1, &v.to_vec()[1..]) + lent(n - 1, &[v[0], v[0]]) }
}

/// Operators that take references.
#[autobatch]
pub fn doubled<T: Copy>(n: u64, x: T) -> T
where
    for<'a> &'a T: Add<&'a T, Output = T>,
{
    if n == 0 { &x + &x } else { doubled(n - 1, x) }
}

/// Operators whose types follow from the result.
#[autobatch]
pub fn sum<T: Copy + Default + From<u8> + Mul<Output = T> + Add<Output = T>>(n: u64, x: T) -> T {
    if n == 0 {
        T::from(2) * x + Default::default()
    } else {
        let rest: T = sum(n - 1, x);
        rest + x
    }
}

/// Values that are moved.
#[autobatch]
pub fn moved<T: Clone + Add<Output = T>>(n: u64, x: T) -> T {
    if n == 0 { x.clone() + x } else { moved(n - 1, x.clone() + x) }
}

/// Nothing but what it changes.
#[autobatch]
pub fn stored<T: Copy>(n: u64, x: T, out: &mut T) {
    *out = x;
    if n > 0 {
        stored(n - 1, x, out);
    }
}

/// A constant function.
#[autobatch]
pub const fn constant<const N: usize>(n: usize, x: [u8; N]) -> usize {
    if n == 0 { x.len() } else { constant(n - 1, x) + 1 }
}
