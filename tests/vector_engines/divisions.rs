//! Divisions of integers by constants and variables, and remainders of floats: those of the scalar function, and its panics.

#![allow(clippy::modulo_one, clippy::precedence, clippy::manual_is_multiple_of, clippy::manual_checked_ops)] // written as users write

use autobatch::{Executor, Options, autobatch};

use crate::common::{agree_at, column};

const SIZES: [usize; 3] = [1, 97, 211];
const PRIME: u64 = 1_000_000_007;
const NEGATIVE: i64 = -37;
const POWER: usize = 1 << 5;

/// Numbers of all sizes, with both signs as signed ones.
fn number(i: usize) -> u64 {
    let noise = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match i % 4 {
        0 => noise,
        1 => noise >> (i % 64),
        2 => (noise >> (i % 64)).wrapping_neg(),
        _ => i as u64,
    }
}

/// By constants, in rounds and in loops that all members run equally often.
#[autobatch]
fn by_constants(n: u64, m: i64) -> u64 {
    let (mut n, mut sum) = (n, 0u64);
    let wide = n as usize;
    while n > 0 {
        sum += n % 10;
        n /= 10;
    }
    for k in 0..9u64 {
        sum = (sum * 131 + k) % PRIME;
        let (a, b) = (m.wrapping_add(k as i64) / 7 % 24, m.rem_euclid(60) / NEGATIVE);
        sum = sum.wrapping_add((a ^ b ^ m % NEGATIVE) as u64);
        let mut left = wide >> 2 | 1;
        left %= {
            left += 3;
            left / 2 + k as usize
        };
        sum ^= left as u64;
        sum ^= (wide / POWER % 3600 / 60 % 1) as u64;
        sum %= 1 << 40;
        sum += u64::from(n.is_multiple_of(12) || wide.is_multiple_of(3));
    }
    sum
}

