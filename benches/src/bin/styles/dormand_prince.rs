//! Dormand and Prince's adaptive method for Lotka and Volterra's equations: the state of a member in numbers, structs, arrays, references.

#![allow(clippy::needless_range_loop, clippy::excessive_precision)] // written as users write

use autobatch::autobatch;
use autobatch_bench::inputs::Numbers;

use crate::style::{AnyStyle, Style, stateless};

const MEMBERS: usize = 8_192;
const END: f64 = 6.0;
const TOLERANCE: f64 = 1e-6;

/// The coefficients of the stages.
const A: [[f64; 6]; 6] = [
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// The solution of order five less that of order four.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// How the step changes: without a root, so that all styles have the same.
fn factor(error: f64) -> f64 {
    if error < 0.01 {
        2.0
    } else if error < 0.5 {
        1.25
    } else if error < 1.0 {
        0.9
    } else {
        0.5
    }
}

#[autobatch]
fn scalars(prey: f64, hunters: f64, a: f64) -> f64 {
    let (mut t, mut h) = (0.0, 0.1);
    let (mut x, mut y) = (prey, hunters);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let (x1, y1) = (x * (a - y), y * (x - 1.0));
        let (u, v) = (x + h * A[0][0] * x1, y + h * A[0][0] * y1);
        let (x2, y2) = (u * (a - v), v * (u - 1.0));
        let (u, v) = (x + h * (A[1][0] * x1 + A[1][1] * x2), y + h * (A[1][0] * y1 + A[1][1] * y2));
        let (x3, y3) = (u * (a - v), v * (u - 1.0));
        let u = x + h * (A[2][0] * x1 + A[2][1] * x2 + A[2][2] * x3);
        let v = y + h * (A[2][0] * y1 + A[2][1] * y2 + A[2][2] * y3);
        let (x4, y4) = (u * (a - v), v * (u - 1.0));
        let u = x + h * (A[3][0] * x1 + A[3][1] * x2 + A[3][2] * x3 + A[3][3] * x4);
        let v = y + h * (A[3][0] * y1 + A[3][1] * y2 + A[3][2] * y3 + A[3][3] * y4);
        let (x5, y5) = (u * (a - v), v * (u - 1.0));
        let u = x + h * (A[4][0] * x1 + A[4][1] * x2 + A[4][2] * x3 + A[4][3] * x4 + A[4][4] * x5);
        let v = y + h * (A[4][0] * y1 + A[4][1] * y2 + A[4][2] * y3 + A[4][3] * y4 + A[4][4] * y5);
        let (x6, y6) = (u * (a - v), v * (u - 1.0));
        let u = x + h * (A[5][0] * x1 + A[5][2] * x3 + A[5][3] * x4 + A[5][4] * x5 + A[5][5] * x6);
        let v = y + h * (A[5][0] * y1 + A[5][2] * y3 + A[5][3] * y4 + A[5][4] * y5 + A[5][5] * y6);
        let (x7, y7) = (u * (a - v), v * (u - 1.0));
        let p = h * (E[0] * x1 + E[2] * x3 + E[3] * x4 + E[4] * x5 + E[5] * x6 + E[6] * x7);
        let q = h * (E[0] * y1 + E[2] * y3 + E[3] * y4 + E[4] * y5 + E[5] * y6 + E[6] * y7);
        let error = p.abs().max(q.abs()) / TOLERANCE;
        if error < 1.0 {
            t += h;
            (x, y) = (u, v);
        }
        h *= factor(error);
    }
    x + y
}

/// Numbers of prey and of hunters, or their rates.
#[derive(Clone, Copy)]
struct Population {
    prey: f64,
    hunters: f64,
}

impl std::ops::Add for Population {
    type Output = Population;
    fn add(self, other: Population) -> Population {
        Population { prey: self.prey + other.prey, hunters: self.hunters + other.hunters }
    }
}

impl std::ops::Mul<Population> for f64 {
    type Output = Population;
    fn mul(self, p: Population) -> Population {
        Population { prey: self * p.prey, hunters: self * p.hunters }
    }
}

impl Population {
    fn rate(self, a: f64) -> Population {
        Population { prey: self.prey * (a - self.hunters), hunters: self.hunters * (self.prey - 1.0) }
    }

    fn largest(self) -> f64 {
        self.prey.abs().max(self.hunters.abs())
    }
}

#[autobatch]
fn structure(prey: f64, hunters: f64, a: f64) -> f64 {
    let mut p = Population { prey, hunters };
    let (mut t, mut h) = (0.0, 0.1);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let k1 = p.rate(a);
        let k2 = (p + h * (A[0][0] * k1)).rate(a);
        let k3 = (p + h * (A[1][0] * k1 + A[1][1] * k2)).rate(a);
        let k4 = (p + h * (A[2][0] * k1 + A[2][1] * k2 + A[2][2] * k3)).rate(a);
        let k5 = (p + h * (A[3][0] * k1 + A[3][1] * k2 + A[3][2] * k3 + A[3][3] * k4)).rate(a);
        let k6 = (p + h * (A[4][0] * k1 + A[4][1] * k2 + A[4][2] * k3 + A[4][3] * k4 + A[4][4] * k5)).rate(a);
        let new = p + h * (A[5][0] * k1 + A[5][2] * k3 + A[5][3] * k4 + A[5][4] * k5 + A[5][5] * k6);
        let k7 = new.rate(a);
        let error = h * (E[0] * k1 + E[2] * k3 + E[3] * k4 + E[4] * k5 + E[5] * k6 + E[6] * k7);
        let error = error.largest() / TOLERANCE;
        if error < 1.0 {
            t += h;
            p = new;
        }
        h *= factor(error);
    }
    p.prey + p.hunters
}

