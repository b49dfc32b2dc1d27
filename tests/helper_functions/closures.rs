//! Helpers that are given functions: closures, functions, by value and by reference, generic and not.

// Written as users write.
#![allow(clippy::manual_is_multiple_of, clippy::redundant_closure, clippy::needless_borrows_for_generic_args)]

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 500];

fn newton(f: impl Fn(f64) -> (f64, f64), start: f64) -> f64 {
    let mut x = start;
    loop {
        let (y, slope) = f(x);
        let step = y / slope;
        x -= step;
        if step.abs() < 1e-12 {
            return x;
        }
    }
}

fn bisect<F>(f: F, mut low: f64, mut high: f64) -> f64
where
    F: Fn(f64) -> f64,
{
    while high - low > 1e-9 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

fn simpson(f: &dyn Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let h = (high - low) / 8.0;
    let mut sum = f(low) + f(high);
    for i in 1..8 {
        sum += if i % 2 == 1 { 4.0 } else { 2.0 } * f(low + h * i as f64);
    }
    sum * h / 3.0
}

fn heun<F: Fn(f64, f64) -> f64>(f: &F, t: f64, y: f64, h: f64) -> f64 {
    let k = f(t, y);
    y + 0.5 * h * (k + f(t + h, y + h * k))
}

fn repeat<F: FnMut(u32) -> bool>(mut f: F, most: u32) -> u32 {
    let mut n = 0;
    while n < most && f(n) {
        n += 1;
    }
    n
}

fn curve(x: f64) -> f64 {
    x * x * x - 2.0
}

#[autobatch(strict)]
fn given(a: f64, n: u32) -> f64 {
    let mut sum = 0.0;
    for i in 0..4 {
        let c = a + i as f64;
        sum += newton(|x| (x * x - c, 2.0 * x), 0.5 * (1.0 + c));
        sum += bisect(|x: f64| x * x * x - c, 0.0, 3.0) + bisect(curve, 0.0, 2.0);
        sum -= simpson(&|x| x * (c - x), 0.0, a);
    }
    let decay = |t: f64, y: f64| t - a * y;
    let (mut t, mut y) = (0.0, 1.0);
    while t < 1.0 {
        y = heun(&decay, t, y, 0.0625);
        t += 0.0625;
    }
    let mut found = 0.0;
    let count = repeat(
        |k| {
            found += f64::from(k) * a;
            found < 9.0
        },
        n % 20,
    );
    let sign = if n % 3 == 0 && newton(|x| (x - y, 1.0), sum) > 1.0 { -1.0 } else { 1.0 };
    sign * sum + y + found + f64::from(count)
}

#[test]
fn functions_of_every_kind() {
    let inputs: Vec<(f64, u32)> = (0..120).map(|i| (f64::from(i) * 0.03 + 0.1, i * 7 % 50)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(a, n)| given(a, n),
        |batch, options| given_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
}

fn in_turn(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    f(n / 2) + f(n / 3)
}

/// The program's own calls in a closure that is handed on, and the function itself.
#[autobatch(strict)]
fn handed_on(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    in_turn(|i| handed_on(i) * 3 % 1000, n)
}

#[autobatch(strict)]
fn as_a_value(n: u64) -> u64 {
    if n == 0 { 0 } else { 1 + in_turn(as_a_value, n) }
}

#[test]
fn recursion_through_a_helper() {
    let ns: Vec<u64> = (0..60).map(|i| i * i % 97).collect();
    agree_at(SIZES, &ns, |&n| handed_on(n), |n, options| handed_on_batched_with(n, options));
    agree_at(SIZES, &ns, |&n| as_a_value(n), |n, options| as_a_value_batched_with(n, options));
}

/// A copy counts what the closure changes where the call stands.
#[autobatch(strict)]
fn in_order(a: f64, n: u32) -> (f64, u32) {
    let mut calls = 0;
    let before = n + calls;
    let x = f64::from(before)
        + a * f64::from(repeat(
            |k| {
                calls += 1;
                k < n % 7
            },
            n,
        ));
    (x, calls)
}

#[test]
fn what_closures_change_is_changed_in_order() {
    let inputs: Vec<(f64, u32)> = (0..60).map(|i| (f64::from(i) * 0.5, i % 23)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(a, n)| in_order(a, n),
        |batch, options| in_order_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
}

#[autobatch(strict, vector_math)]
fn by_math(a: f64) -> f64 {
    newton(|x| (x.exp() - a, x.exp()), 1.0)
        + simpson(&|x| x.sin(), 0.0, a)
        + bisect(|x| x.ln() - 0.1 * a, 0.5, 2.0)
}

/// Elementary functions in closures are `math`'s in every executor.
#[test]
fn closures_round_alike() {
    use autobatch::math;
    let by_math = |a: f64| {
        newton(|x| (math::exp(x) - a, math::exp(x)), 1.0)
            + simpson(&|x| math::sin(x), 0.0, a)
            + bisect(|x| math::ln(x) - 0.1 * a, 0.5, 2.0)
    };
    let inputs: Vec<f64> = (0..120).map(|i| f64::from(i) * 0.03 + 1.1).collect();
    agree_at(SIZES, &inputs, |&a| by_math(a), |batch, options| by_math_batched_with(batch, options));
}

fn axpy<const N: usize>(y: [f64; N], h: f64, k: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| y[i] + h * k[i])
}

fn midpoint<const N: usize>(f: impl Fn([f64; N]) -> [f64; N], y: [f64; N], h: f64) -> [f64; N] {
    let k = f(axpy(y, 0.5 * h, f(y)));
    axpy(y, h, k)
}

/// Closures about arrays and structures, which capture what changes between their calls and what does not.
#[autobatch(strict)]
fn about_arrays(a: f64, n: u32) -> f64 {
    let field = |[x, y]: [f64; 2]| [y, (1.0 - x * x) * y * a - x];
    let mut y = [a, 0.5];
    let mut h = 0.125;
    for i in 0..n % 9 {
        y = midpoint(&field, y, h);
        let scale = |p: [f64; 2]| [p[0] * h, p[1] - h];
        let [u, v] = scale(y);
        h = if u > v { h * 0.5 } else { 0.125 };
        let mut count = 0;
        let mut seen = |p: [f64; 2]| {
            count += 1;
            p[0] + f64::from(count)
        };
        y[1] += 0.01 * (seen(y) - seen([u, v])) + f64::from(i) * 1e-3;
        let before = move |p: [f64; 2]| p[0] * h;
        y[0] += 1e-3 * before(y);
    }
    y[0] + y[1] * h
}

#[test]
fn closures_about_arrays() {
    let inputs: Vec<(f64, u32)> = (0..120).map(|i| (f64::from(i) * 0.01 + 0.1, i * 7 % 50)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(a, n)| about_arrays(a, n),
        |batch, options| about_arrays_batched_with(&column(batch, |i| i.0), &column(batch, |i| i.1), options),
    );
}
