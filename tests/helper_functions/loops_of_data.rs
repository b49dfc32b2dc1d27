//! Helpers whose loops run as often as the data say: copied into the program or not, the results are the scalar function's.

// Written as users write.
#![allow(clippy::manual_is_multiple_of, clippy::needless_borrows_for_generic_args, clippy::needless_return)]

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 500];

fn cube_root(a: f64) -> f64 {
    let mut x = 0.5 * (1.0 + a);
    let mut before = 0.0;
    while (x - before).abs() > 1e-13 * x {
        before = x;
        x -= (x * x * x - a) / (3.0 * x * x);
    }
    x
}

/// The steps of Collatz's sequence, with ends of every kind.
fn steps(mut n: u64, most: u32) -> u32 {
    if n == 0 {
        return most;
    }
    let mut k = 0;
    loop {
        if n == 1 {
            return k;
        }
        if k >= most {
            break;
        }
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        k += 1;
    }
    most + 1
}

/// Returns from a loop in a loop, which has no other end.
fn first_square_above(n: u32) -> u32 {
    let mut low = 1;
    loop {
        for i in 0..low {
            if (low + i) * (low + i) > n {
                return (low + i) * (low + i);
            }
        }
        low *= 2;
    }
}

/// Loops with values.
fn digits(n: u64) -> u64 {
    let mut left = n;
    let mut sum = 0;
    let last = loop {
        if left < 10 {
            break left;
        }
        sum += left % 10;
        left /= 10;
    };
    10 * sum + last
}

fn power(x: f64, n: u32) -> f64 {
    let mut product = 1.0;
    for _ in 0..n {
        product *= x;
    }
    product
}

#[autobatch(strict)]
fn sums(x: f64, n: u64) -> f64 {
    let mut sum = 0.0;
    for i in 0..6 {
        let root = cube_root(x + i as f64);
        sum += root + f64::from(steps(n + i, 40)) - 0.5 * f64::from(first_square_above((n % 500) as u32));
        sum += power(0.5 * root, (n % 7) as u32) + digits(n * i) as f64;
    }
    sum
}

fn inputs() -> Vec<(f64, u64)> {
    (0..150).map(|i| (f64::from(i) * 0.37 + 0.01, u64::from(i as u32) * 7919 % 1000)).collect()
}

#[test]
fn loops_of_every_kind() {
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| sums(x, n),
        |batch, options| sums_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
}

/// Calls where not all members come to them, and where something is evaluated before.
#[autobatch(strict)]
fn places(x: f64, n: u64) -> f64 {
    let table = [1.0, 2.0, 4.0];
    let mut y = x;
    let mut rounds = 0;
    while cube_root(y + 1.0) > 1.2 && (rounds < 3 || steps(rounds, 9) < 4) {
        y *= 0.75;
        rounds += 1;
    }
    let z = y / (1.0 + x) + cube_root(y + 2.0) * table[(steps(n, 5) % 3) as usize];
    let w = match steps(n + 1, 30) {
        0 => cube_root(z + 1.0),
        1..=12 if digits(n) > 30 => -z,
        other => f64::from(other),
    };
    if n % 5 == 0 {
        return cube_root(w.abs() + 1.0);
    }
    w + if n % 3 == 1 { cube_root(x + 3.0) } else { 0.0 }
}

#[test]
fn calls_in_every_place() {
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| places(x, n),
        |batch, options| places_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Xorshift(u64);

impl Xorshift {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A point of the disc.
    fn point(&mut self) -> (f64, f64) {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            if x * x + y * y < 1.0 {
                return (x, y);
            }
        }
    }
}

/// Tries until one is taken, and counts.
fn below(rng: &mut Xorshift, tries: &mut u32, bound: u64) -> u64 {
    let mut bits = rng.bits() >> 58;
    while bits >= bound {
        *tries += 1;
        bits = rng.bits() >> 58;
    }
    bits
}

#[autobatch(strict)]
fn walk(seed: u64, bound: u64) -> (f64, u32) {
    let mut rng = Xorshift(seed);
    let (mut at, mut tries) = (0.0, 0);
    for i in 0..12 {
        let (x, y) = rng.point();
        at += x - y * i as f64;
        if below(&mut rng, &mut tries, bound) % 2 == 0 {
            at = -at;
        }
    }
    (at, tries)
}

#[autobatch(strict)]
fn walk_of_state(rng: &mut Xorshift, bound: u64) -> (f64, u64) {
    let mut at: f64 = 0.0;
    let mut tries = 0;
    while at.abs() < 4.0 && tries < 60 {
        let (x, y) = rng.point();
        at += x + 0.5 * y + below(rng, &mut tries, bound) as f64 * 0.01;
    }
    (at, rng.0)
}

#[test]
fn rejection_by_methods_and_functions() {
    let inputs: Vec<(u64, u64)> = (0..150).map(|i| (i * 77_777 + 1, 5 + i % 60)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(seed, bound)| walk(seed, bound),
        |batch, options| walk_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
    agree_at(
        SIZES,
        &inputs,
        |&(seed, bound)| walk_of_state(&mut Xorshift(seed), bound),
        |batch, options| {
            let mut states: Vec<Xorshift> = batch.iter().map(|i| Xorshift(i.0)).collect();
            walk_of_state_batched_with(&mut states, &column(batch, |i| i.1), options)
        },
    );
}

/// A root, if there is one soon.
fn soon(a: f64, most: u32) -> Option<f64> {
    let mut x = 0.5 * (1.0 + a);
    for _ in 0..most {
        let step = (x * x - a) / (2.0 * x);
        x -= step;
        if step.abs() < 1e-9 {
            return Some(x);
        }
    }
    None
}

fn pair(n: u64) -> Option<(f64, u32)> {
    let (mut k, mut m) = (0, n);
    while m > 1 {
        if k > 12 {
            return None;
        }
        m = if m & 1 == 0 { m >> 1 } else { m + 1 };
        k += 1;
    }
    Some((k as f64 * 0.5, k))
}

#[autobatch(strict)]
fn maybe(x: f64, n: u64) -> f64 {
    let mut sum = 0.0;
    for i in 0..5 {
        let most = (n % 6) as u32 + i;
        sum += soon(x + f64::from(i), most).unwrap_or(-0.5);
        match soon(x * f64::from(i + 1), most + 1) {
            Some(root) if root > 2.0 => sum -= root,
            Some(root) => sum += 2.0 * root,
            None => sum *= 0.5,
        }
        if let Some((half, k)) = pair(n + u64::from(i)) {
            sum += half / f64::from(k + 1);
        }
        if soon(sum.abs(), 3).is_some() && pair(n).is_none() {
            sum += 1.0;
        }
    }
    sum
}

#[test]
fn helpers_that_may_find_nothing() {
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| maybe(x, n),
        |batch, options| maybe_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
}
