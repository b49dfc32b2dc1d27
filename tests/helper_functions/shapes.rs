//! Helpers of every shape.

#![allow(clippy::many_single_char_names, clippy::needless_range_loop, clippy::too_many_arguments)] // as users write

use autobatch::{Isa, Options, autobatch, math, same};

use crate::common::{agree_at, column, executors};

const SCALE: f64 = 0.75;

#[derive(Clone, Copy)]
struct Params {
    a: f64,
    b: f64,
    powers: [f64; 3],
}

const PARAMS: Params = Params { a: 1.5, b: 0.25, powers: [0.5, -0.125, 0.0625] };

fn integrand(x: f64, p: &Params) -> f64 {
    let y = p.a * x;
    y * y - p.b / (1.0 + square(x)) + polynomial(x, &p.powers)
}

#[inline]
const fn square(x: f64) -> f64 {
    x * x
}

/// A loop over shared data, and an early return.
fn polynomial(x: f64, powers: &[f64]) -> f64 {
    if x < -1.0 {
        return powers[0] * SCALE;
    }
    let mut sum = 0.0;
    for i in 0..powers.len() {
        sum = sum * x + powers[i];
    }
    sum
}

#[autobatch(strict)]
fn quadrature(lo: f64, hi: f64, tol: f64, p: &Params) -> f64 {
    let (mid, h) = (0.5 * (lo + hi), hi - lo);
    let (f0, f1, f2) = (integrand(lo, p), integrand(mid, p), integrand(hi, p));
    let (f3, f4) = (integrand(0.5 * (lo + mid), p), integrand(0.5 * (mid + hi), p));
    let whole = h / 6.0 * (f0 + 4.0 * f1 + f2);
    let halves = h / 12.0 * (f0 + 4.0 * f3 + 2.0 * f1 + 4.0 * f4 + f2);
    let error = halves - whole;
    if error.abs() <= 15.0 * tol || h < 1e-3 {
        return halves + error / 15.0;
    }
    quadrature(lo, mid, 0.5 * tol, p) + quadrature(mid, hi, 0.5 * tol, p)
}

fn intervals(count: u32) -> Vec<(f64, f64)> {
    (0..count).map(|i| (f64::from(i % 17) * 0.21 - 1.5, f64::from(i % 29) * 0.13)).collect()
}

#[test]
fn an_integrand_with_helpers_of_its_own() {
    agree_at(
        &[1, 33, 700],
        &intervals(97),
        |&(lo, hi)| quadrature(lo, hi, 1e-6, &PARAMS),
        |batch, options| {
            let (lo, hi) = (column(batch, |x| x.0), column(batch, |x| x.1));
            quadrature_batched_with(&lo, &hi, same(1e-6), &PARAMS, options)
        },
    );
}

/// A helper that returns from the head of a loop, which is none of the caller's returns.
fn bounded(x: f64) -> f64 {
    let mut sum = 0.0;
    for y in [if x > 1.0 { return 2.0 } else { x }, 1.0] {
        sum += y;
    }
    sum
}

#[autobatch(strict)]
fn returns_in_heads(x: f64, rounds: u32) -> f64 {
    let mut sum = 0.0;
    for _ in 0..rounds {
        sum += 0.5 * bounded(x + 0.1 * sum);
    }
    sum
}

#[test]
fn returns_in_heads_of_loops_are_the_helpers() {
    agree_at(
        &[1, 33, 700],
        &intervals(97),
        |&(x, _)| returns_in_heads(x, 9),
        |batch, options| returns_in_heads_batched_with(column(batch, |x| x.0), same(9), options),
    );
}

type State = [f64; 3];

fn derivative(s: State, k: f64) -> State {
    let [x, y, z] = s;
    [k * (y - x), x * (2.0 - z) - y, x * y - k * z]
}

/// The state and its result behind references.
fn advance(s: &mut State, d: &State, h: f64) {
    for i in 0..3 {
        s[i] += h * d[i];
    }
}

fn norm(s: &[f64]) -> f64 {
    let mut sum = 0.0;
    for x in s {
        sum += x * x;
    }
    sum.sqrt()
}

/// Two results, one of them perhaps none.
fn step(s: State, h: f64, k: f64) -> (State, Option<f64>) {
    let mut next = s;
    let d = derivative(s, k);
    advance(&mut next, &d, h);
    let size = norm(&next);
    if size > 100.0 {
        return (s, None);
    }
    (next, Some(size))
}

