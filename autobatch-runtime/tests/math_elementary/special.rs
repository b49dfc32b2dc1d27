//! Special values are those of std, bit for bit but for what kind of NaN; and results that are exact come out
//! exactly.

use autobatch_runtime::math;

use crate::Random;

macro_rules! special_tests {
    ($module:ident, $float:ident, $bits:ident, $signed:ident, $erf:ident, integers: $integers:expr) => {
        mod $module {
            use super::*;

            fn values() -> Vec<$float> {
                let largest_subnormal = $float::from_bits($float::MIN_POSITIVE.to_bits() - 1);
                let positive = [
                    0.0,
                    $float::from_bits(1),
                    largest_subnormal,
                    $float::MIN_POSITIVE,
                    $float::EPSILON,
                    0.5,
                    1.0 - $float::EPSILON / 2.0,
                    1.0,
                    1.0 + $float::EPSILON,
                    1.5,
                    2.0,
                    3.0,
                    4.0,
                    1e3,
                    1e6,
                    1e30,
                    $integers / 2.0 - 0.5,
                    $integers / 2.0,
                    $integers - 1.0,
                    $integers,
                    $integers + 1.0,
                    2.0 * $integers,
                    2.0 * $integers - 1.0,
                    $float::MAX,
                    $float::INFINITY,
                    $float::NAN,
                ];
                positive.into_iter().flat_map(|x| [x, -x]).collect()
            }

            fn same(a: $float, b: $float) -> bool {
                a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
            }

            /// std's own error may differ where the result is no special value.
            fn agree(got: $float, std: $float, call: impl Fn() -> String) {
                let special = !std.is_finite() || std == 0.0 || got == 0.0 || !got.is_finite();
                let near = (got.to_bits() as $signed).abs_diff(std.to_bits() as $signed) <= 2;
                assert!(same(got, std) || !special && near, "{}: {got:e}, std has {std:e}", call());
            }

            #[test]
            fn one_argument() {
                for x in values() {
                    macro_rules! agree {
                        ($name:ident $std:expr) => {
                            agree(math::$name(x), $std(x), || format!("{}({x:e})", stringify!($name)))
                        };
                        ($name:ident) => { agree!($name $float::$name) };
                    }
                    agree!(exp);
                    agree!(exp2);
                    agree!(exp_m1);
                    agree!(ln);
                    agree!(log2);
                    agree!(log10);
                    agree!(ln_1p);
                    agree!(sinh);
                    agree!(cosh);
                    agree!(tanh);
                    agree!(sqrt);
                    agree!(cbrt);
                    // std has no stable one.
                    agree!(erf core_math::$erf);
                }
            }

            #[test]
            fn two_arguments() {
                for x in values() {
                    for y in values() {
                        agree(math::powf(x, y), x.powf(y), || format!("powf({x:e}, {y:e})"));
                        agree(math::hypot(x, y), x.hypot(y), || format!("hypot({x:e}, {y:e})"));
                    }
                }
            }

            #[test]
            fn powi_is_std_s() {
                let mut random = Random::new();
                let mut exponents = vec![0, 1, -1, 2, -2, 3, i32::MAX, i32::MIN, i32::MIN + 1, 1 << 30];
                exponents.extend((0..64).map(|_| random.bits() as i32));
                exponents.extend((0..64).map(|_| random.bits() as i32 >> 24));
                let mut bases = values();
                bases.extend((0..200).map(|_| random.within(-2.0, 2.0) as $float));
                bases.extend((0..50).map(|_| 1.0 + random.within(-1e-6, 1e-6) as $float));
                for &x in &bases {
                    for &n in &exponents {
                        let (got, std) = (math::powi(x, n), x.powi(n));
                        assert!(same(got, std), "powi({x:e}, {n}): {got:e}, std has {std:e}");
                    }
                }
            }

            #[test]
            fn exact_results() {
                let lowest = $float::MIN_EXP - $float::MANTISSA_DIGITS as i32;
                for k in lowest..$float::MAX_EXP {
                    let power = (2.0 as $float).powi(k / 2) * (2.0 as $float).powi(k - k / 2);
                    assert_eq!(math::log2(power), k as $float);
                    assert_eq!(math::exp2(k as $float), power);
                    assert_eq!(math::powf(2.0, k as $float), power);
                    if k % 3 == 0 {
                        let root = (2.0 as $float).powi(k / 3);
                        assert_eq!(math::cbrt(-power), -root);
                    }
                }
                // As far as powers of ten are exact.
                let mut power: $float = 1.0;
                for n in 0..$float::MANTISSA_DIGITS * 10 / 24 {
                    assert_eq!(math::log10(power), n as $float);
                    assert_eq!(math::powf(10.0, n as $float), power);
                    power *= 10.0;
                }
                for n in -100..=100 {
                    let x = n as $float;
                    assert_eq!(math::cbrt(x * x * x), x);
                    assert_eq!(math::powf(x, 2.0), x * x);
                    assert_eq!(math::hypot(3.0 * x, 4.0 * x), 5.0 * x.abs());
                }
            }

            #[test]
            fn odd_and_even() {
                let mut random = Random::new();
                for _ in 0..10_000 {
                    let x = $float::from_bits(random.bits() as $bits);
                    assert!(same(math::sinh(-x), -math::sinh(x)), "{x:e}");
                    assert!(same(math::cosh(-x), math::cosh(x)), "{x:e}");
                    assert!(same(math::tanh(-x), -math::tanh(x)), "{x:e}");
                    assert!(same(math::cbrt(-x), -math::cbrt(x)), "{x:e}");
                    assert!(same(math::erf(-x), -math::erf(x)), "{x:e}");
                }
            }
        }
    };
}

special_tests!(single, f32, u32, i32, erff, integers: 8_388_608.0);
special_tests!(double, f64, u64, i64, erf, integers: 4_503_599_627_370_496.0);
