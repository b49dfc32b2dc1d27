//! The trigonometric half of `autobatch::math` against CORE-MATH, whose results are correctly rounded,
//! against std where that defines the result, and against itself on other instruction sets.
//!
//! With `AUTOBATCH_EXHAUSTIVE=1` in the environment, the functions of one `f32` are tested for all of them,
//! the others for many more arguments. Use a release build for that.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use autobatch_runtime::math;

fn exhaustive() -> bool {
    std::env::var_os("AUTOBATCH_EXHAUSTIVE").is_some_and(|value| value != "0")
}

/// SplitMix64: any deterministic source of bits will do.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A power of two.
    fn scale(&mut self, exponents: std::ops::Range<i32>) -> f64 {
        2f64.powi(exponents.start + (self.bits() % exponents.len() as u64) as i32)
    }
}

mod single {
    use super::*;

    /// The error in ulp. `exact` is a result in `f64`.
    fn ulps(got: f32, exact: f64) -> f64 {
        if got.is_nan() || exact.is_nan() {
            return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
        }
        let exponent = (exact.abs().to_bits() >> 52).max(1023 - 126);
        (f64::from(got) - exact).abs() / f64::from_bits((exponent - 23) << 52)
    }

    fn check(name: &str, bound: f64, function: impl Fn(f32) -> f32, oracle: impl Fn(f64) -> f64) {
        // A prime, so that all bits vary.
        let stride = if exhaustive() { 1 } else { 4999 };
        let mut worst = (0.0, 0.0);
        for bits in (0..=u32::MAX).step_by(stride) {
            let x = f32::from_bits(bits);
            let error = ulps(function(x), oracle(f64::from(x)));
            if error > worst.0 {
                worst = (error, x);
            }
        }
        let (error, x) = worst;
        println!("{name}: {error:.4} ulp at {x:e}");
        assert!(error <= bound, "{name}({x:e}) = {:e} has an error of {error} ulp", function(x));
    }

    macro_rules! unary {
        ($($name:ident $bound:literal;)*) => {$(
            #[test]
            fn $name() {
                check(stringify!($name), $bound, math::$name, core_math::$name);
            }
        )*};
    }

    // The bounds are those of the module's documentation.
    unary! {
        sin 0.80;
        cos 0.80;
        tan 0.86;
        asin 0.73;
        acos 0.70;
        atan 0.70;
    }

    #[test]
    fn atan2() {
        let mut random = Random(1);
        let mut worst = (0.0, 0.0, 0.0);
        for i in 0..if exhaustive() { 40_000_000 } else { 40_000 } {
            let x = f32::from_bits(random.bits() as u32);
            let y = match i % 3 {
                0 => f32::from_bits(random.bits() as u32),
                1 => (f64::from(x) * random.scale(-30..31)) as f32,
                _ => (f64::from(x) * 2.5 * (random.unit() * 2.0 - 1.0)) as f32,
            };
            let error = ulps(math::atan2(y, x), core_math::atan2(f64::from(y), f64::from(x)));
            if error > worst.0 {
                worst = (error, y, x);
            }
        }
        println!("atan2: {:.4} ulp at {:e}, {:e}", worst.0, worst.1, worst.2);
        assert!(worst.0 <= 0.68, "atan2({:e}, {:e}) has an error of {} ulp", worst.1, worst.2, worst.0);
    }
}

mod double {
    use super::*;

    /// The number of floating-point numbers from one to the other.
    fn distance(a: f64, b: f64) -> u64 {
        let order = |x: f64| {
            let bits = x.to_bits() as i64;
            if bits < 0 { i64::MIN - bits } else { bits }
        };
        if a.is_nan() && b.is_nan() { 0 } else { order(a).abs_diff(order(b)) }
    }

    /// An error below 1 ulp means: one of the two neighbours of the exact result. Correctly rounded it is
    /// mostly, or else something is wrong that this does not catch.
    fn check<A: Copy + std::fmt::Debug>(
        percent: f64,
        samples: impl Fn(&mut Random, &mut dyn FnMut(A)),
        function: impl Fn(A) -> f64,
        oracle: impl Fn(A) -> f64,
    ) {
        let mut random = Random(2);
        let (mut count, mut misrounded) = (0, 0);
        for _ in 0..if exhaustive() { 1_000_000 } else { 2_000 } {
            samples(&mut random, &mut |x| {
                let (got, rounded) = (function(x), oracle(x));
                let distance = distance(got, rounded);
                assert!(distance <= 1, "{x:?}: {got:e} is {distance} numbers from {rounded:e}");
                count += 1;
                misrounded += distance;
            });
        }
        let share = 100.0 * misrounded as f64 / count as f64;
        println!("{share:.3} % of {count} results are not correctly rounded");
        assert!(share <= percent);
    }

