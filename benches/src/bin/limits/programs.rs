//! The programs whose limits are measured.

#![allow(clippy::manual_is_multiple_of)] // written as users write

use autobatch::{Options, autobatch, same};

use crate::costs::Program;
use crate::sampler;

#[autobatch(strict)]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

#[autobatch(strict)]
fn mandel(re: f64, im: f64) -> u32 {
    let (mut x, mut y, mut n) = (0.0, 0.0, 0);
    while x * x + y * y <= 4.0 && n < 256 {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        n += 1;
    }
    n
}

/// Ways to place queens in the free columns.
#[autobatch(strict)]
fn queens(all: u32, columns: u32, left: u32, right: u32) -> u32 {
    if columns == all {
        return 1;
    }
    let mut free = all & !(columns | left | right);
    let mut ways = 0;
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        ways += queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    ways
}

#[autobatch(strict)]
fn newton(x: f64) -> f64 {
    let mut root = x;
    for _ in 0..40 {
        let next = 0.5 * (root + x / root);
        if (next - root).abs() < 1e-12 {
            break;
        }
        root = next;
    }
    root
}

/// A generator that each member has.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[autobatch(strict)]
fn walk(state: &mut u64, steps: u32) -> f64 {
    let mut x = 0.0f64;
    for _ in 0..steps {
        x += (random(state) >> 11) as f64 * (1.0 / 9007199254740992.0) - 0.5;
        if x.abs() > 8.0 {
            break;
        }
    }
    x
}

#[autobatch(strict)]
fn fib_counted(n: u64, calls: &mut u64) -> u64 {
    *calls += 1;
    if n <= 1 { 1 } else { fib_counted(n - 2, calls) + fib_counted(n - 1, calls) }
}

#[autobatch(strict)]
fn queens_counted(all: u32, columns: u32, left: u32, right: u32, calls: &mut u64) -> u32 {
    *calls += 1;
    if columns == all {
        return 1;
    }
    let mut free = all & !(columns | left | right);
    let mut ways = 0;
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        ways += queens_counted(all, columns | bit, (left | bit) << 1, (right | bit) >> 1, calls);
    }
    ways
}

#[autobatch(strict)]
fn branching(state: &mut u64, depth: u32) -> u32 {
    let r = random(state);
    if depth == 0 || r % 3 == 0 {
        return 1;
    }
    let mut leaves = branching(state, depth - 1);
    if r % 5 < 3 {
        leaves += branching(state, depth - 1);
    }
    leaves
}

/// The integral of `1 / x`, by halves where it is not exact.
#[autobatch(strict)]
fn quadrature(from: f64, to: f64, evaluations: &mut u32) -> f64 {
    *evaluations += 3;
    let middle = 0.5 * (from + to);
    let whole = (to - from) / 6.0 * (1.0 / from + 4.0 / middle + 1.0 / to);
    let (a, b) = (0.5 * (from + middle), 0.5 * (middle + to));
    let left = (middle - from) / 6.0 * (1.0 / from + 4.0 / a + 1.0 / middle);
    let right = (to - middle) / 6.0 * (1.0 / middle + 4.0 / b + 1.0 / to);
    if (left + right - whole).abs() < 1e-13 || to - from < 1e-9 {
        return left + right;
    }
    quadrature(from, middle, evaluations) + quadrature(middle, to, evaluations)
}

/// Values that own memory, and a loop over each of them.
#[autobatch(strict)]
fn letters(depth: u32, text: String, seen: &mut u64) -> usize {
    let mut vowels = 0;
    let mut at = 0;
    while at < text.len() {
        if b"aeiou".contains(&text.as_bytes()[at]) {
            vowels += 1;
        }
        at += 1;
    }
    *seen += 1;
    if depth == 0 { vowels } else { letters(depth - 1, text.clone(), seen) + letters(depth - 1, text, seen) }
}

/// One call each.
#[autobatch(strict)]
fn short(n: u64, calls: &mut u64) -> u64 {
    *calls += 1;
    if n == 0 { 7 } else { short(n - 1, calls) }
}

