//! State machines: enumerations without fields in variables, against the scalar function.

// Written as users write.
#![allow(clippy::manual_is_multiple_of)]

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 400];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Up,
    Down,
    Wait,
    Stop,
}

#[autobatch(strict)]
fn machine(a: f64, b: f64) -> (f64, u32) {
    let mut mode = if a > 2.0 { Mode::Down } else { Mode::Up };
    let mut last = mode;
    let (mut x, mut k, mut changes) = (a, 0u32, 0u32);
    loop {
        match mode {
            Mode::Up if x > 5.0 => mode = Mode::Down,
            Mode::Up | Mode::Wait => {
                x += 0.37 * b;
                if k % 7 == 3 {
                    mode = match last {
                        Mode::Wait => Mode::Up,
                        _ => Mode::Wait,
                    };
                }
            }
            Mode::Down => {
                x *= 0.5;
                if x < 1.0 {
                    mode = if k > 60 { Mode::Stop } else { Mode::Up };
                }
            }
            Mode::Stop => return (x, changes),
        }
        if mode != last && !matches!(last, Mode::Wait) {
            changes += 1;
        }
        last = mode;
        k += 1;
    }
}

/// Two of them in a loop of all members, `while` one is not at its end.
#[autobatch(strict)]
fn two(x: f32, n: u32) -> f32 {
    let mut sum = x;
    for i in 0..10 {
        let mut light = if (n + i) % 3 == 0 { Mode::Up } else { Mode::Wait };
        let mut left = n % 9 + 1;
        while light != Mode::Stop {
            sum += match light {
                Mode::Up => 1.0,
                Mode::Down => -0.5 * sum,
                Mode::Wait | Mode::Stop => 0.25,
            };
            left -= 1;
            light = match (left, light) {
                (0, _) => Mode::Stop,
                (_, Mode::Up) => Mode::Down,
                _ => Mode::Up,
            };
        }
    }
    sum
}

#[test]
fn modes_are_numbers() {
    let inputs: Vec<(f64, f64)> =
        (0..120).map(|i| (f64::from(i * 7 % 50) * 0.1, f64::from(i) * 0.01 + 0.2)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(a, b)| machine(a, b),
        |batch, options| {
            let (a, b) = (column(batch, |i| i.0), column(batch, |i| i.1));
            machine_batched_with(&a, &b, options)
        },
    );
    let inputs: Vec<(f32, u32)> = (0..120).map(|i| (i as f32 * 0.1, i * 5 % 37)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(x, n)| two(x, n),
        |batch, options| {
            let (x, n) = (column(batch, |i| i.0), column(batch, |i| i.1));
            two_batched_with(&x, &n, options)
        },
    );
}
