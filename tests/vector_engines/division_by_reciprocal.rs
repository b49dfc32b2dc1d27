//! Divisions in uniform loops by a divisor that the loop does not change: exact in all lanes, for all operands.

#![allow(clippy::needless_range_loop, clippy::assign_op_pattern)] // written as users write

use crate::common::{agree_at, column};
use autobatch::{Options, autobatch};

const SIZES: [usize; 3] = [1, 97, 211];

/// Numbers of all magnitudes, both signs, and special ones.
fn number(i: usize) -> f32 {
    let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-40, f32::MAX];
    let mantissa = 1.0 + (i * 7919 % 10_007) as f32 / 10_007.0;
    match i % 13 {
        0 => special[i / 13 % special.len()],
        r => mantissa * 2f32.powi((i * 31 % 80) as i32 - 40) * if r % 3 == 0 { -1.0 } else { 1.0 },
    }
}

/// Divisors near 1, as in most programs.
fn near_one(i: usize) -> f32 {
    0.5 + (i * 6007 % 10_009) as f32 / 10_009.0
}

/// As long as nothing but the divisor decides, results differ in their last digits.
#[autobatch(strict)]
fn averages(x: f32, y: f32, steps: usize) -> f32 {
    let mut row = [0.0f32; 20];
    for k in 0..20 {
        row[k] = x * (k as f32 - 3.0) / y;
    }
    for _ in 0..20 {
        for k in 0..19 {
            row[k] = (0.75 * row[k] + 0.25 * row[k + 1]) / y;
        }
    }
    row[steps % 20]
}

#[test]
fn rows_are_divided_by_a_number_of_the_member() {
    let inputs: Vec<(f32, f32, usize)> = (0..211).map(|i| (number(5 * i + 1), near_one(i), i)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y, n)| averages(x, y, n),
        |b, o| averages_batched_with(column(b, |i| i.0), column(b, |i| i.1), column(b, |i| i.2), o),
    );
}

/// The divisors of each member are special ones, too.
#[test]
fn special_divisors() {
    let inputs: Vec<(f32, f32, usize)> = (0..211).map(|i| (number(i + 7), number(i), i)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y, n)| averages(x, y, n),
        |b, o| averages_batched_with(column(b, |i| i.0), column(b, |i| i.1), column(b, |i| i.2), o),
    );
}

/// What stands before the division, or around it, happens once.
#[autobatch(strict)]
fn around(x: f32, y: f32, z: f32) -> f32 {
    let mut row = [1.0f32; 24];
    let (mut sum, mut rest) = (0.0f32, x);
    for j in 0..3 {
        for k in 0..24 {
            rest = rest + row[k];
            row[k] = 1.0 - rest / y;
        }
        for k in 1..24 {
            row[k] /= z;
            row[k - 1] -= row[k] / y;
            sum += row[k / (j + 1)];
        }
    }
    sum + rest
}

#[test]
fn code_around_a_division_runs_once() {
    let inputs: Vec<(f32, f32, f32)> =
        (0..211).map(|i| (number(3 * i + 1), near_one(i), near_one(2 * i + 5) + 0.5)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y, z)| around(x, y, z),
        |b, o| around_batched_with(column(b, |i| i.0), column(b, |i| i.1), column(b, |i| i.2), o),
    );
}

/// Divisors that all members share, that change in an outer loop, or in the loop itself.
#[autobatch(strict)]
fn steps(x: f32, y: f32, #[shared] h: f32) -> f32 {
    let mut row = [1.0f32; 12];
    let mut changing = y;
    for j in 0..8 {
        let per_row = y + j as f32;
        let of_all = h * j as f32;
        for k in 1..12 {
            row[k] += (x - row[k - 1]) / h;
        }
        for k in 0..12 {
            row[k] = row[k] / per_row;
        }
        for k in 0..12 {
            row[k] = (row[k] + 1.0) / of_all;
        }
        for k in 0..12 {
            row[k] = (row[k] + 1.0) / changing;
            changing = changing * 1.0625;
        }
    }
    row[3] + row[11] - changing
}

#[test]
fn divisors_that_all_share_or_that_change() {
    let inputs: Vec<(f32, f32)> = (0..211).map(|i| (number(7 * i + 2), near_one(i))).collect();
    for h in [0.125f32, 3.0, 1.000_000_7, -1.7, 0.0, f32::NAN] {
        agree_at(
            &SIZES,
            &inputs,
            |&(x, y)| steps(x, y, h),
            |b, o| steps_batched_with(column(b, |i| i.0), column(b, |i| i.1), h, o),
        );
    }
}

/// Other numbers than `f32` have the unit's quotients only.
#[autobatch(strict)]
fn doubles(x: f64, y: f64) -> f64 {
    let mut row = [x; 16];
    for k in 1..16 {
        row[k] = (row[k - 1] + 1.0) / y;
    }
    row[15]
}

#[autobatch(strict)]
fn integers(n: i32, d: i32) -> i32 {
    let mut row = [n; 16];
    for k in 1..16 {
        row[k] = (row[k - 1] + 1000) / d;
    }
    row[15]
}