fn fallible(x: u32) -> Option<u32> {
    let twice = x.checked_mul(2)?;
    twice.checked_sub(7)
}

#[autobatch]
fn orbit(s: State, h: f64, k: f64, n: u32) -> State {
    if n == 0 {
        return s;
    }
    let (next, size) = step(s, h, k);
    let size = match size {
        Some(size) => size,
        None => return next,
    };
    let d = derivative(next, k);
    let mut moved = next;
    advance(&mut moved, &d, h * 0.5);
    if size < 0.5 {
        return orbit(moved, h * 2.0, k, n - 1);
    }
    let left = orbit(moved, h * 0.5, k, n / 2);
    orbit([left[0] + next[0], left[1], next[2]], h, k, n - 1)
}

#[test]
fn arrays_tuples_options_and_references() {
    let inputs: Vec<(State, u32)> =
        (0..83).map(|i| ([f64::from(i % 7) * 0.4, 1.0 - f64::from(i % 5), 0.1], i % 9)).collect();
    agree_at(
        &[1, 40, 300],
        &inputs,
        |&(s, n)| orbit(s, 0.01, 1.25, n),
        |batch, options| {
            orbit_batched_with(
                column(batch, |x| x.0),
                same(0.01),
                same(1.25),
                column(batch, |x| x.1),
                options,
            )
        },
    );
}

#[autobatch]
fn question(n: u32, x: u32) -> u32 {
    if n == 0 {
        return fallible(x).unwrap_or(3);
    }
    question(n - 1, x ^ n) % 1000 + question(n / 2, x.wrapping_add(1 << 31))
}

#[test]
fn a_helper_that_asks() {
    let inputs: Vec<(u32, u32)> = (0..61).map(|i| (i % 7, i * 3)).collect();
    agree_at(
        &[1, 61],
        &inputs,
        |&(n, x)| question(n, x),
        |batch, options| question_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), options),
    );
}

fn force(x: f64, k: f64) -> f64 {
    let stiff = if x > 1.0 { k * 2.0 } else { k };
    -stiff * x - 0.1 * x * x * x
}

/// A loop that all members run equally often.
#[autobatch(strict)]
fn leap(x: f64, v: f64, k: f64, #[shared] steps: u32) -> f64 {
    let (mut x, mut v) = (x, v);
    for _ in 0..steps {
        v += 0.01 * force(x, k);
        x += 0.01 * v;
    }
    x
}

#[test]
fn a_helper_in_a_uniform_loop() {
    agree_at(
        &[1, 31, 600],
        &intervals(97),
        |&(x, v)| leap(x, v, 1.5, 57),
        |batch, options| {
            leap_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), same(1.5), 57, options)
        },
    );
}

/// It fails for some members: they end, with the scalar function's message.
fn checked(table: &[u32; 4], at: u32) -> u32 {
    assert!(at != 3, "three");
    table[at as usize] / (at - 1)
}

#[autobatch]
fn fails(n: u32, at: u32, table: &[u32; 4]) -> u32 {
    if n == 0 { checked(table, at) } else { fails(n - 1, at, table) + fails(n / 2, (at + 1) % 5, table) }
}

#[test]
fn helpers_fail_alone() {
    let inputs: Vec<(u32, u32)> = (0..40).map(|i| (i % 3, i % 6)).collect();
    let table = [3, 1, 4, 1];
    let (n, at) = (column(&inputs, |x| x.0), column(&inputs, |x| x.1));
    std::panic::set_hook(Box::new(|_| {}));
    let scalar: Vec<Option<u32>> =
        inputs.iter().map(|&(n, at)| std::panic::catch_unwind(|| fails(n, at, &table)).ok()).collect();
    for (name, options) in executors() {
        let outcome = fails_batched_with(&n, &at, &table, &options).unwrap();
        let messages: Vec<String> = outcome.faults().iter().map(ToString::to_string).collect();
        assert!(messages.iter().any(|m| m.contains("three")), "{name}: {messages:?}");
        assert!(messages.iter().any(|m| m.contains("divide by zero")), "{name}: {messages:?}");
        assert!(messages.iter().any(|m| m.contains("index out of bounds")), "{name}: {messages:?}");
        let values: Vec<Option<u32>> = outcome.into_results().into_iter().map(Result::ok).collect();
        assert_eq!(values, scalar, "{name}");
    }
}