#[test]
fn constants_divide() {
    let inputs: Vec<(u64, i64)> = (0..211).map(|i| (number(i), number(5 * i + 2) as i64)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(n, m)| by_constants(n, m),
        |b, o| by_constants_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

#[autobatch]
fn greatest_common(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[autobatch]
fn by_helper(a: u32, b: u32) -> u32 {
    common_divisor(a, b) ^ common_divisor(a / (b | 1), 7 + a % (b | 3))
}

/// All types, under conditions too.
#[autobatch]
fn by_variables(n: u64, m: u64) -> u64 {
    let mut sum = n;
    for k in 1..7 {
        let d = m.rotate_left(k) >> (k * 9 % 60);
        if d != 0 {
            sum = sum.wrapping_add(n / d).wrapping_mul(3) ^ n % d;
        }
        let (a, b) = (n as i64, (d as i64) | 1);
        sum ^= (a.wrapping_div(b) ^ (a % (b | 2)) ^ a.rem_euclid(b | 4).wrapping_add((a >> 1).div_euclid(b)))
            as u64;
        let (a, b) = (n as i32 >> 1, d as i32 | 1);
        sum = sum.wrapping_sub((a / b ^ a % b ^ a.rem_euclid(b) ^ a.div_euclid(b)) as u64);
        let (a, b) = (n as u32, d as u32 | 1);
        sum = sum.rotate_left(3) ^ u64::from(a / b ^ a % b);
        sum ^= u64::from(n.is_multiple_of(d) || a.is_multiple_of(b >> 9));
        let (a, b) = (n as u16, d as u16 | 1);
        sum ^= u64::from(a / b ^ a % b) << 20;
        let (a, b) = (n as i8 >> 1, d as i8 | 1);
        sum ^= (a / b ^ a % b) as u64;
        let (a, b) = (n as usize, d as usize >> 3 | 1);
        sum ^= (a / b ^ a % b) as u64;
    }
    sum
}

#[test]
fn variables_divide() {
    let inputs: Vec<(u64, u64)> = (0..211).map(|i| (number(i), number(3 * i + 1))).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(a, b)| greatest_common(a, b),
        |b, o| greatest_common_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |&(a, b)| by_variables(a, b),
        |b, o| by_variables_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    let inputs: Vec<(u32, u32)> = inputs.iter().map(|(a, b)| (*a as u32, *b as u32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(a, b)| by_helper(a, b),
        |b, o| by_helper_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

/// Floats of all sizes, and what is no number.
fn float(i: usize) -> f64 {
    let special = [0.0, -0.0, f64::INFINITY, f64::NAN, 5e-324, f64::MAX, 1.0, -1.0];
    let sign = if i % 3 == 0 { -1.0 } else { 1.0 };
    match i % 11 {
        0 => special[i / 11 % special.len()],
        _ => sign * (1.0 + (i * 7919 % 10_007) as f64 / 10_007.0) * 2f64.powi((i * 31 % 40) as i32 - 20),
    }
}

#[autobatch]
fn rests(x: f64, y: f64, z: f32) -> u64 {
    let (mut angle, mut sum, mut w) = (x, 0.0, z);
    for k in 0..8 {
        angle = (angle + y * k as f64) % std::f64::consts::TAU;
        sum += angle.rem_euclid(y) - (x - angle) % y + angle.div_euclid(3.5);
        w %= 0.3 + k as f32;
        sum += f64::from(w.rem_euclid(0.7)) + x % 0.25;
    }
    while angle > 0.5 {
        angle -= 0.3 + (angle * sum).rem_euclid(1.5);
        sum = (sum + 1.0) % 17.0;
    }
    sum.to_bits()
}

#[test]
fn floats_leave_rests() {
    let inputs: Vec<(f64, f64, f32)> =
        (0..211).map(|i| (float(i), float(5 * i + 1), float(7 * i) as f32)).collect();
    let finite: Vec<_> = inputs
        .into_iter()
        .filter(|(x, y, z)| x.is_finite() && y.is_finite() && *y != 0.0 && z.is_finite())
        .collect();
    agree_at(
        &[1, 97, finite.len()],
        &finite,
        |&(x, y, z)| rests(x, y, z),
        |b, o| rests_batched_with(column(b, |i| i.0), column(b, |i| i.1), column(b, |i| i.2), o),
    );
}

/// What divides by zero, or overflows, panics alone and as in the scalar function.
#[autobatch]
fn fails(n: i32, m: i32, w: u64) -> i32 {
    let mut rest = n;
    for k in 0..5 {
        rest = n / (m - k) + rest % (m + 9);
    }
    rest + (w % (w >> 1)) as i32
}

#[test]
fn members_that_divide_by_zero_panic_alone() {
    let n: Vec<i32> = (0..130).map(|i| if i % 50 == 7 { i32::MIN } else { i * 91 }).collect();
    let m: Vec<i32> =
        (0..130).map(|i| if i % 50 == 7 { -1 } else { i % 40 + 5 - 2 * (i % 20 / 19) }).collect();
    let w: Vec<u64> = (0..130).map(|i| if i % 60 == 3 { 1 } else { 2 + i }).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor).quiet(true);
        let outcome = fails_batched_with(&n, &m, &w, &options).unwrap();
        for i in 0..130 {
            let scalar = std::panic::catch_unwind(|| fails(n[i], m[i], w[i]));
            assert_eq!(outcome.get(i), scalar.as_ref().ok(), "member {i}, {executor:?}");
            if let Err(panic) = scalar {
                let fault = outcome.faults().iter().find(|fault| fault.member == i).expect("it is named");
                let message = panic.downcast_ref::<&str>().map_or_else(
                    || panic.downcast_ref::<String>().cloned().unwrap_or_default(),
                    |message| message.to_string(),
                );
                assert!(fault.to_string().contains(&message), "{fault}: {message}");
            }
        }
    }
}
