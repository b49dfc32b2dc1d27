//! Loops of several parts, with loops inside that all members run equally often: in vector frames, in which lanes move together
//! when many have left.

// Written as users write.
#![allow(clippy::needless_range_loop, clippy::manual_is_multiple_of)]

use crate::common::agree_at;
use crate::lookups::{noise, same_outcomes};
use autobatch::{Engine, Executor, Isa, Options, autobatch, same};

/// The last size is enough for lanes to move together more than once.
const SIZES: &[usize] = &[1, 65, 400];

#[derive(Clone, Copy, Debug)]
struct Ball {
    place: f32,
    radius: f32,
    gain: f32,
    mirror: u32,
}

/// A particle between balls: the nearest is looked for, looked up, and decides how it goes on.
#[autobatch(strict)]
mod particle {
    use super::Ball;

    fn advance(state: u32) -> u32 {
        state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453)
    }

    pub(super) fn path(start: f32, seed: u32, balls: &[Ball]) -> (f32, u32) {
        let (mut at, mut state, mut sum, mut turns) = (start, seed, 0.0f32, 0);
        while turns < 16 {
            let mut nearest = f32::INFINITY;
            let mut hit = 0;
            for (i, ball) in balls.iter().enumerate() {
                let distance = (ball.place - at).abs() - ball.radius;
                if distance > 0.0 && distance < nearest {
                    nearest = distance;
                    hit = i;
                }
            }
            if nearest > 6.0 {
                return (sum, turns);
            }
            let ball = balls[hit];
            sum += ball.gain * nearest;
            at = ball.place;
            if ball.mirror != 0 {
                at -= nearest;
            } else {
                let mut step;
                loop {
                    state = advance(state);
                    step = (state >> 8) as f32 / 16_777_216.0 - 0.5;
                    if step.abs() > 0.1 {
                        break;
                    }
                }
                at += 4.0 * step;
            }
            turns += 1;
        }
        (sum, 99)
    }
}

/// A polynomial in a window that moves until its value is small: rows of an array, in each turn anew.
#[autobatch(strict)]
fn windows(x: f64, most: u32, weights: &[f64; 12]) -> (f64, u32) {
    let mut window = [0.0; 12];
    let mut n = 0u32;
    let mut y = x;
    while n < most {
        for k in 0..12 {
            window[k] = 0.5 * window[k] + weights[k] * y;
        }
        let mut sum = 0.0;
        for k in 0..12 {
            sum += window[k] * window[11 - k];
        }
        if sum.abs() < 1e-3 {
            return (sum, n);
        }
        y = if sum > 2.0 { y / sum } else { y * 0.75 };
        n += 1;
    }
    (y, n)
}

/// Searches from which members return, inside a loop, behind another one.
#[autobatch(strict)]
fn found(key: u32, step: u32, keys: &[u32]) -> u32 {
    let mut key = key;
    while key % 3 != 0 {
        key = key.wrapping_mul(5) + 1;
        if key > 1 << 20 {
            return key;
        }
    }
    let mut tries = 0;
    while tries < 9 {
        for i in 0..keys.len() {
            if keys[i] == key {
                return i as u32 * 100 + tries;
            }
        }
        key += step;
        tries += 1;
        while key % 4 == 3 {
            key += 1;
        }
    }
    7_000_000 + key
}

/// A table that is too short for some.
#[autobatch(strict)]
fn walked(x: f32, turns: u32, table: &[f32]) -> f32 {
    let (mut x, mut n) = (x, 0);
    while n < turns {
        let mut at = 0;
        for (i, value) in table.iter().enumerate() {
            if *value < x {
                at = i + 1;
            }
        }
        x += table[at] - 1.0;
        n += 1;
    }
    x
}

fn balls() -> Vec<Ball> {
    let ball = |n: usize| Ball {
        place: n as f32 * 1.7 - 12.0,
        radius: 0.2 + (n % 5) as f32 / 9.0,
        gain: (n % 7) as f32 - 2.5,
        mirror: (n % 3 == 0).into(),
    };
    (0..14).map(ball).collect()
}

#[test]
fn particles_agree() {
    let (mut next, balls) = (noise(21), balls());
    let rows: Vec<(f32, u32)> =
        (0..400).map(|_| ((next() % 4000) as f32 / 120.0 - 16.0, next() as u32)).collect();
    agree_at(
        SIZES,
        &rows,
        |(start, seed)| particle::path(*start, *seed, &balls),
        |rows, options| {
            let (start, seed): (Vec<f32>, Vec<u32>) = rows.iter().copied().unzip();
            particle::path_batched_with(&start, &seed, &balls, options)
        },
    );
}

#[test]
fn windows_agree() {
    let mut next = noise(22);
    let weights: [f64; 12] = std::array::from_fn(|k| 1.0 / (k as f64 - 4.5));
    let rows: Vec<(f64, u32)> =
        (0..400).map(|_| ((next() % 900) as f64 / 70.0, (next() % 30) as u32)).collect();
    agree_at(
        SIZES,
        &rows,
        |(x, most)| windows(*x, *most, &weights),
        |rows, options| {
            let (x, most): (Vec<f64>, Vec<u32>) = rows.iter().copied().unzip();
            windows_batched_with(&x, &most, &weights, options)
        },
    );
}

#[test]
fn searches_agree() {
    let mut next = noise(23);
    let keys: Vec<u32> = (0..24).map(|k| k * k % 701).collect();
    let rows: Vec<(u32, u32)> = (0..400).map(|_| ((next() % 800) as u32, 1 + (next() % 9) as u32)).collect();
    agree_at(
        SIZES,
        &rows,
        |(key, step)| found(*key, *step, &keys),
        |rows, options| {
            let (key, step): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
            found_batched_with(&key, &step, &keys, options)
        },
    );
}

#[test]
fn what_is_out_of_bounds_is_the_members_fault() {
    let mut next = noise(24);
    let table: Vec<f32> = (0..20).map(|n| n as f32 * 0.4).collect();
    let rows: Vec<(f32, u32)> =
        (0..200).map(|_| ((next() % 1000) as f32 / 128.0, (next() % 12) as u32)).collect();
    same_outcomes(
        &rows,
        |(x, turns)| walked(*x, *turns, &table),
        |rows, options| {
            let (x, turns): (Vec<f32>, Vec<u32>) = rows.iter().copied().unzip();
            walked_batched_with(&x, &turns, &table, options)
        },
    );
}

#[test]
fn they_run_in_vector_frames() {
    let (balls, start) = (balls(), (0..500).map(|n| n as f32 / 16.0 - 16.0).collect::<Vec<f32>>());
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor).isa(Isa::Avx2).report(true);
        let outcome = particle::path_batched_with(&start, same(3), &balls, &options).expect("a batch");
        if cfg!(target_arch = "x86_64") {
            assert_eq!(outcome.report().engine, Engine::VectorFrames, "{executor:?}");
        }
    }
}
