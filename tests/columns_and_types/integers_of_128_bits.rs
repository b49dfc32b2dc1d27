//! Integers of 128 bits.

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 4] = [0, 1, 97, 211];

#[autobatch(strict)]
fn signed(x: f64, n: u32) -> i128 {
    let bits = x.to_bits();
    let size = i128::from(x.abs().to_bits());
    let value = if bits == 0 {
        0
    } else if (bits as i64) < 0 {
        -size
    } else {
        size
    };
    if n == 0 { value } else { signed(-x * 0.5, n - 1) + value }
}

#[autobatch(strict)]
fn rounds(mut x: i64, n: u32) -> i128 {
    let mut sum = 0i128;
    let mut k = 0;
    while k < n {
        let wide = i128::from(x);
        sum += if x < 0 {
            -wide * wide
        } else if x == 3 {
            7
        } else {
            wide * 5
        };
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 7;
        k += 1;
    }
    sum
}

#[autobatch(strict)]
fn with_sign(x: f64) -> i128 {
    let bits = x.to_bits();
    let size = x.abs().to_bits() as i128;
    if bits == 0 {
        0
    } else if (bits as i64) < 0 {
        -size
    } else {
        size
    }
}

#[test]
fn signs_of_wide_integers() {
    let inputs: Vec<(f64, u32)> =
        (0..61).map(|i| (f64::from(i * 29 % 17 - 8) * 0.37, (i * 7 % 5) as u32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, n)| signed(x, n),
        |b, o| signed_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    let inputs: Vec<(i64, u32)> = (0..61).map(|i| (i64::from(i * 29 % 17 - 8), (i * 7 % 5) as u32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, n)| rounds(x, n),
        |b, o| rounds_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |&(x, _)| with_sign(x as f64 - 1.5),
        |b, o| with_sign_batched_with(column(b, |i| i.0 as f64 - 1.5), o),
    );
}