pub(crate) fn plain() -> Vec<Program> {
    let n: Vec<u64> = (0..4096).map(|i| 10 + i % 10).collect();
    let few = n[..300].to_vec();
    let (re, im): (Vec<f64>, Vec<f64>) =
        (0..384 * 256).map(|i| (f64::from(i % 384) / 128.0 - 2.0, f64::from(i / 384) / 128.0 - 1.0)).unzip();
    let all: Vec<u32> = (0..4000).map(|i| (1 << (4 + i % 5)) - 1).collect();
    let x: Vec<f64> = (1..=100_000).map(f64::from).collect();
    let mut states: Vec<u64> = (1..=4096).collect();
    vec![
        Program::new("fib", move |o| drop(fib_batched_with(&n, o).unwrap())),
        Program::new("fib, 300 members", move |o| drop(fib_batched_with(&few, o).unwrap())),
        Program::new("mandel", move |o| drop(mandel_batched_with(&re, &im, o).unwrap())),
        Program::new("queens", move |o| {
            drop(queens_batched_with(&all, same(0), same(0), same(0), o).unwrap());
        }),
        Program::new("newton", move |o| drop(newton_batched_with(&x, o).unwrap())),
        Program::new("random walk", move |o| {
            states.iter_mut().enumerate().for_each(|(i, state)| *state = 1 + i as u64);
            drop(walk_batched_with(&mut states, same(400), o).unwrap());
        }),
        sampler::program(),
    ]
}

pub(crate) fn with_states() -> Vec<Program> {
    let n: Vec<u64> = (0..4096).map(|i| i % 16).collect();
    let all = |from: u32, to: u32, members: u32| -> Vec<u32> {
        (0..members).map(|i| (1 << (from + i % (to - from + 1))) - 1).collect()
    };
    let (small, large) = (all(3, 7, 2000), all(8, 9, 256));
    let ends: Vec<f64> = (0..4096).map(|i| 1.1 + f64::from(i) * 0.002).collect();
    let (one, more) = (vec![0; 4096], vec![0; 100_000]);
    let mut of_more = vec![0u64; more.len()];
    let (mut calls, mut states) = (vec![0u64; 4096], vec![0u64; 4096]);
    let mut evaluations = vec![0u32; 4096];
    let counters = || vec![0u64; 4096];
    let (mut of_small, mut of_large, mut of_text, mut of_one) =
        (counters(), counters(), counters(), counters());
    vec![
        Program::new("fib", move |o| drop(fib_counted_batched_with(&n, &mut calls, o).unwrap())),
        Program::new("queens of 3 to 7", move |o| {
            let calls = &mut of_small[..small.len()];
            drop(queens_counted_batched_with(&small, same(0), same(0), same(0), calls, o).unwrap());
        }),
        Program::new("queens of 8 and 9, 256 members", move |o| {
            let calls = &mut of_large[..large.len()];
            drop(queens_counted_batched_with(&large, same(0), same(0), same(0), calls, o).unwrap());
        }),
        Program::new("a random walk that branches", move |o: &Options| {
            states.iter_mut().enumerate().for_each(|(i, state)| *state = 1 + i as u64);
            drop(branching_batched_with(&mut states, same(12), o).unwrap());
        }),
        Program::new("quadrature", move |o| {
            drop(quadrature_batched_with(same(1.0), &ends, &mut evaluations, o).unwrap());
        }),
        Program::new("texts", move |o| {
            let (calls, text) = (&mut of_text[..500], same("a text of some words".to_owned()));
            drop(letters_batched_with(same(3), text, calls, o).unwrap());
        }),
        Program::new("one call each, 4 096 members", move |o| {
            drop(short_batched_with(&one, &mut of_one, o).unwrap());
        }),
        Program::new("one call each, 100 000 members", move |o| {
            drop(short_batched_with(&more, &mut of_more, o).unwrap());
        }),
    ]
}
