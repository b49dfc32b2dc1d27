//! Methods of numbers run in vector frames, those too that only some kinds of numbers have.

use crate::common::{agree_at, column};
use autobatch::{Engine, Executor, Isa, Options, autobatch};

const SIZES: [usize; 3] = [1, 67, 300];

/// As Clippy wants it written.
#[autobatch(strict)]
fn collatz(mut n: u64, most: u32) -> u32 {
    let mut steps = 0;
    while n != 1 && steps < most {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// Whole numbers with and without a sign.
#[autobatch(strict)]
fn whole(x: u32, y: i32) -> u64 {
    let (mut n, mut m, mut sum) = (x, y, 0u64);
    while n > 3 {
        m = m.wrapping_mul(7).wrapping_add_unsigned(n).saturating_add(3);
        let shifted = n.wrapping_add_signed(m).midpoint(n) | 1;
        sum = sum.wrapping_mul(31).wrapping_add(u64::from(shifted.ilog2() + shifted.ilog10()));
        sum = sum.wrapping_add(u64::from((shifted % 100 + 1).next_power_of_two().next_multiple_of(7)));
        sum ^= u64::from(m.cast_unsigned().saturating_pow(2).div_ceil(5));
        sum = sum.wrapping_add(
            m.saturating_neg().saturating_abs().saturating_div(3).wrapping_rem_euclid(11) as u64
        );
        sum ^= u64::from(n.saturating_add_signed(m).cast_signed().saturating_sub_unsigned(9).unsigned_abs());
        n /= 3;
    }
    sum
}

/// Numbers with fractions.
#[autobatch(strict)]
fn fractions(x: f64, y: f64) -> f64 {
    let (mut a, mut sum) = (x, 0.0);
    while a < 1e6 {
        sum += a.next_up() - a.next_down() + a.midpoint(y);
        if sum.is_normal() && !y.is_subnormal() {
            sum *= 0.75;
        }
        a = a * 3.0 + 1.0;
    }
    sum
}

/// Letters.
#[autobatch(strict)]
fn letters(first: u8, step: u8) -> u32 {
    let (mut letter, mut sum, mut turns) = (first, 0u32, 0);
    while turns < step % 16 {
        if letter.is_ascii_alphabetic() {
            sum += if letter.is_ascii_uppercase() { 3 } else { 5 };
        } else if letter.is_ascii_digit() || letter.is_ascii_punctuation() || letter.is_ascii_whitespace() {
            sum = sum * 2 + 1;
        }
        letter = letter.wrapping_add(step);
        turns += 1;
    }
    sum
}

#[test]
fn they_agree() {
    let rows: Vec<(u32, i32)> =
        (0..300).map(|i: u32| (i.wrapping_mul(2_654_435_761), (i * 7) as i32 - 900)).collect();
    agree_at(
        &SIZES,
        &rows,
        |r| collatz(u64::from(r.0) + 1, 90),
        |b, o| collatz_batched_with(column(b, |r| u64::from(r.0) + 1), column(b, |_| 90), o),
    );
    agree_at(
        &SIZES,
        &rows,
        |r| whole(r.0, r.1),
        |b, o| whole_batched_with(column(b, |r| r.0), column(b, |r| r.1), o),
    );
    agree_at(
        &SIZES,
        &rows,
        |r| fractions(f64::from(r.0) * 1e-7, f64::from(r.1) * 1e-307),
        |b, o| {
            let (x, y) = (column(b, |r| f64::from(r.0) * 1e-7), column(b, |r| f64::from(r.1) * 1e-307));
            fractions_batched_with(x, y, o)
        },
    );
    agree_at(
        &SIZES,
        &rows,
        |r| letters(r.0 as u8, r.1 as u8),
        |b, o| letters_batched_with(column(b, |r| r.0 as u8), column(b, |r| r.1 as u8), o),
    );
}

#[test]
fn they_run_in_vector_frames() {
    let options = Options::default().executor(Executor::Masked).isa(Isa::Avx2).report(true);
    let engines = [
        collatz_batched_with(&[27; 300], &[90; 300], &options).unwrap().report().engine,
        whole_batched_with(&[27; 300], &[90; 300], &options).unwrap().report().engine,
        fractions_batched_with(&[2.0; 300], &[9.0; 300], &options).unwrap().report().engine,
        letters_batched_with(&[27; 300], &[90; 300], &options).unwrap().report().engine,
    ];
    if cfg!(target_arch = "x86_64") {
        assert_eq!(engines, [Engine::VectorFrames; 4]);
    }
}
