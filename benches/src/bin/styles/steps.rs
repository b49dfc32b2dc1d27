//! A fixed number of Runge–Kutta steps of the Van der Pol oscillator, the state of a member in numbers, structs, arrays and references.

use autobatch::autobatch;
use autobatch_bench::inputs::Numbers;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 8_192;
const STEPS: usize = 300;
const H: f64 = 0.01;

#[autobatch]
fn scalars(x0: f64, mu: f64, steps: &usize) -> f64 {
    let (mut x, mut v) = (x0, 0.0);
    for _ in 0..*steps {
        let (x1, v1) = (v, mu * (1.0 - x * x) * v - x);
        let (x2, v2) = (x + 0.5 * H * x1, v + 0.5 * H * v1);
        let (x3, v3) = (v2, mu * (1.0 - x2 * x2) * v2 - x2);
        (x, v) = (x + H * x3, v + H * v3);
    }
    x + v
}

/// A place and a velocity, or their rates.
#[derive(Clone, Copy)]
struct Oscillator {
    x: f64,
    v: f64,
}

impl Oscillator {
    fn rate(self, mu: f64) -> Oscillator {
        Oscillator { x: self.v, v: mu * (1.0 - self.x * self.x) * self.v - self.x }
    }

    fn plus(self, h: f64, rate: Oscillator) -> Oscillator {
        Oscillator { x: self.x + h * rate.x, v: self.v + h * rate.v }
    }

    fn step(&mut self, mu: f64) {
        let middle = self.plus(0.5 * H, self.rate(mu));
        *self = self.plus(H, middle.rate(mu));
    }
}

#[autobatch]
fn structure(x0: f64, mu: f64, steps: &usize) -> f64 {
    let mut s = Oscillator { x: x0, v: 0.0 };
    for _ in 0..*steps {
        s.step(mu);
    }
    s.x + s.v
}

fn rate(y: &[f64; 2], mu: f64) -> [f64; 2] {
    [y[1], mu * (1.0 - y[0] * y[0]) * y[1] - y[0]]
}

#[autobatch]
#[allow(clippy::needless_range_loop)] // this is the style
fn indices(x0: f64, mu: f64, steps: &usize) -> f64 {
    let mut y = [x0, 0.0];
    for _ in 0..*steps {
        let a = rate(&y, mu);
        let mut middle = [0.0; 2];
        for i in 0..2 {
            middle[i] = y[i] + 0.5 * H * a[i];
        }
        let b = rate(&middle, mu);
        for i in 0..2 {
            y[i] += H * b[i];
        }
    }
    y[0] + y[1]
}

#[autobatch]
fn iterators(x0: f64, mu: f64, steps: &usize) -> f64 {
    let mut y = [x0, 0.0];
    for _ in 0..*steps {
        let a = rate(&y, mu);
        let b = rate(&std::array::from_fn(|i| y[i] + 0.5 * H * a[i]), mu);
        for (y, b) in y.iter_mut().zip(&b) {
            *y += H * b;
        }
    }
    y.iter().sum()
}

#[autobatch]
fn reference(y: &mut [f64; 2], mu: f64, steps: &usize) -> f64 {
    for _ in 0..*steps {
        let a = rate(y, mu);
        let b = rate(&[y[0] + 0.5 * H * a[0], y[1] + 0.5 * H * a[1]], mu);
        y[0] += H * b[0];
        y[1] += H * b[1];
    }
    y[0] + y[1]
}

/// Where members begin, and how stiff they are.
struct Inputs {
    starts: Vec<f64>,
    stiffness: Vec<f64>,
}

impl Inputs {
    fn new(members: usize) -> Inputs {
        let mut numbers = Numbers::new(11);
        let mut column =
            |low, high| -> Vec<f64> { (0..members).map(|_| numbers.within(low, high)).collect() };
        Inputs { starts: column(-2.0, 2.0), stiffness: column(0.1, 3.0) }
    }
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let members = members.unwrap_or(MEMBERS);
    let inputs = || Inputs::new(members);
    let none = || vec![(); members];
    macro_rules! style {
        ($name:literal, $scalar:ident, $batched:ident) => {
            Style {
                name: $name,
                inputs: inputs(),
                states: none(),
                scalar: |i, m, ()| $scalar(i.starts[m], i.stiffness[m], &STEPS),
                batched: |i, _, options| $batched(&i.starts, &i.stiffness, &STEPS, options),
            }
            .any()
        };
    }
    vec![
        style!("steps, scalars", scalars, scalars_batched_with),
        style!("steps, struct with methods", structure, structure_batched_with),
        style!("steps, array with indices", indices, indices_batched_with),
        style!("steps, array with iterators", iterators, iterators_batched_with),
        Style {
            name: "steps, &mut parameter",
            inputs: inputs(),
            states: inputs().starts.iter().map(|x| [*x, 0.0]).collect(),
            scalar: |i, m, state| reference(state, i.stiffness[m], &STEPS),
            batched: |i, states, options| reference_batched_with(states, &i.stiffness, &STEPS, options),
        }
        .any(),
    ]
}