fn rate(y: &[f64; 2], a: f64) -> [f64; 2] {
    [y[0] * (a - y[1]), y[1] * (y[0] - 1.0)]
}

#[autobatch]
fn indices(prey: f64, hunters: f64, a: f64) -> f64 {
    let mut y = [prey, hunters];
    let (mut t, mut h) = (0.0, 0.1);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let mut k = [[0.0; 2]; 7];
        k[0] = rate(&y, a);
        let mut new = y;
        for stage in 0..6 {
            new = y;
            for i in 0..2 {
                let mut sum = 0.0;
                for j in 0..=stage {
                    sum += A[stage][j] * k[j][i];
                }
                new[i] += h * sum;
            }
            k[stage + 1] = rate(&new, a);
        }
        let mut error = 0.0f64;
        for i in 0..2 {
            let mut sum = 0.0;
            for j in 0..7 {
                sum += E[j] * k[j][i];
            }
            error = error.max((h * sum).abs());
        }
        let error = error / TOLERANCE;
        if error < 1.0 {
            t += h;
            y = new;
        }
        h *= factor(error);
    }
    y[0] + y[1]
}

#[autobatch]
fn iterators(prey: f64, hunters: f64, a: f64) -> f64 {
    let mut y = [prey, hunters];
    let (mut t, mut h) = (0.0, 0.1);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let mut k = [rate(&y, a); 7];
        let mut new = y;
        for (stage, row) in A.iter().enumerate() {
            new = std::array::from_fn(|i| {
                y[i] + h * row.iter().zip(&k).take(stage + 1).map(|(a, k)| a * k[i]).sum::<f64>()
            });
            k[stage + 1] = rate(&new, a);
        }
        let errors: [f64; 2] =
            std::array::from_fn(|i| h * E.iter().zip(&k).map(|(e, k)| e * k[i]).sum::<f64>());
        let error = errors.iter().fold(0.0, |most: f64, e| most.max(e.abs())) / TOLERANCE;
        if error < 1.0 {
            t += h;
            y = new;
        }
        h *= factor(error);
    }
    y.iter().sum()
}

/// One attempt: the new state and the error.
fn attempt(y: &[f64; 2], h: f64, a: f64) -> ([f64; 2], f64) {
    let mut k = [[0.0; 2]; 7];
    k[0] = rate(y, a);
    let mut new = *y;
    for stage in 0..6 {
        for i in 0..2 {
            let mut sum = 0.0;
            for j in 0..=stage {
                sum += A[stage][j] * k[j][i];
            }
            new[i] = y[i] + h * sum;
        }
        k[stage + 1] = rate(&new, a);
    }
    let mut error = 0.0f64;
    for i in 0..2 {
        let mut sum = 0.0;
        for j in 0..7 {
            sum += E[j] * k[j][i];
        }
        error = error.max((h * sum).abs());
    }
    (new, error / TOLERANCE)
}

#[autobatch]
fn helper(prey: f64, hunters: f64, a: f64) -> f64 {
    let mut y = [prey, hunters];
    let (mut t, mut h) = (0.0, 0.1);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let (new, error) = attempt(&y, h, a);
        if error < 1.0 {
            t += h;
            y = new;
        }
        h *= factor(error);
    }
    y[0] + y[1]
}

#[autobatch]
fn reference(y: &mut [f64; 2], a: f64) -> u32 {
    let (mut t, mut h, mut attempts) = (0.0, 0.1, 0);
    while t < END {
        if t + h > END {
            h = END - t;
        }
        let (new, error) = attempt(y, h, a);
        if error < 1.0 {
            t += h;
            *y = new;
        }
        attempts += 1;
        h *= factor(error);
    }
    attempts
}

struct Inputs {
    prey: Vec<f64>,
    hunters: Vec<f64>,
    growth: Vec<f64>,
}

impl Inputs {
    fn new(members: usize) -> Inputs {
        let mut numbers = Numbers::new(41);
        let mut column =
            |low, high| -> Vec<f64> { (0..members).map(|_| numbers.within(low, high)).collect() };
        Inputs { prey: column(0.5, 2.0), hunters: column(0.5, 2.0), growth: column(0.5, 1.5) }
    }
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    macro_rules! style {
        ($name:literal, $scalar:ident, $batched:ident) => {
            stateless(
                $name,
                Inputs::new(n),
                n,
                |i, m, ()| $scalar(i.prey[m], i.hunters[m], i.growth[m]),
                |i, _, options| $batched(&i.prey, &i.hunters, &i.growth, options),
            )
        };
    }
    vec![
        style!("predators/scalars", scalars, scalars_batched_with),
        style!("predators/struct with operators", structure, structure_batched_with),
        style!("predators/array with indices", indices, indices_batched_with),
        style!("predators/array with iterators", iterators, iterators_batched_with),
        style!("predators/array and a helper", helper, helper_batched_with),
        Style {
            name: "predators/&mut parameter and a helper",
            inputs: Inputs::new(n),
            states: {
                let i = Inputs::new(n);
                i.prey.iter().zip(&i.hunters).map(|(x, y)| [*x, *y]).collect()
            },
            scalar: |i, m, state| reference(state, i.growth[m]),
            batched: |i, states, options| reference_batched_with(states, &i.growth, options),
        }
        .any(),
    ]
}
