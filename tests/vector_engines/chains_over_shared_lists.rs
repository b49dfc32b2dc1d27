//! Chains of iterator adaptors over what all members share, and loops over such chains.

use crate::common::{agree_at, column};
use autobatch::program::Rounds;
use autobatch::{Program, autobatch};

const SIZES: [usize; 3] = [1, 67, 300];

/// Its fields are read in this file.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    y: f64,
}

#[autobatch(strict)]
fn horner(x: f64, c: &[f64]) -> f64 {
    0.5 + x * c.iter().rev().fold(0.0, |s, &c| s * x + c) - x
}

#[autobatch(strict)]
fn nearest(x: f64, y: f64, points: &[Point]) -> f64 {
    points.iter().map(|p| (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y)).fold(f64::INFINITY, f64::min)
}

#[autobatch(strict)]
fn sums(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    let squares = xs.iter().map(|v| (v - x) * (v - x)).sum::<f64>();
    let product = xs.iter().zip(ys).map(|(a, b)| a * b + x).product::<f64>();
    let above = xs.iter().filter(|&&v| v > x).map(|v| v - x).sum::<f64>();
    let mut rounds = 0;
    let count = (0..xs.len())
        .map(|i| {
            rounds += 1;
            xs[i] * ys[i] + f64::from(rounds)
        })
        .filter(|&v| v > x)
        .count();
    let largest = ys.iter().fold(x, |m: f64, &v| m.max(v));
    squares + product * above + count as f64 + largest + f64::from(rounds)
}

#[autobatch(strict)]
fn searches(x: f64, xs: &[f64], ys: &[f64]) -> usize {
    let mut found = 0;
    if xs.iter().any(|&v| v > x) {
        found += 1;
    }
    if xs.iter().zip(ys.iter()).all(|(a, b)| a + b > x) {
        found += 2;
    }
    if let Some(at) = ys.iter().position(|&v| (v - x).abs() < 0.25) {
        found += 4 * (at + 1);
    }
    let of_squares = xs.iter().map(|v| v * v).position(|v| v > x + 1.0);
    found + of_squares.map_or(0, |at| 1000 * (at + 1))
}

/// A chain in a loop that members leave at different times, and one that they ask again and again.
#[autobatch(strict)]
fn roots(x: f64, c: &[f64]) -> f64 {
    let mut z = x;
    let mut rounds = 0;
    while c.iter().fold(1.0, |s, &c| s * 0.5 + c * z) > x && rounds < 9 {
        let slope = c.iter().skip(1).map(|c| c * z).sum::<f64>();
        z = z * 0.75 - slope * 0.125;
        rounds += 1;
    }
    z
}

/// Closures in locals, and in the second list.
#[autobatch(strict)]
fn with_closures(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    let mut rounds = 0;
    let step = |s: f64, v: &f64| {
        rounds += 1;
        s * x + v
    };
    let sum = xs.iter().fold(0.0, step);
    let product = xs.iter().zip(ys.iter().map(|y| y * x)).map(|(a, b)| a + b).product::<f64>();
    sum + product + f64::from(rounds)
}

/// Loops over parts of lists, and over two at once.
#[autobatch(strict)]
fn parts(x: f64, xs: &[f64], ys: &[f64], points: &[Point]) -> f64 {
    let mut sum = x;
    for w in xs.windows(3) {
        sum += (w[2] - 2.0 * w[1] + w[0]) * (w[1] - x) + sum * 0.125;
    }
    for c in ys.chunks_exact(2) {
        sum -= (c[1] - x) * (c[0] - x) * c.len() as f64;
    }
    for (a, b) in xs.iter().zip(ys).skip(1) {
        sum = sum * 0.5 + a * b;
    }
    for (i, (a, p)) in xs.iter().copied().zip(points).enumerate() {
        sum = sum * 0.75 + a * p.x + p.y * i as f64;
    }
    for w in points.windows(2).rev() {
        let (p, q) = (w[0], w[1]);
        sum += (q.x - p.x) * (x - p.y) - (q.y - p.y) * (sum - p.x) * 0.0625;
    }
    for &v in xs.iter().rev().take(5) {
        sum = sum * 0.5 + v;
    }
    sum
}

fn lists() -> (Vec<f64>, Vec<f64>, Vec<Point>) {
    let xs = (0..23).map(|i| f64::from(i * 7 % 11) / 8.0 - 0.5).collect();
    let ys = (0..23).map(|i| f64::from(i * 5 % 13) / 8.0 - 0.75).collect();
    let points = (0..19).map(|i| Point { x: f64::from(i % 5), y: f64::from(i * 3 % 7) / 2.0 }).collect();
    (xs, ys, points)
}

fn inputs() -> Vec<(f64, f64)> {
    (0..300).map(|i| (f64::from(i * 37 % 101) / 30.0 - 1.5, f64::from(i * 53 % 97) / 24.0 - 2.0)).collect()
}

#[test]
fn chains_are_those_of_the_scalar_function() {
    let (all_xs, all_ys, all_points) = lists();
    let inputs = inputs();
    for len in [23, 1, 0] {
        let (xs, ys, points) = (&all_xs[..len], &all_ys[..len], &all_points[..len.min(19)]);
        let x = |b: &[(f64, f64)]| column(b, |m| m.0);
        agree_at(&SIZES, &inputs, |m| horner(m.0, xs), |b, o| horner_batched_with(x(b), xs, o));
        agree_at(
            &SIZES,
            &inputs,
            |m| nearest(m.0, m.1, points),
            |b, o| nearest_batched_with(x(b), column(b, |m| m.1), points, o),
        );
        agree_at(&SIZES, &inputs, |m| sums(m.0, xs, ys), |b, o| sums_batched_with(x(b), xs, ys, o));
        agree_at(&SIZES, &inputs, |m| searches(m.0, xs, ys), |b, o| searches_batched_with(x(b), xs, ys, o));
        agree_at(&SIZES, &inputs, |m| roots(m.0, xs), |b, o| roots_batched_with(x(b), xs, o));
        agree_at(
            &SIZES,
            &inputs,
            |m| with_closures(m.0, xs, ys),
            |b, o| with_closures_batched_with(x(b), xs, ys, o),
        );
        agree_at(
            &SIZES,
            &inputs,
            |m| parts(m.0, xs, ys, points),
            |b, o| parts_batched_with(x(b), xs, ys, points, o),
        );
    }
    let interchanged =
        |program: &Program| program.loops.iter().filter(|l| l.rounds == Rounds::Interchanged).count();
    assert_eq!(interchanged(horner_batched::program()), 1, "{}", horner_batched::program());
    assert_eq!(interchanged(nearest_batched::program()), 1, "{}", nearest_batched::program());
    assert_eq!(interchanged(parts_batched::program()), 5, "{}", parts_batched::program());
}