#[test]
fn doubles_and_integers() {
    let doubled = |i| f64::from(number(i));
    let inputs: Vec<(f64, f64)> = (0..211).map(|i| (doubled(i), doubled(i + 5) + 0.3)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y)| doubles(x, y),
        |b, o| doubles_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    let inputs: Vec<(i32, i32)> = (0..211).map(|i| (i * 77 - 5000, 3 + i % 9)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(n, d)| integers(n, d),
        |b, o| integers_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

/// A number that is no primitive one, of which the compiler knows nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Metres(f32);

impl std::ops::Div<f32> for Metres {
    type Output = Metres;
    fn div(self, by: f32) -> Metres {
        Metres(self.0 / by + 0.5)
    }
}

#[autobatch]
fn shrink(x: Metres, y: f32) -> f32 {
    let mut row = [x; 16];
    for k in 0..15 {
        row[k] = row[k] / y;
    }
    row[3].0
}

#[test]
fn operators_of_the_users_own() {
    let inputs: Vec<(Metres, f32)> = (0..211).map(|i| (Metres(number(i)), near_one(i))).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y)| shrink(x, y),
        |b, o| shrink_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

/// A member that fails in such a loop fails alone.
#[autobatch(strict)]
fn picks(x: f32, y: f32, n: i32) -> f32 {
    let mut row = [x; 12];
    let mut parts = [1000i32; 12];
    for k in 0..12 {
        parts[k] = parts[k] / (n + k as i32);
    }
    for k in 0..12 {
        row[k] = row[k] / y;
    }
    row[11] + parts[7] as f32
}

#[test]
fn faults_name_the_member() {
    let (x, y) = (vec![1.5f32; 150], vec![1.25f32; 150]);
    let mut n = vec![3; 150];
    (n[70], n[133]) = (-10, -5);
    let outcome = picks_batched_with(&x, &y, &n, &Options::default()).expect("columns of one length");
    assert_eq!(outcome.faults().iter().map(|fault| fault.member).collect::<Vec<_>>(), [70, 133]);
    let good: Vec<i32> = n.iter().map(|n| n.abs()).collect();
    let each: Vec<f32> = (0..150).map(|i| picks(x[i], y[i], good[i])).collect();
    assert_eq!(picks_batched(&x, &y, &good), each);
}

fn shifted(x: f64) -> f64 {
    x - 0.5 / (1.0 + x.abs())
}

/// What is divided before this loop must be exact, or it may never end.
fn settled(x: f64) -> f64 {
    let mut y = x;
    while y > 1.0 && y < 1e300 {
        y /= 1.7;
    }
    y
}

/// Divisions by numbers that are written, in a loop.
#[autobatch(strict)]
fn divided(x: f64, y: f32, rounds: u32) -> (f64, f32) {
    let (mut a, mut b, mut k) = (x, y, 0);
    while k < rounds {
        let (s, t) = (shifted(a), a * a);
        a = s / 6.0 + a / 15.0 + t.sqrt() / 0.1;
        b = (b / 3.0 - b / 7.0_f32) / -1.4;
        if k % 3 == 1 {
            a = -a / 3.0;
        }
        k += 1;
    }
    (a / 4.0, b)
}

/// And in a recursion.
#[autobatch(strict)]
fn parted(x: f64, depth: u32) -> f64 {
    if depth == 0 {
        return x / 3.0;
    }
    let h = settled(x / 7.0) + shifted(x) / 9.0;
    parted(h, depth - 1) + parted(-x / 12.0, depth - 1) / 15.0
}

#[derive(Clone, Copy, Debug)]
struct Pair(f64, f64);

impl std::ops::Div<f64> for Pair {
    type Output = Pair;
    fn div(self, by: f64) -> Pair {
        Pair(self.1 / by, self.0 - by)
    }
}

impl std::ops::Mul<Pair> for f64 {
    type Output = Pair;
    fn mul(self, of: Pair) -> Pair {
        Pair(of.0 * self, of.1)
    }
}

/// Not all that is divided by a number is one.
#[autobatch]
fn paired(x: f64, pair: Pair) -> f64 {
    let (mut p, mut k) = (x * pair, 0);
    while k < 3 {
        p = x * p / 6.0;
        k += 1;
    }
    p.0 / 3.0 + p.1
}

#[test]
fn divisors_that_are_written() {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1e-300, 5e-324, -1e305, f64::MAX];
    let inputs: Vec<(f64, f32, u32)> = (0..300)
        .map(|n| {
            let x = (n as f64 - 150.0) * 0.731;
            (if n % 20 == 7 { special[n / 20 % 8] } else { x }, x as f32 * 1e-3, n as u32 % 9)
        })
        .collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| divided(i.0, i.1, i.2),
        |m, o| divided_batched_with(column(m, |i| i.0), column(m, |i| i.1), column(m, |i| i.2), o),
    );
    let parts: Vec<(f64, u32)> = inputs.iter().map(|i| (i.0, i.2 % 5)).collect();
    agree_at(
        &SIZES,
        &parts,
        |i| parted(i.0, i.1),
        |m, o| parted_batched_with(column(m, |i| i.0), column(m, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &parts,
        |i| paired(i.0, Pair(1.5, i.0)),
        |m, o| paired_batched_with(column(m, |i| i.0), column(m, |i| Pair(1.5, i.0)), o),
    );
}

/// The divisor is the same for all members, and the loop changes it.
#[autobatch(strict)]
fn by_turns(x: f32, list: &[f32]) -> f32 {
    let mut row = [0.0f32; 20];
    let mut by = 1.5f32;
    for k in 0..20 {
        row[k] = x * (k as f32 + 0.25);
    }
    for i in 0..list.len() {
        for k in 0..20 {
            row[k] = row[k] / by;
        }
        by = list[i];
    }
    row[0] + row[7] * row[19]
}

#[test]
fn a_divisor_that_changes_for_all_members() {
    let list: Vec<f32> = (0..9).map(near_one).collect();
    let inputs: Vec<f32> = (0..211).map(|i| number(5 * i + 1)).collect();
    agree_at(&SIZES, &inputs, |x| by_turns(*x, &list), |b, o| by_turns_batched_with(b, &list, o));
    let text = by_turns_batched::program().to_string();
    assert!(text.contains("once for all members, on vectors across them"), "{text}");
}
