//! `f32`: the error in ulp, measured against the result for the same number in `f64`, which is exact enough.

use autobatch_runtime::math;

use crate::{Random, exhaustive};

/// 2^128, which is what infinity stands for in a rounding error.
const BEYOND: f64 = (1u128 << 127) as f64 * 2.0;

fn ulps(got: f32, exact: f64) -> f64 {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let got = if got.is_infinite() { BEYOND.copysign(got as f64) } else { got as f64 };
    let exact = exact.clamp(-BEYOND, BEYOND);
    let exponent = (exact.abs().to_bits() >> 52).clamp(1023 - 126, 1023 + 127);
    (got - exact).abs() / f64::from_bits((exponent - 23) << 52)
}

fn check(name: &str, bound: f64, function: impl Fn(f32) -> f32, oracle: impl Fn(f64) -> f64) {
    // A prime, so that all bits vary.
    let stride = if exhaustive() { 1 } else { 1499 };
    for bits in (0..=u32::MAX).step_by(stride) {
        let x = f32::from_bits(bits);
        let (got, exact) = (function(x), oracle(x as f64));
        let error = ulps(got, exact);
        assert!(error <= bound, "{name}({x:e}) = {got:e} is {error} ulp from {exact:e}");
    }
}

macro_rules! unary {
    ($($name:ident $bound:literal $oracle:ident;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $bound, math::$name, core_math::$oracle);
        }
    )*};
}

// A little above the errors of the module's documentation, where not all arguments were measured.
unary! {
    exp 0.86 exp;
    exp2 0.90 exp2;
    exp_m1 0.73 expm1;
    ln 0.92 log;
    log2 0.85 log2;
    log10 0.76 log10;
    ln_1p 0.97 log1p;
    sinh 0.81 sinh;
    cosh 0.76 cosh;
    tanh 0.85 tanh;
    cbrt 0.54 cbrt;
    erf 0.91 erf;
}

#[test]
fn sqrt() {
    check("sqrt", 0.5, math::sqrt, f64::sqrt);
}

fn check_pairs(
    name: &str,
    bound: f64,
    function: impl Fn(f32, f32) -> f32,
    oracle: impl Fn(f64, f64) -> f64,
    mut sample: impl FnMut(&mut Random) -> (f32, f32),
) {
    let mut random = Random::new();
    for _ in 0..if exhaustive() { 200_000_000 } else { 250_000 } {
        let (x, y) = sample(&mut random);
        let (got, exact) = (function(x, y), oracle(x as f64, y as f64));
        let error = ulps(got, exact);
        assert!(error <= bound, "{name}({x:e}, {y:e}) = {got:e} is {error} ulp from {exact:e}");
    }
}

#[test]
fn powf() {
    let check = |sample: fn(&mut Random) -> (f32, f32)| {
        check_pairs("powf", 0.90, math::powf, core_math::pow, sample);
    };
    check(|random| (f32::from_bits(random.bits() as u32), f32::from_bits(random.bits() as u32)));
    // All results, from underflow to overflow, for any base and for bases near 1.
    check(|random| {
        let x = f32::from_bits(random.bits() as u32 & 0x7fff_ffff);
        (x, (random.within(-155.0, 135.0) / (x as f64).log2()) as f32)
    });
    check(|random| {
        let x = random.within(0.5, 1.5) as f32;
        (x, (random.within(-155.0, 135.0) / (x as f64).log2()) as f32)
    });
    // Integers, of either sign.
    check(|random| (random.within(-20.0, 20.0) as f32, random.within(-30.0, 30.0).round() as f32));
}

#[test]
fn hypot() {
    let check = |sample: fn(&mut Random) -> (f32, f32)| {
        check_pairs("hypot", 0.92, math::hypot, f64::hypot, sample);
    };
    check(|random| (f32::from_bits(random.bits() as u32), f32::from_bits(random.bits() as u32)));
    check(|random| {
        let x = f32::from_bits(random.bits() as u32);
        (x, x * random.within(-1.0, 1.0) as f32)
    });
    check(|random| (random.within(1.0, 2.0) as f32, random.within(0.0, 2.0) as f32));
}
