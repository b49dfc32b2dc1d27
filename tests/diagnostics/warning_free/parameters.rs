//! Parameters of every kind.

#![allow(clippy::cast_precision_loss, clippy::needless_pass_by_value, clippy::needless_lifetimes)]
#![allow(let_underscore_drop)]

use ::core::fmt::Debug;

use autobatch::{BatchError, Options, Ragged, RaggedMut, autobatch, same};
use ndarray::{Array1, Array2, ArrayView1};

/// Columns of values, arrays and vectors.
#[autobatch(strict)]
#[must_use]
pub fn columns(x: f64, y: [f64; 3], z: Array1<f64>, mut w: f64) -> f64 {
    while w < x * y[0] + z[0] {
        w += y[1] + y[2] + 1.0;
    }
    w
}

/// A parameter that is not used, and one that is only a pattern.
#[autobatch(strict)]
#[must_use]
pub fn patterns(_unused: u32, (a, b): (u32, u32), [c, ..]: [u32; 3], _: u8) -> u32 {
    let mut total = a;
    while total < b {
        total += c + 1;
    }
    total
}

/// Shared by all members: references, slices, strings, trait objects, values.
#[autobatch(strict)]
#[must_use]
pub fn shared(
    n: usize,
    table: &[f64],
    name: &str,
    value: &f64,
    model: &(dyn Fn(f64) -> f64 + Sync),
    #[shared] scale: f64,
) -> f64 {
    let mut sum = name.len() as f64 * *value;
    let mut i = 0;
    while i < n.min(table.len()) {
        sum += model(table[i]) * scale;
        i += 1;
    }
    sum
}

/// One slice per member.
#[autobatch(strict)]
#[must_use]
pub fn slices(#[each] xs: &[f64], #[each] name: &str, #[each] limit: &f64) -> f64 {
    let mut sum = 0.0;
    for x in xs {
        sum += x;
        if sum > *limit {
            return name.len() as f64;
        }
    }
    sum
}

/// State that goes in and out.
#[autobatch(strict)]
pub fn state(seed: &mut u64, #[each] row: &mut [u64], n: u32) {
    for _ in 0..n {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        for x in row.iter_mut() {
            *x ^= *seed;
        }
    }
}

/// A view per member.
#[autobatch(strict)]
#[must_use]
pub fn views(row: ArrayView1<'_, f64>, least: f64) -> usize {
    let mut i = 0;
    while i < row.len() && row[i] < least {
        i += 1;
    }
    i
}

/// Lifetimes that are named, and results that borrow.
#[autobatch(strict)]
#[must_use]
pub fn longest<'w>(words: &'w [String], from: usize) -> &'w str {
    let mut best = "";
    let mut i = from;
    while i < words.len() {
        if words[i].len() > best.len() {
            best = &words[i];
        }
        i += 1;
    }
    best
}

/// Elided lifetimes in the result.
#[autobatch(strict)]
#[must_use]
pub fn first_after(words: &[String], mut at: usize) -> Option<&String> {
    while at < words.len() && words[at].is_empty() {
        at += 1;
    }
    words.get(at)
}

/// Generic, with bounds of several kinds.
#[autobatch(strict)]
#[must_use]
pub fn generic<T, const N: usize, M: Debug>(x: T, rows: &[T; N], marker: M) -> (usize, M)
where
    T: Copy + PartialOrd,
{
    let mut i = 0;
    while i < N && rows[i] < x {
        i += 1;
    }
    (i, marker)
}

/// Calls all of them.
///
/// # Errors
///
/// Where columns don't fit.
pub fn call() -> Result<f64, BatchError> {
    let rows = Array2::<f64>::zeros((2, 3));
    let mut out = vec![0.0; 2];
    columns_batched_into(&[1.0, 2.0], &rows, rows.view(), same(0.0), &mut out);
    let options = Options::default().threads(1);
    let patterns = patterns_batched_with(&[1, 2], same((1, 9)), &[[1; 3]; 2], vec![0; 2], &options)?;
    let shared = shared_batched(&[1, 2], &[1.0, 2.0], "name", &0.5, &|x| x * 2.0, 0.1);
    let values = [1.0, 2.0, 3.0];
    let slices = slices_batched(Ragged::new(&values, &[0, 1, 3]), &["a", "b"], &[1.0, 2.0]);
    let (mut seeds, mut state) = ([1, 2], [1, 2, 3]);
    let _: Vec<()> = state_batched(&mut seeds, RaggedMut::new(&mut state, &[0, 0, 3]), same(3));
    let views = views_batched(&rows, same(1.0));
    let words = [String::from("a"), String::from("bc")];
    let longest: Vec<&str> = longest_batched(&words, &[0, 1]);
    let first: Vec<Option<&String>> = first_after_batched(&words, &[0, 1]);
    let generic = generic_batched::<f64, 3, ()>(&[1.0, 2.0], &values, &[(), ()]);
    let count = patterns.report().members + views[0] + longest.len() + first.len() + generic[0].0;
    Ok(out[0] + shared[0] + slices[0] + count as f64)
}

/// Parentheses that the user needs.
#[autobatch]
pub fn with_parentheses(x: usize, text: &(impl AsRef<str> + Sync)) -> usize {
    let mut y = x;
    while y > 3 {
        y -= text.as_ref().len().clamp(1, 3);
    }
    y
}
