//! Adaptive Heun steps of the Lorenz system, the state of a member in numbers, tuples, structs, arrays and
//! references.

use std::ops::{Add, Mul};

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 16_384;
const END: f64 = 0.1;
const TOLERANCE: f64 = 1e-3;
const FIRST_STEP: f64 = 1e-2;

const SIGMA: f64 = 10.0;
const RHO: f64 = 28.0;
const BETA: f64 = 8.0 / 3.0;

#[autobatch]
fn scalars(x0: f64, y0: f64, z0: f64) -> f64 {
    let (mut x, mut y, mut z) = (x0, y0, z0);
    let (mut t, mut h) = (0.0, FIRST_STEP);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let (ax, ay, az) = (SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z);
        let (px, py, pz) = (x + h * ax, y + h * ay, z + h * az);
        let (bx, by, bz) = (SIGMA * (py - px), px * (RHO - pz) - py, px * py - BETA * pz);
        let (ex, ey, ez) = (0.5 * h * (bx - ax), 0.5 * h * (by - ay), 0.5 * h * (bz - az));
        let error = ex * ex + ey * ey + ez * ez;
        if error <= TOLERANCE * TOLERANCE {
            t += h;
            (x, y, z) = (x + 0.5 * h * (ax + bx), y + 0.5 * h * (ay + by), z + 0.5 * h * (az + bz));
            if error < 0.05 * TOLERANCE * TOLERANCE {
                h *= 1.5;
            }
        } else {
            h *= 0.5;
        }
    }
    x + y + z
}

#[autobatch]
fn tuple(start: (f64, f64, f64)) -> f64 {
    let mut s = start;
    let (mut t, mut h) = (0.0, FIRST_STEP);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let a = (SIGMA * (s.1 - s.0), s.0 * (RHO - s.2) - s.1, s.0 * s.1 - BETA * s.2);
        let p = (s.0 + h * a.0, s.1 + h * a.1, s.2 + h * a.2);
        let b = (SIGMA * (p.1 - p.0), p.0 * (RHO - p.2) - p.1, p.0 * p.1 - BETA * p.2);
        let e = (0.5 * h * (b.0 - a.0), 0.5 * h * (b.1 - a.1), 0.5 * h * (b.2 - a.2));
        let error = e.0 * e.0 + e.1 * e.1 + e.2 * e.2;
        if error <= TOLERANCE * TOLERANCE {
            t += h;
            s = (s.0 + 0.5 * h * (a.0 + b.0), s.1 + 0.5 * h * (a.1 + b.1), s.2 + 0.5 * h * (a.2 + b.2));
            if error < 0.05 * TOLERANCE * TOLERANCE {
                h *= 1.5;
            }
        } else {
            h *= 0.5;
        }
    }
    s.0 + s.1 + s.2
}

/// A point, or a velocity.
#[derive(Clone, Copy, Debug)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, other: Vec3) -> Vec3 {
        Vec3 { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Mul<Vec3> for f64 {
    type Output = Vec3;
    fn mul(self, v: Vec3) -> Vec3 {
        Vec3 { x: self * v.x, y: self * v.y, z: self * v.z }
    }
}

impl Vec3 {
    fn velocity(self) -> Vec3 {
        Vec3 {
            x: SIGMA * (self.y - self.x),
            y: self.x * (RHO - self.z) - self.y,
            z: self.x * self.y - BETA * self.z,
        }
    }

    fn square(self) -> f64 {
        self.x * self.x + self.y * self.y + self.z * self.z
    }
}

#[autobatch]
fn structure(start: Vec3) -> f64 {
    let mut s = start;
    let (mut t, mut h) = (0.0, FIRST_STEP);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let a = s.velocity();
        let b = (s + h * a).velocity();
        let error = (0.5 * h * (b + -1.0 * a)).square();
        if error <= TOLERANCE * TOLERANCE {
            t += h;
            s = s + 0.5 * h * (a + b);
            if error < 0.05 * TOLERANCE * TOLERANCE {
                h *= 1.5;
            }
        } else {
            h *= 0.5;
        }
    }
    s.x + s.y + s.z
}