    fn angles(random: &mut Random, call: &mut dyn FnMut(f64)) {
        call(f64::from_bits(random.bits()));
        call((random.unit() - 0.5) * 20.0);
        call((random.unit() - 0.5) * random.scale(-60..60));
        // Near multiples of π/4, of all sizes.
        let multiple = (random.bits() >> (11 + random.bits() % 53)) as f64 * FRAC_PI_4;
        let near = multiple.to_bits().wrapping_add(random.bits() % 5).wrapping_sub(2);
        call(f64::from_bits(near));
        call(f64::from_bits(near) * random.scale(1..960));
        call(multiple * (1.0 + random.unit() * random.scale(-52..-3)));
        // Where the reduction changes.
        call((1u64 << 23) as f64 * (1.0 + (random.unit() - 0.5) * random.scale(-52..-3)));
    }

    fn sines(random: &mut Random, call: &mut dyn FnMut(f64)) {
        call(f64::from_bits(random.bits()));
        call(random.unit() * 2.0 - 1.0);
        call((random.unit() * 2.0 - 1.0) * random.scale(-40..1));
        call(1.0 - random.unit() * random.scale(-53..0));
        call(-1.0 + random.unit() * random.scale(-53..0));
        call(0.5 + (random.unit() - 0.5) * random.scale(-53..-3));
    }

    fn tangents(random: &mut Random, call: &mut dyn FnMut(f64)) {
        call(f64::from_bits(random.bits()));
        call((random.unit() * 2.0 - 1.0) * random.scale(-40..60));
        call(random.unit() * 4.0);
        call(1.0 + (random.unit() - 0.5) * random.scale(-53..0));
        call(0.41421356 + (random.unit() - 0.5) * random.scale(-53..-3));
        call(2.41421356 + (random.unit() - 0.5) * random.scale(-53..-3));
    }

    #[test]
    fn sin() {
        check(4.0, angles, math::sin, core_math::sin);
    }

    #[test]
    fn cos() {
        check(4.0, angles, math::cos, core_math::cos);
    }

    #[test]
    fn tan() {
        check(4.0, angles, math::tan, core_math::tan);
    }

    #[test]
    fn asin() {
        check(3.0, sines, math::asin, core_math::asin);
    }

    #[test]
    fn acos() {
        check(3.0, sines, math::acos, core_math::acos);
    }

    #[test]
    fn atan() {
        check(3.0, tangents, math::atan, core_math::atan);
    }

    #[test]
    fn atan2() {
        let samples = |random: &mut Random, call: &mut dyn FnMut((f64, f64))| {
            let x = f64::from_bits(random.bits());
            call((f64::from_bits(random.bits()), x));
            call((x * random.scale(-60..61), x));
            call((x * 2.5 * (random.unit() * 2.0 - 1.0), x));
            // Underflow, in the quotient and on the way.
            call((random.unit() * random.scale(-1074..-900), random.unit() * random.scale(-1074..100)));
            let (y, x) = (random.unit() * random.scale(900..1024), random.unit() * random.scale(-1000..1024));
            call((y, x));
            call((x, y));
        };
        check(3.0, samples, |(y, x)| math::atan2(y, x), |(y, x)| core_math::atan2(y, x));
    }

    /// The number whose reduction cancels most bits, and others that are hard to reduce.
    #[test]
    fn hard_to_reduce() {
        let hardest = 6381956970095103.0 * 2f64.powi(797);
        for x in [hardest, f64::MAX, 1e22, 1e300, 5.319372648326541e255, FRAC_PI_2, 52707178.0 * FRAC_PI_2] {
            for x in [x, -x] {
                assert!(distance(math::sin(x), core_math::sin(x)) <= 1, "{x:e}");
                assert!(distance(math::cos(x), core_math::cos(x)) <= 1, "{x:e}");
                assert!(distance(math::tan(x), core_math::tan(x)) <= 1, "{x:e}");
            }
        }
    }
}

