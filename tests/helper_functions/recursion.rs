//! Helpers that call themselves: they are part of the program.

// Written as users write.
#![allow(clippy::manual_is_multiple_of)]

use autobatch::autobatch;

use crate::common::{agree_at, column};
use crate::{SIZES, inputs};

agree! {
    quadrature: area, area_batched_with;
    a_function_that_has_the_attribute_itself: twice, twice_batched_with;
    in_turn_and_through_another: steps, steps_batched_with;
    through_the_function_itself: own, own_batched_with;
    hidden_by_a_name_of_the_body: hidden, hidden_batched_with;
    of_the_module_around: within::deep, within::deep_batched_with;
}

#[derive(Clone, Copy)]
struct Rule {
    tolerance: f64,
    deepest: u32,
}

fn simpson(low: f64, high: f64, k: f64, rule: Rule) -> f64 {
    let (middle, h) = (0.5 * (low + high), (high - low) / 6.0);
    let f = |x: f64| 1.0 / (k + x * x);
    let one = h * (f(low) + 4.0 * f(middle) + f(high));
    let two = 0.5 * h * (f(low) + 4.0 * f(0.5 * (low + middle)) + f(middle))
        + 0.5 * h * (f(middle) + 4.0 * f(0.5 * (middle + high)) + f(high));
    if rule.deepest == 0 || (two - one).abs() < rule.tolerance {
        return two;
    }
    let rule = Rule { deepest: rule.deepest - 1, ..rule };
    simpson(low, middle, k, rule) + simpson(middle, high, k, rule)
}

#[autobatch(strict)]
fn area(a: f64, n: u32) -> f64 {
    simpson(0.0, 1.0 + a, 0.05 + a, Rule { tolerance: 1e-6, deepest: n % 12 })
}

#[autobatch(strict)]
fn power(x: f64, n: u32) -> f64 {
    if n == 0 {
        return 1.0;
    }
    let half = power(x * x, n / 2);
    if n % 2 == 1 { x * half } else { half }
}

#[autobatch(strict)]
fn twice(a: f64, n: u32) -> f64 {
    let mut sum = 0.0;
    for i in 0..n % 5 {
        sum += power(0.5 + 0.1 * a, n + i) - power(0.25, i);
    }
    sum
}

fn up(x: f64, left: u32, table: &[f64; 3]) -> f64 {
    if left == 0 { x } else { down(x * 1.25 + table[(left % 3) as usize], left - 1, table) }
}

fn down(x: f64, left: u32, table: &[f64; 3]) -> f64 {
    if x < 0.5 { x } else { up(x * 0.5, left - u32::from(left > 0), table) - table[0] }
}

fn leads(x: f64, n: u32) -> f64 {
    up(x, n, &[0.5, 0.25, x])
}

#[autobatch(strict)]
fn steps(a: f64, n: u32) -> f64 {
    leads(a, n % 17) + down(a, n % 3, &[1.0, a, 0.0])
}

fn back(x: f64, n: u32) -> f64 {
    if n > 20 { own(x * 0.5, n - 20) } else { x }
}

#[autobatch(strict)]
fn own(a: f64, n: u32) -> f64 {
    if n % 3 == 0 { back(a, n) + 1.0 } else { own(a + 0.25, n - 1) }
}

/// The names mean what stands in the body.
#[autobatch(strict)]
fn hidden(a: f64, n: u32) -> f64 {
    fn power(x: f64, n: u32) -> f64 {
        if n < 2 { x + 100.0 } else { power(x, n - 2) }
    }
    let up = |x: f64, n: u32| x - f64::from(n);
    power(a, n) + up(a, n) + back(a, n % 20)
}

pub(crate) fn halves(x: f64, n: u32) -> f64 {
    if x < 1.0 || n == 0 { x } else { halves(x * 0.5, n - 1) + halves(x * 0.25, n / 2) }
}

#[autobatch(strict)]
mod within {
    use super::*;

    pub(crate) fn deep(a: f64, n: u32) -> f64 {
        let mut sum = 0.0;
        for i in 0..n % 4 {
            sum += halves(a * 8.0, i) + other(a, i);
        }
        sum
    }

    fn other(a: f64, n: u32) -> f64 {
        halves(a * 4.0 + 1.0, n + 2)
    }
}

fn decays(x: f64, n: u32) -> f64 {
    if n == 0 { x.sin() } else { decays(x.exp().ln_1p() * 0.5, n - 1) + (x * 0.5).cos() }
}

#[autobatch(strict, vector_math)]
fn elementary(a: f64, n: u32) -> f64 {
    decays(a, n % 9) + decays(a * 0.5, 2)
}

/// Elementary functions in recursive helpers are `math`'s in every executor.
#[test]
fn helpers_round_alike() {
    use autobatch::math;
    fn decays(x: f64, n: u32) -> f64 {
        match n {
            0 => math::sin(x),
            n => decays(math::ln_1p(math::exp(x)) * 0.5, n - 1) + math::cos(x * 0.5),
        }
    }
    agree_at(
        SIZES,
        &inputs(),
        |&(a, n)| decays(a, n % 9) + decays(a * 0.5, 2),
        |batch, options| elementary_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn they_are_functions_of_the_program() {
    for program in [area_batched::program(), twice_batched::program(), within::deep_batched::program()] {
        assert!(program.functions.len() > 1, "{program}");
    }
}