#[autobatch]
#[allow(clippy::needless_range_loop)] // this is the style
fn array_indices(start: [f64; 3]) -> f64 {
    let mut s = start;
    let (mut t, mut h) = (0.0, FIRST_STEP);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let a = [SIGMA * (s[1] - s[0]), s[0] * (RHO - s[2]) - s[1], s[0] * s[1] - BETA * s[2]];
        let mut p = [0.0; 3];
        for i in 0..3 {
            p[i] = s[i] + h * a[i];
        }
        let b = [SIGMA * (p[1] - p[0]), p[0] * (RHO - p[2]) - p[1], p[0] * p[1] - BETA * p[2]];
        let mut error = 0.0;
        for i in 0..3 {
            let e = 0.5 * h * (b[i] - a[i]);
            error += e * e;
        }
        if error <= TOLERANCE * TOLERANCE {
            t += h;
            for i in 0..3 {
                s[i] += 0.5 * h * (a[i] + b[i]);
            }
            if error < 0.05 * TOLERANCE * TOLERANCE {
                h *= 1.5;
            }
        } else {
            h *= 0.5;
        }
    }
    s[0] + s[1] + s[2]
}

#[autobatch]
fn array_iterators(start: [f64; 3]) -> f64 {
    let mut s = start;
    let (mut t, mut h) = (0.0, FIRST_STEP);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let a = [SIGMA * (s[1] - s[0]), s[0] * (RHO - s[2]) - s[1], s[0] * s[1] - BETA * s[2]];
        let p: [f64; 3] = std::array::from_fn(|i| s[i] + h * a[i]);
        let b = [SIGMA * (p[1] - p[0]), p[0] * (RHO - p[2]) - p[1], p[0] * p[1] - BETA * p[2]];
        let error: f64 = a.iter().zip(&b).map(|(a, b)| (0.5 * h * (b - a)).powi(2)).sum();
        if error <= TOLERANCE * TOLERANCE {
            t += h;
            for (s, (a, b)) in s.iter_mut().zip(a.iter().zip(&b)) {
                *s += 0.5 * h * (a + b);
            }
            if error < 0.05 * TOLERANCE * TOLERANCE {
                h *= 1.5;
            }
        } else {
            h *= 0.5;
        }
    }
    s.iter().sum()
}

/// Locals that a helper of the module changes.
#[autobatch]
mod locals {
    use super::{BETA, END, FIRST_STEP, RHO, SIGMA, TOLERANCE};

    pub(super) fn references(start: [f64; 3]) -> f64 {
        let mut s = start;
        let (mut t, mut h) = (0.0, FIRST_STEP);
        while t < END {
            if t + h > END {
                h = END - t;
            }
            t += step(&mut s, &mut h);
        }
        s[0] + s[1] + s[2]
    }

    fn velocity(s: &[f64; 3]) -> [f64; 3] {
        [SIGMA * (s[1] - s[0]), s[0] * (RHO - s[2]) - s[1], s[0] * s[1] - BETA * s[2]]
    }

    fn step(s: &mut [f64; 3], h: &mut f64) -> f64 {
        let size = *h;
        let a = velocity(s);
        let p = [s[0] + size * a[0], s[1] + size * a[1], s[2] + size * a[2]];
        let b = velocity(&p);
        let mut error = 0.0;
        for i in 0..3 {
            let e = 0.5 * size * (b[i] - a[i]);
            error += e * e;
        }
        if error <= TOLERANCE * TOLERANCE {
            for i in 0..3 {
                s[i] += 0.5 * size * (a[i] + b[i]);
            }
            if error < 0.05 * TOLERANCE * TOLERANCE {
                *h *= 1.5;
            }
            size
        } else {
            *h *= 0.5;
            0.0
        }
    }
}

