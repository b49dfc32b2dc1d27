//! `f64`: never further than one number from the correctly rounded result, and seldom that one.

use autobatch_runtime::math;

use crate::{Random, exhaustive};

/// The number of floating-point numbers from one to the other.
fn distance(a: f64, b: f64) -> u64 {
    let order = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    if a.is_nan() && b.is_nan() { 0 } else { order(a).abs_diff(order(b)) }
}

/// Counts results that are not correctly rounded.
struct Tally {
    samples: u32,
    misrounded: u32,
}

impl Tally {
    fn new() -> Tally {
        Tally { samples: 0, misrounded: 0 }
    }

    fn add(&mut self, got: f64, rounded: f64, call: impl Fn() -> String) {
        let distance = distance(got, rounded);
        assert!(distance <= 1, "{} = {got:e} is {distance} numbers from {rounded:e}", call());
        self.samples += 1;
        self.misrounded += distance as u32;
    }

    fn check(&self, name: &str, percent: f64) {
        let share = 100.0 * self.misrounded as f64 / self.samples as f64;
        assert!(share <= percent, "{share} % of all results of {name} are not correctly rounded");
    }
}

fn check(
    name: &str,
    percent: f64,
    interesting: &[(f64, f64)],
    function: impl Fn(f64) -> f64,
    oracle: impl Fn(f64) -> f64,
) {
    let mut random = Random::new();
    let scale = if exhaustive() { 500 } else { 1 };
    let one = |tally: &mut Tally, x: f64| {
        tally.add(function(x), oracle(x), || format!("{name}({x:e})"));
    };
    // All exponents and signs.
    let mut everywhere = Tally::new();
    for exponent in 0..0x1000u64 {
        for _ in 0..16 * scale {
            one(&mut everywhere, f64::from_bits(exponent << 52 | random.bits() >> 12));
        }
    }
    let mut there = Tally::new();
    for &(low, high) in interesting {
        for _ in 0..40_000 * scale {
            let x = random.within(low, high);
            one(&mut there, x);
        }
    }
    there.check(name, percent);
}

macro_rules! unary {
    ($($name:ident $oracle:ident $percent:literal $interesting:expr;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $percent, &$interesting, math::$name, core_math::$oracle);
        }
    )*};
}

// Where reductions change, results cancel, and overflow or underflow begins.
unary! {
    exp exp 6.0 [(-1.0, 1.0), (-746.0, 710.0), (709.7, 709.8), (-745.2, -707.0)];
    exp2 exp2 6.0 [(-1.0, 1.0), (-1076.0, 1024.0), (1023.9, 1024.0), (-1075.1, -1020.0)];
    exp_m1 expm1 7.0 [(-1.0, 1.0), (-1e-3, 1e-3), (-40.0, 40.0), (709.7, 709.8), (-37.5, -36.0)];
    ln log 6.0 [(0.6, 1.5), (0.99, 1.01), (0.0, 1e3)];
    log2 log2 5.0 [(0.6, 1.5), (0.99, 1.01), (0.0, 1e3)];
    log10 log10 5.0 [(0.6, 1.5), (0.99, 1.01), (0.0, 1e3)];
    ln_1p log1p 8.0 [(-0.5, 0.5), (-1.0, -0.99), (-1e-3, 1e-3), (0.0, 1e3)];
    sinh sinh 6.0 [(-1.0, 1.0), (-30.0, 30.0), (710.4, 710.5)];
    cosh cosh 6.0 [(-1.0, 1.0), (-30.0, 30.0), (710.4, 710.5)];
    tanh tanh 8.0 [(-1.0, 1.0), (0.62, 0.63), (-20.0, 20.0)];
    cbrt cbrt 3.0 [(0.9, 8.1), (-1e3, 1e3)];
    erf erf 10.0 [(-1.0, 1.0), (0.74, 0.76), (-6.0, 6.0)];
}

fn check_pairs(
    name: &str,
    percent: f64,
    function: impl Fn(f64, f64) -> f64,
    oracle: impl Fn(f64, f64) -> f64,
    mut sample: impl FnMut(&mut Random) -> (f64, f64),
) {
    let (mut random, mut tally) = (Random::new(), Tally::new());
    for _ in 0..if exhaustive() { 50_000_000 } else { 100_000 } {
        let (x, y) = sample(&mut random);
        tally.add(function(x, y), oracle(x, y), || format!("{name}({x:e}, {y:e})"));
    }
    tally.check(name, percent);
}

#[test]
fn powf() {
    let check = |sample: fn(&mut Random) -> (f64, f64)| {
        check_pairs("powf", 10.0, math::powf, core_math::pow, sample);
    };
    check(|random| (f64::from_bits(random.bits()), f64::from_bits(random.bits())));
    check(|random| {
        let x = f64::from_bits(random.bits() >> 1);
        (x, random.within(-1080.0, 1030.0) / x.log2())
    });
    check(|random| {
        let x = random.within(0.5, 1.5);
        (x, random.within(-1080.0, 1030.0) / x.log2())
    });
    check(|random| {
        let x = 1.0 + random.within(-0.5, 0.5) * (-random.within(0.0, 50.0)).exp2();
        (x, random.within(-1080.0, 1030.0) / x.log2())
    });
    check(|random| (random.within(-20.0, 20.0), random.within(-100.0, 100.0).round()));
}

#[test]
fn hypot() {
    let check = |sample: fn(&mut Random) -> (f64, f64)| {
        check_pairs("hypot", 15.0, math::hypot, core_math::hypot, sample);
    };
    check(|random| (f64::from_bits(random.bits()), f64::from_bits(random.bits())));
    check(|random| {
        let x = f64::from_bits(random.bits());
        (x, x * random.within(-1.0, 1.0))
    });
    check(|random| (random.within(1.0, 2.0), random.within(0.0, 2.0)));
}
