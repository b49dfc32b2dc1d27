//! Sums of cube roots by Newton's method, which takes as many steps as a number needs: inline, and in helpers of every kind.

use autobatch::autobatch;
use autobatch_bench::inputs::Numbers;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 16_384;
const ROOTS: u32 = 24;

#[autobatch]
fn inline(a: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..ROOTS {
        let b = a + f64::from(i);
        let mut x = 0.5 * (1.0 + b);
        let mut before = 0.0;
        while (x - before).abs() > 1e-13 * x {
            before = x;
            x -= (x * x * x - b) / (3.0 * x * x);
        }
        sum += x;
    }
    sum
}

fn cube_root(b: f64) -> f64 {
    let mut x = 0.5 * (1.0 + b);
    let mut before = 0.0;
    while (x - before).abs() > 1e-13 * x {
        before = x;
        x -= (x * x * x - b) / (3.0 * x * x);
    }
    x
}

#[autobatch]
fn outside(a: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..ROOTS {
        sum += cube_root(a + f64::from(i));
    }
    sum
}

/// Returns from the loop.
fn returning(b: f64) -> f64 {
    let mut x = 0.5 * (1.0 + b);
    loop {
        let step = (x * x * x - b) / (3.0 * x * x);
        x -= step;
        if step.abs() <= 1e-13 * x {
            return x;
        }
    }
}

#[autobatch]
fn outside_returning(a: f64) -> f64 {
    (0..ROOTS).map(|i| returning(a + f64::from(i))).sum()
}

#[derive(Clone, Copy, Debug)]
struct Newton {
    tolerance: f64,
}

impl Newton {
    fn cube_root(&self, b: f64) -> f64 {
        let mut x = 0.5 * (1.0 + b);
        let mut before = 0.0;
        while (x - before).abs() > self.tolerance * x {
            before = x;
            x -= (x * x * x - b) / (3.0 * x * x);
        }
        x
    }
}

#[autobatch]
fn method(a: f64) -> f64 {
    let newton = Newton { tolerance: 1e-13 };
    let mut sum = 0.0;
    for i in 0..ROOTS {
        sum += newton.cube_root(a + f64::from(i));
    }
    sum
}

#[autobatch]
mod module {
    use super::ROOTS;

    pub(super) fn sum(a: f64) -> f64 {
        let mut sum = 0.0;
        for i in 0..ROOTS {
            sum += cube_root(a + f64::from(i));
        }
        sum
    }

    fn cube_root(b: f64) -> f64 {
        let mut x = 0.5 * (1.0 + b);
        let mut before = 0.0;
        while (x - before).abs() > 1e-13 * x {
            before = x;
            x -= (x * x * x - b) / (3.0 * x * x);
        }
        x
    }
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let members = members.unwrap_or(MEMBERS);
    let mut numbers = Numbers::new(23);
    let a: Vec<f64> = (0..members).map(|_| numbers.within(0.1, 4.0)).collect();
    macro_rules! style {
        ($name:literal, $scalar:path, $batched:path) => {
            Style {
                name: $name,
                inputs: a.clone(),
                states: vec![(); members],
                scalar: |a, m, ()| $scalar(a[m]),
                batched: |a, _, options| $batched(a, options),
            }
            .any()
        };
    }
    vec![
        style!("roots/inline", inline, inline_batched_with),
        style!("roots/helper outside", outside, outside_batched_with),
        style!("roots/outside, returning", outside_returning, outside_returning_batched_with),
        style!("roots/method", method, method_batched_with),
        style!("roots/module", module::sum, module::sum_batched_with),
    ]
}
