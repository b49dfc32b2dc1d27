//! Chains over ranges whose ends the data say, against the scalar function.

// Written as users write.
#![allow(clippy::manual_is_multiple_of)]

use autobatch::autobatch;

use crate::common::{agree_at, column};

/// Ends of every kind, and all that a chain may end with.
#[autobatch(strict)]
fn chains(x: f64, n: u32) -> f64 {
    let sum: f64 = (0..n).map(|i| 1.0 / (x + f64::from(i) + 1.0)).sum();
    let product = (1..=n % 5).map(|i| x + f64::from(i)).product::<f64>();
    let folded = (n / 3..n + 1).fold(0.0, |s, i| s * 0.5 + f64::from(i) * x);
    let count = (0..n as u64 * 2).filter(|&i| i * i % 7 > 2).count();
    let found = (0..n).any(|i| f64::from(i * i) > 40.0 * x) as u32;
    let place = (1..n as usize).position(|i| i * i > n as usize).unwrap_or(99);
    sum + product - folded + (count + place) as f64 + f64::from(found)
}

/// Where members come to it equally often, under a condition, and in a loop of the data's.
#[autobatch(strict)]
fn places(x: f64, n: u32) -> f64 {
    let mut total = x;
    for k in 0..4u32 {
        total += (0..n % (k + 2)).map(|i| f64::from(i) * x).sum::<f64>();
    }
    if n % 2 == 0 {
        total -= (k_of(n)..n).map(f64::from).fold(0.0, |s, i| s + i / (1.0 + x));
    }
    let mut left = n;
    while left > 3 && (0..left).map(|i| f64::from(i) * 0.5).sum::<f64>() > x {
        left /= 2;
        total += 1.0;
    }
    total
}

fn k_of(n: u32) -> u32 {
    n / 4
}

/// Several values at once, in tuples and arrays whose types only the closure tells.
#[autobatch(strict)]
fn folds_of_several(x: f64, n: u32) -> f64 {
    let (sum, squares) =
        (0..n % 20).fold((0.0, 0.0), |(s, q), i| (s + f64::from(i) * x, q + f64::from(i * i)));
    let (p, [q, r]) =
        (0..n / 3).fold((x, [0.5, 1.0]), |(a, [b, c]), i| (c - a, [a * 0.5, b + f64::from(i).sqrt()]));
    let (last, _) = [x, sum, p].iter().fold((1.0, n), |(y, k), &z| (y * 0.25 + z, k / 2));
    squares - q * r + last
}

#[test]
fn ends_of_every_kind() {
    let inputs: Vec<(f64, u32)> = (0..120).map(|i| (f64::from(i) * 0.11, i * 7 % 31)).collect();
    let sizes = [1, 33, 300];
    agree_at(
        &sizes,
        &inputs,
        |&(x, n)| chains(x, n),
        |batch, options| chains_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
    agree_at(
        &sizes,
        &inputs,
        |&(x, n)| places(x, n),
        |batch, options| places_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
    agree_at(
        &sizes,
        &inputs,
        |&(x, n)| folds_of_several(x, n),
        |batch, options| {
            folds_of_several_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options)
        },
    );
}