#[autobatch]
fn parameter(s: &mut [f64; 3]) -> f64 {
    let (mut t, mut h) = (0.0, FIRST_STEP);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let a = [SIGMA * (s[1] - s[0]), s[0] * (RHO - s[2]) - s[1], s[0] * s[1] - BETA * s[2]];
        let p = [s[0] + h * a[0], s[1] + h * a[1], s[2] + h * a[2]];
        let b = [SIGMA * (p[1] - p[0]), p[0] * (RHO - p[2]) - p[1], p[0] * p[1] - BETA * p[2]];
        let e = [0.5 * h * (b[0] - a[0]), 0.5 * h * (b[1] - a[1]), 0.5 * h * (b[2] - a[2])];
        let error = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        if error <= TOLERANCE * TOLERANCE {
            t += h;
            s[0] += 0.5 * h * (a[0] + b[0]);
            s[1] += 0.5 * h * (a[1] + b[1]);
            s[2] += 0.5 * h * (a[2] + b[2]);
            if error < 0.05 * TOLERANCE * TOLERANCE {
                h *= 1.5;
            }
        } else {
            h *= 0.5;
        }
    }
    s[0] + s[1] + s[2]
}

/// Where members begin, a column per coordinate and as points.
struct Starts {
    columns: [Vec<f64>; 3],
    tuples: Vec<(f64, f64, f64)>,
    structs: Vec<Vec3>,
    arrays: Vec<[f64; 3]>,
}

impl Starts {
    fn new(members: usize) -> Starts {
        let mut numbers = Numbers::new(7);
        let mut coordinate = |low, high| numbers.within(low, high);
        let arrays: Vec<[f64; 3]> = (0..members)
            .map(|_| [coordinate(-15.0, 15.0), coordinate(-20.0, 20.0), coordinate(5.0, 45.0)])
            .collect();
        Starts {
            columns: [0, 1, 2].map(|i| arrays.iter().map(|start| start[i]).collect()),
            tuples: arrays.iter().map(|&[x, y, z]| (x, y, z)).collect(),
            structs: arrays.iter().map(|&[x, y, z]| Vec3 { x, y, z }).collect(),
            arrays,
        }
    }
}

counterpart! {
    fn ispc_lorenz(columns(x: f64, y: f64, z: f64)) -> f64
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let members = members.unwrap_or(MEMBERS);
    let starts = || Starts::new(members);
    let none = || vec![(); members];
    vec![
        Style {
            name: "lorenz, scalars",
            inputs: starts(),
            states: none(),
            scalar: |i, m, ()| scalars(i.columns[0][m], i.columns[1][m], i.columns[2][m]),
            batched: |i, _, options| {
                scalars_batched_with(&i.columns[0], &i.columns[1], &i.columns[2], options)
            },
        }
        .against(Agreement::Close { tolerance: 1e-3, except: 0.02 }, |i, target, first, out| {
            let [x, y, z] = &i.columns;
            ispc_lorenz(target, first, x, y, z, out);
        }),
        Style {
            name: "lorenz, tuple",
            inputs: starts(),
            states: none(),
            scalar: |i, m, ()| tuple(i.tuples[m]),
            batched: |i, _, options| tuple_batched_with(&i.tuples, options),
        }
        .any(),
        Style {
            name: "lorenz, struct with operators",
            inputs: starts(),
            states: none(),
            scalar: |i, m, ()| structure(i.structs[m]),
            batched: |i, _, options| structure_batched_with(&i.structs, options),
        }
        .any(),
        Style {
            name: "lorenz, array with indices",
            inputs: starts(),
            states: none(),
            scalar: |i, m, ()| array_indices(i.arrays[m]),
            batched: |i, _, options| array_indices_batched_with(&i.arrays, options),
        }
        .any(),
        Style {
            name: "lorenz, array with iterators",
            inputs: starts(),
            states: none(),
            scalar: |i, m, ()| array_iterators(i.arrays[m]),
            batched: |i, _, options| array_iterators_batched_with(&i.arrays, options),
        }
        .any(),
        Style {
            name: "lorenz, &mut locals and a helper",
            inputs: starts(),
            states: none(),
            scalar: |i, m, ()| locals::references(i.arrays[m]),
            batched: |i, _, options| locals::references_batched_with(&i.arrays, options),
        }
        .any(),
        Style {
            name: "lorenz, &mut parameter",
            inputs: (),
            states: starts().arrays,
            scalar: |(), _, state| parameter(state),
            batched: |(), states, options| parameter_batched_with(states, options),
        }
        .any(),
    ]
}