macro_rules! special {
    ($module:ident $float:ident) => {
        mod $module {
            use super::*;

            const SPECIAL: [$float; 16] = {
                let tiny = $float::from_bits(1);
                let (least, inf, nan) = ($float::MIN_POSITIVE, $float::INFINITY, $float::NAN);
                let max = $float::MAX;
                [0.0, -0.0, 1.0, -1.0, tiny, -tiny, least, -least, inf, -inf, nan, -nan, max, -max, 2.0, -2.0]
            };

            fn same(got: $float, std: $float, call: &str) {
                let equal = got.to_bits() == std.to_bits() || got.is_nan() && std.is_nan();
                assert!(equal, "{call} = {got:e}, not {std:e}");
            }

            #[test]
            fn one_argument() {
                for x in SPECIAL {
                    // Of large numbers and of 2, results are not exact, and std's may be off.
                    let inexact = x.is_finite() && x.abs() > 1.0;
                    let unit = x.abs() == 1.0;
                    if !inexact && !unit {
                        same(math::sin(x), x.sin(), &format!("sin({x:e})"));
                        same(math::cos(x), x.cos(), &format!("cos({x:e})"));
                        same(math::tan(x), x.tan(), &format!("tan({x:e})"));
                    }
                    same(math::asin(x), x.asin(), &format!("asin({x:e})"));
                    same(math::acos(x), x.acos(), &format!("acos({x:e})"));
                    if x.abs() != 2.0 {
                        same(math::atan(x), x.atan(), &format!("atan({x:e})"));
                    }
                }
            }

            #[test]
            fn two_arguments() {
                for y in SPECIAL {
                    for x in SPECIAL {
                        let special = |x: $float| x == 0.0 || !x.is_finite();
                        if special(x) || special(y) || x.abs() == y.abs() {
                            same(math::atan2(y, x), y.atan2(x), &format!("atan2({y:e}, {x:e})"));
                        }
                    }
                }
            }

            #[test]
            fn sin_cos_is_sin_and_cos() {
                let mut random = Random(3);
                for i in 0..10_000 {
                    let x = match i % 2 {
                        0 => (random.unit() * 100.0 - 50.0) as $float,
                        _ => $float::from_bits(random.bits() as _),
                    };
                    let (sin, cos) = math::sin_cos(x);
                    same(sin, math::sin(x), &format!("sin_cos({x:e}).0"));
                    same(cos, math::cos(x), &format!("sin_cos({x:e}).1"));
                }
            }
        }
    };
}

special!(special_single f32);
special!(special_double f64);

/// The same loop, compiled for each instruction set.
#[cfg(target_arch = "x86_64")]
mod instruction_sets {
    use super::*;

    const COUNT: usize = 256;

    macro_rules! same_bits {
        ($float:ident: $($test:ident $call:expr;)*) => {$(
            #[test]
            fn $test() {
                type Loop = unsafe fn(&[$float; COUNT], &[$float; COUNT], &mut [$float; COUNT]);

                macro_rules! compile {
                    ($variant:ident $features:literal) => {
                        #[target_feature(enable = $features)]
                        fn $variant(x: &[$float; COUNT], y: &[$float; COUNT], out: &mut [$float; COUNT]) {
                            for i in 0..COUNT {
                                out[i] = ($call)(x[i], y[i]);
                            }
                        }
                    };
                }

                compile!(baseline "sse2");
                compile!(avx2 "avx2,bmi1,bmi2,fma,lzcnt,popcnt");
                compile!(avx512 "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl");

                let has_avx2 = is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt");
                let has_avx512 = has_avx2
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl");
                let variants: [(bool, Loop); 3] = [(true, baseline), (has_avx2, avx2), (has_avx512, avx512)];

                let mut random = Random(4);
                for round in 0..8 {
                    // Moderate numbers, a few others among them, and any bits.
                    let mut number = || match (round, random.bits() % 16) {
                        (0 | 1, 1..) | (2 | 3, 4..) => (random.unit() * 20.0 - 10.0) as $float,
                        (4 | 5, _) => (random.unit() * 2.0 - 1.0) as $float,
                        _ => $float::from_bits(random.bits() as _),
                    };
                    let (mut x, mut y) = ([0.0; COUNT], [0.0; COUNT]);
                    x.fill_with(&mut number);
                    y.fill_with(&mut number);
                    for (_, variant) in variants.iter().filter(|(detected, _)| *detected) {
                        let mut out = [0.0; COUNT];
                        // SAFETY: detected.
                        unsafe { variant(&x, &y, &mut out) };
                        for i in 0..COUNT {
                            let (got, expected) = (out[i], ($call)(x[i], y[i]));
                            assert!(
                                got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                                "{:e}, {:e}: {got:e}, not {expected:e}", x[i], y[i]
                            );
                        }
                    }
                }
            }
        )*};
    }

    macro_rules! both {
        ($module:ident $float:ident) => {
            mod $module {
                use super::*;

                same_bits! {
                    $float:
                    sin |x: $float, _: $float| math::sin(x);
                    cos |x: $float, _: $float| math::cos(x);
                    sin_cos |x: $float, _: $float| { let (s, c) = math::sin_cos(x); s + 3.0 * c };
                    tan |x: $float, _: $float| math::tan(x);
                    asin |x: $float, _: $float| math::asin(x);
                    acos |x: $float, _: $float| math::acos(x);
                    atan |x: $float, _: $float| math::atan(x);
                    atan2 |x: $float, y: $float| math::atan2(y, x);
                }
            }
        };
    }

    both!(single f32);
    both!(double f64);
}