fn wave(x: f64, w: f64) -> f64 {
    (w * x).sin() * x + damped(x) * (2.0 * w * x).cos()
}

fn damped(x: f64) -> f64 {
    let y = if x > 0.5 { f64::exp(-x) } else { x.exp() };
    y / 3.0
}

/// The same with what `vector_math` computes.
fn wave_by_math(x: f64, w: f64) -> f64 {
    let y = if x > 0.5 { math::exp(-x) } else { math::exp(x) };
    math::sin(w * x) * x + y / 3.0 * math::cos(2.0 * w * x)
}

macro_rules! simpson {
    ($name:ident, $f:ident) => {
        fn $name(lo: f64, hi: f64, tol: f64, w: f64) -> f64 {
            let (mid, h) = (0.5 * (lo + hi), hi - lo);
            let (f0, f1, f2) = ($f(lo, w), $f(mid, w), $f(hi, w));
            let (f3, f4) = ($f(0.5 * (lo + mid), w), $f(0.5 * (mid + hi), w));
            let whole = h / 6.0 * (f0 + 4.0 * f1 + f2);
            let halves = h / 12.0 * (f0 + 4.0 * f3 + 2.0 * f1 + 4.0 * f4 + f2);
            let error = halves - whole;
            if error.abs() <= 15.0 * tol || h < 1e-3 {
                return halves + error / 15.0;
            }
            $name(lo, mid, 0.5 * tol, w) + $name(mid, hi, 0.5 * tol, w)
        }
    };
}
simpson!(by_math, wave_by_math);

#[autobatch(strict, vector_math)]
fn waves(lo: f64, hi: f64, tol: f64, w: f64) -> f64 {
    let (mid, h) = (0.5 * (lo + hi), hi - lo);
    let (f0, f1, f2) = (wave(lo, w), wave(mid, w), wave(hi, w));
    let (f3, f4) = (wave(0.5 * (lo + mid), w), wave(0.5 * (mid + hi), w));
    let whole = h / 6.0 * (f0 + 4.0 * f1 + f2);
    let halves = h / 12.0 * (f0 + 4.0 * f3 + 2.0 * f1 + 4.0 * f4 + f2);
    let error = halves - whole;
    if error.abs() <= 15.0 * tol || h < 1e-3 {
        return halves + error / 15.0;
    }
    waves(lo, mid, 0.5 * tol, w) + waves(mid, hi, 0.5 * tol, w)
}

/// A second function with the same helper: each has copies of its own.
#[autobatch(strict, vector_math)]
fn once(x: f64) -> f64 {
    wave(x, 1.0) + damped(-x)
}

struct Medium {
    decay: f64,
}

#[autobatch(vector_math)]
impl Medium {
    fn far(&self, x: f64, n: u32) -> f64 {
        if n == 0 { wave(x, self.decay) } else { self.far(x * 0.5, n - 1) + damped(x) }
    }
}

fn everywhere(check: impl Fn(&Options)) {
    for (_, options) in executors() {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            check(&options.clone().isa(isa).threads(2));
        }
    }
}

fn bits(all: &[f64]) -> Vec<u64> {
    all.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn elementary_functions_of_helpers_are_those_of_math() {
    let inputs = intervals(150);
    let (lo, hi) = (column(&inputs, |x| x.0), column(&inputs, |x| x.1));
    let wanted: Vec<f64> = inputs.iter().map(|&(lo, hi)| by_math(lo, hi, 1e-4, 2.5)).collect();
    let damped = |x: f64| wave_by_math(x, 0.0) - 0.0 * x;
    let single: Vec<f64> = lo.iter().map(|&x| wave_by_math(x, 1.0) + damped(-x)).collect();
    let medium = Medium { decay: 1.75 };
    let far: Vec<f64> =
        lo.iter().map(|&x| wave_by_math(x * 0.25, 1.75) + damped(x * 0.5) + damped(x)).collect();
    everywhere(|options| {
        let got = waves_batched_with(&lo, &hi, same(1e-4), same(2.5), options).unwrap();
        assert_eq!(bits(&got.into_values().unwrap()), bits(&wanted));
        let got = once_batched_with(&lo, options).unwrap();
        assert_eq!(bits(&got.into_values().unwrap()), bits(&single));
        let got = Medium::far_batched_with(&medium, &lo, same(2), options).unwrap();
        assert_eq!(bits(&got.into_values().unwrap()), bits(&far));
    });
}
