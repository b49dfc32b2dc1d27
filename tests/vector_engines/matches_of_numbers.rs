//! `match` on numbers in loops, in vector code, against the scalar function.

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 400];
const FEW: u32 = 2;

/// By the round, by a number of the member's, by several, by ranges with names and guards.
#[autobatch(strict)]
fn numbers(x: f64, n: u32) -> f64 {
    let (mut s, mut m, mut left) = (x, n as i32 - 40, 0u8);
    for k in 0..30 {
        s = match k % 3 {
            0 => s * 0.9 + 0.25,
            1 => s - 0.1,
            _ => (s * s + 1.0).sqrt(),
        };
        match m & 7 {
            0 => s += 0.5,
            -1 | 3 => {
                s -= 1.0;
                m += 1
            }
            _ => m -= k,
        }
        s += match (m > 0, s > 1.0) {
            (true, false) => 0.5,
            (false, true) => -0.5,
            (true, _) => 0.125,
            (false, _) => -0.125,
        };
        left = match n % 16 + k as u32 {
            FEW => 1,
            u32::MAX => 2,
            n @ 3..=9 if n % 2 == 1 => n as u8,
            n @ (10 | 12) => n as u8 ^ left,
            ..5 => 7,
            _ => left / 2,
        };
    }
    s + f64::from(m) + f64::from(left)
}

fn weight(kind: u8, d: f64) -> f64 {
    match kind {
        0 => 1.0 - d,
        1 if d > 0.5 => 0.25,
        1 => (1.0 - d * d) * 0.75,
        2 => 1.0 / (1.0 + d),
        _ => 0.0,
    }
}

/// In helpers, with exits, in rounds that not all members have, over a shared list.
#[autobatch]
fn helpers(x: f64, n: u32, code: &[u8]) -> f64 {
    let mut s = 0.0;
    for (i, &op) in code.iter().enumerate() {
        s += weight((op + n as u8) % 4, (x - i as f64).abs());
        match op {
            0 => continue,
            1 if s > 20.0 => break,
            2 | 3 => s *= 0.5,
            op => s += f64::from(op),
        }
    }
    for k in 0..n {
        s = match (n + k) % 5 {
            0 => s + 1.0,
            1 => s - 0.5,
            2 => s * 0.75,
            _ => s,
        };
    }
    let mut rest = n;
    while rest > 0 {
        match rest % 4 {
            0 => rest /= 4,
            1 => {
                s -= 0.25;
                rest -= 1;
            }
            _ => rest -= 2,
        }
    }
    s
}

/// A program that all members run.
#[autobatch(strict)]
fn interpreted(x: f64, n: u32, code: &[u8]) -> f64 {
    let (mut a, mut b) = (x, f64::from(n));
    for &op in code {
        match op {
            0 => a += b,
            1 => b -= a * 0.5,
            2 if a > b => std::mem::swap(&mut a, &mut b),
            3 => a = a.abs().sqrt(),
            _ => {
                a *= 0.5;
                b += 0.25;
            }
        }
    }
    a + b
}

fn inputs() -> Vec<(f64, u32)> {
    (0..400).map(|i| (f64::from(i * 37 % 50) * 0.1 - 1.0, (i * 7 % 64) as u32)).collect()
}

#[test]
fn arms_by_numbers() {
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| numbers(x, n),
        |batch, options| numbers_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn in_helpers_and_with_exits() {
    let code: Vec<u8> = (0..40).map(|i| i * i * 7 % 11 % 6).map(|i: u32| i as u8).collect();
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| helpers(x, n, &code),
        |batch, options| helpers_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), &code, options),
    );
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| interpreted(x, n, &code),
        |batch, options| {
            interpreted_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), &code, options)
        },
    );
}
