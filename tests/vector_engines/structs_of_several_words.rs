//! Structs of several words, which a strip holds word by word: with operators and methods of their own, with padding, in
//! loops that members leave at different times, across calls, and where a member panics.

use std::ops::{Add, Mul, Sub};

use crate::common::{agree_at, column};
use autobatch::{Executor, FaultKind, Options, autobatch};

#[derive(Clone, Copy, Debug, PartialEq)]
struct V3 {
    x: f64,
    y: f64,
    z: f64,
}

impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        V3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl Mul<f64> for V3 {
    type Output = V3;
    fn mul(self, by: f64) -> V3 {
        V3 { x: self.x * by, y: self.y * by, z: self.z * by }
    }
}

impl V3 {
    fn dot(self, o: V3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }
}

/// A ray marches towards two spheres.
#[autobatch(strict)]
fn march(u: f64, v: f64) -> f64 {
    let origin = V3 { x: 0.0, y: 0.0, z: -3.0 };
    let mut along = V3 { x: u, y: v, z: 1.5 };
    along = along * (1.0 / along.length());
    let mut at = origin;
    let (mut t, mut n) = (0.0, 0);
    while n < 60 {
        at = origin + along * t;
        let near = (at.length() - 1.0).min((at - V3 { x: 1.0, y: 0.5, z: 0.3 }).length() - 0.5);
        if near < 1e-4 {
            return t;
        }
        if t > 20.0 {
            return -1.0;
        }
        t += near;
        n += 1;
    }
    at.x + t
}

/// Words with padding, of both widths, an enum and an array among them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mixed {
    small: u8,
    real: f64,
    last: Option<u32>,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Up(f32),
    Down { by: u16 },
    Stay,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Narrow {
    a: f32,
    b: [u16; 3],
    c: char,
}

#[autobatch(strict)]
fn mixed(n: u32, seed: u32) -> (f64, u32, u32) {
    let mut state = Mixed { small: seed as u8, real: f64::from(seed), last: None, way: Way::Stay };
    let mut narrow = Narrow { a: 0.5, b: [1, 2, 3], c: 'a' };
    let mut i = 0;
    while i < n {
        state.way = match state.way {
            Way::Up(by) if by > 4.0 => Way::Stay,
            Way::Up(by) => Way::Up(by + 1.5),
            Way::Down { by } => {
                if by % 3 == 0 {
                    Way::Up(f32::from(by))
                } else {
                    Way::Down { by: by - 1 }
                }
            }
            Way::Stay => Way::Down { by: (state.small % 7) as u16 + 1 },
        };
        if let Way::Up(by) = state.way {
            state.real += f64::from(by) / 3.0;
            state.last = Some(i ^ seed);
        }
        state.small = state.small.wrapping_mul(5).wrapping_add(i as u8);
        narrow.b[(i % 3) as usize] ^= u16::from(state.small);
        narrow.a = narrow.a * 1.25 - f32::from(narrow.b[0]);
        narrow.c = char::from_u32(narrow.c as u32 + 1).unwrap_or('z');
        i += 1;
    }
    (state.real, state.last.unwrap_or(7), narrow.c as u32 ^ narrow.a.to_bits() ^ u32::from(narrow.b[1]))
}

/// Structs as arguments, results and what is live across calls; some members panic.
#[autobatch]
fn fold(depth: u32, x: f64) -> f64 {
    fn start(x: f64) -> V3 {
        V3 { x, y: 1.0 - x, z: 0.5 * x }
    }
    let mut p = start(x);
    let mut i = 0;
    while i < depth % 5 {
        p = p + V3 { x: p.z, y: p.x, z: p.y } * 0.25;
        assert!(p.x != 9.0, "no nines");
        i += 1;
    }
    if depth == 0 {
        return p.length();
    }
    let left = fold(depth - 1, p.y);
    let right = if depth.is_multiple_of(3) { fold(depth / 2, p.z) } else { p.dot(p) };
    (p * left).x - right
}

const SIZES: [usize; 4] = [0, 1, 97, 1013];

#[test]
fn structs_with_operators() {
    let inputs: Vec<(f64, f64)> =
        (0..900).map(|i| (f64::from(i % 37) / 18.0 - 1.0, f64::from(i % 53) / 26.0 - 1.0)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(u, v)| march(*u, *v),
        |batch, o| march_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), o),
    );
}

#[test]
fn structs_with_padding() {
    let inputs: Vec<(u32, u32)> = (0..500).map(|i| (i * 7 % 43, i * 31)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, seed)| mixed(*n, *seed),
        |batch, o| mixed_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), o),
    );
}

#[test]
fn structs_across_calls() {
    let inputs: Vec<(u32, f64)> = (0..300).map(|i| (i % 11, f64::from(i) / 64.0)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(depth, x)| fold(*depth, *x),
        |batch, o| fold_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), o),
    );
}

#[test]
fn structs_of_members_that_panic() {
    let depth = vec![1_u32; 100];
    // After one round, `x` and an eighth of it.
    let x: Vec<f64> = (0..100).map(|i| if i % 9 == 4 { 8.0 } else { f64::from(i) / 16.0 }).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let out = fold_batched_with(&depth, &x, &Options::default().executor(executor).threads(1)).unwrap();
        let faulty: Vec<usize> = out.faults().iter().map(|fault| fault.member).collect();
        assert_eq!(faulty, (0..100).filter(|i| i % 9 == 4).collect::<Vec<_>>(), "{executor:?}");
        assert!(out.faults().iter().all(|fault| fault.kind == FaultKind::Panic));
        for (i, result) in out.into_results().into_iter().enumerate().filter(|(i, _)| i % 9 != 4) {
            assert_eq!(result.unwrap().to_bits(), fold(1, x[i]).to_bits(), "{executor:?} {i}");
        }
    }
}
