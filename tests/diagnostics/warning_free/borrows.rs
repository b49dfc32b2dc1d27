//! Locals that are lent, references that change, state that borrows, and functions with a batched kernel.

use ::std::fmt::Write as _;
use autobatch::{autobatch, primitive};
use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut2};

/// Locals lent to a call, mutably too.
#[autobatch]
pub mod lent {
    /// Lends.
    #[must_use]
    pub fn entry(n: u64) -> u64 {
        let mut seen = [n].to_vec();
        below(n, &mut seen) + sum(&seen)
    }

    fn below(n: u64, seen: &mut Vec<u64>) -> u64 {
        if n == 0 {
            return 0;
        }
        seen.push(n);
        below(n - 1, seen) + below(n / 2, seen)
    }

    fn sum(values: &[u64]) -> u64 {
        let mut sum = 0;
        for value in values {
            if *value > 7 {
                break;
            }
            sum += value;
        }
        sum
    }
}

/// A reference to a local, across a loop.
#[autobatch]
#[must_use]
pub fn across_a_loop(n: u32) -> u32 {
    let mut values = [n, 7];
    let first = &mut values[0];
    let mut i = 0;
    while i < n {
        *first += i;
        i += 1;
    }
    values[0]
}

/// Parts of a slice, down a recursion.
#[autobatch(strict)]
#[must_use]
pub fn halves(#[each] xs: &[u32], key: u32) -> Option<usize> {
    let middle = xs.len() / 2;
    let found = xs.get(middle)?;
    match (*found).cmp(&key) {
        ::std::cmp::Ordering::Equal => Some(middle),
        ::std::cmp::Ordering::Greater => halves(&xs[..middle], key),
        ::std::cmp::Ordering::Less => halves(&xs[middle + 1..], key).map(|at| at + middle + 1),
    }
}

/// State that borrows from what is shared.
#[autobatch(strict)]
pub fn note<'a>(seen: &mut Vec<&'a str>, names: &'a [String], n: usize) -> usize {
    if n >= names.len() {
        return 0;
    }
    seen.push(&names[n]);
    1 + note(seen, names, 2 * n + 1)
}

/// A receiver that borrows and is changed.
#[derive(Debug, Default)]
pub struct Walk<'a> {
    seen: Vec<&'a str>,
}

#[autobatch(strict)]
impl<'a> Walk<'a> {
    /// Walks.
    pub fn walk(&mut self, names: &'a [String], n: usize) -> usize {
        if n >= names.len() {
            return self.seen.len();
        }
        self.seen.push(&names[n]);
        self.walk(names, n + 2)
    }
}

/// Has a kernel that changes a vector in place.
#[primitive(batched = slopes)]
pub fn slope(scale: &f64, at: &Array1<f64>, out: &mut Array1<f64>) -> f64 {
    out.assign(&(at * *scale));
    at.dot(at)
}

/// The kernel.
#[must_use]
#[allow(clippy::needless_pass_by_value)]
pub fn slopes(scale: &f64, at: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) -> Array1<f64> {
    out.assign(&(&at * *scale));
    at.rows().into_iter().map(|at: ArrayView1<'_, f64>| at.dot(&at)).collect()
}

/// Calls it.
#[autobatch(strict)]
#[must_use]
pub fn descend(scale: &f64, mut at: Array1<f64>, tolerance: f64) -> u32 {
    let mut grad = Array1::zeros(at.len());
    let mut steps = 0;
    while slope(scale, &at, &mut grad) > tolerance && steps < 100 {
        at.scaled_add(-0.1, &grad);
        steps += 1;
    }
    steps
}

/// Text that is written to, across calls.
///
/// # Errors
///
/// Never.
#[autobatch(strict)]
pub fn written(n: u32, mut text: String) -> Result<String, ::std::fmt::Error> {
    if n == 0 {
        return Ok(text);
    }
    write!(text, "{n} ")?;
    written(n / 2, text)
}
