//! Elementary functions that vectorise.
//!
//! std's `exp`, `ln`, `sin` and their like are calls into a library: a loop over them is never turned into
//! SIMD code, and neither are the lanes of a batch. The functions here are the same functions under the same
//! names, `math::exp(x)` for `x.exp()`, written for that: inlined, free of branches, tables and calls, in
//! the arithmetic of their type (`powf` of `f32` has its logarithm in `f64`), so that LLVM compiles them for
//! as many lanes as a register holds. Only `sin`, `cos` and `tan` have a branch, for the lanes whose argument is
//! huge (2²³ and more, 2²⁴ for `f32`).
//!
//! ```
//! use autobatch::math;
//!
//! fn logistic(x: &[f32], out: &mut [f32]) {
//!     for (x, out) in x.iter().zip(out) {
//!         *out = 1.0 / (1.0 + math::exp(-x)); // four, eight or sixteen at a time
//!     }
//! }
//!
//! let mut out = [0.0; 3];
//! logistic(&[-200.0, 0.0, 200.0], &mut out);
//! assert_eq!(out, [0.0, 0.5, 1.0]);
//! ```
//!
//! Results have the same bits on every instruction set and in every build: there are no fused
//! multiplications, and nothing depends on the number of lanes. Special values, signs of zeros, subnormal
//! numbers, overflow and underflow are std's; which NaN comes out is left open, as in std.
//!
//! # Errors
//!
//! The largest errors found, in units in the last place; one half is a correctly rounded result.
//!
//! | | `f32` | `f64` |
//! |---|---|---|
//! | [`exp`] | 0.85 | 0.75 |
//! | [`exp2`] | 0.88 | 0.76 |
//! | [`exp_m1`] | 0.71 | 0.79 |
//! | [`ln`] | 0.91 | 0.85 |
//! | [`log2`] | 0.83 | 0.78 |
//! | [`log10`] | 0.74 | 0.71 |
//! | [`ln_1p`] | 0.96 | 0.89 |
//! | [`sin`] | 0.80 | 0.78 |
//! | [`cos`] | 0.80 | 0.80 |
//! | [`tan`] | 0.86 | 0.84 |
//! | [`asin`] | 0.73 | 0.66 |
//! | [`acos`] | 0.70 | 0.63 |
//! | [`atan`] | 0.70 | 0.64 |
//! | [`atan2`] | 0.68 | 0.67 |
//! | [`sinh`] | 0.80 | 0.81 |
//! | [`cosh`] | 0.75 | 0.74 |
//! | [`tanh`] | 0.84 | 0.84 |
//! | [`cbrt`] | 0.53 | 0.53 |
//! | [`hypot`] | 0.91 | 0.88 |
//! | [`powf`] | 0.87 | 0.79 |
//! | [`erf`] | 0.90 | 0.85 |
//!
//! `f32` was measured against CORE-MATH's results for the same arguments in `f64` (`sin`, `cos`, `tan`, `atan`:
//! glibc's): `exp`, `ln`, `ln_1p`, `tanh`, `erf` and the trigonometric functions for all of them up to the sign,
//! other functions of one argument for every third, and functions of two for ten million pairs or more. `f64`
//! was measured against MPFR with 120 bits or more for two million arguments or pairs or more (`atan`: 0.4
//! million): a part of them any bits, the others around where reductions change, results cancel, overflow or
//! underflow. All errors are below 1, and so results are at most one number away from the correctly rounded
//! one. `sqrt` is correctly rounded, as in std. `powi` multiplies as std's does, with the same result.
//!
//! **Invariant:** no table, no branch but for huge angles, no fused operation: the bits depend on the argument alone.
//!
//! # Sources
//!
//! Reductions by multiples of ln 2 and π/2 in parts are Cody and Waite's (Software Manual for the Elementary
//! Functions), that of huge angles is Payne and Hanek's; sums and products that keep their rounding errors
//! are Dekker's and Knuth's, as in Muller et al., Handbook of Floating-Point Arithmetic; the arrangement of
//! logarithms follows Tang, Table-driven implementation of the logarithm function, without the table, and
//! Sun's fdlibm. The polynomials are minimax approximations made for this crate.

mod erf;
mod exp;
mod format;
mod hyperbolic;
mod log;
mod pow;
mod root;
mod trig;
mod trigonometric;

use format::Format;
use pow::Power;
use trigonometric::Trigonometric;

/// `f32` or `f64`: the numbers that the functions of this module take. No other type is one.
///
/// ```
/// use autobatch::math::{self, Real};
///
/// fn half_life<T: Real>(rate: T, two: T) -> T {
///     math::ln(two) / rate
/// }
///
/// assert_eq!(half_life(0.5f32, 2.0), 2.0 * std::f32::consts::LN_2);
/// ```
pub trait Real: Power + Trigonometric {}

impl Real for f32 {}
impl Real for f64 {}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),+) = $path:path, $example:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        /// use autobatch::math;
        ///
        #[doc = concat!("assert!(", $example, ");")]
        /// ```
        #[cfg_attr(optimised, inline(always))]
        #[must_use]
        pub fn $name<T: Real>($($argument: T),+) -> T {
            $path($($argument),+)
        }
    )*};
}

functions! {
    /// e^`x`: infinite above 709.8 (`f32`: 88.7), 0 far below.
    exp(x) = exp::exp, "math::exp(0.0) == 1.0 && math::exp(-1e9_f32) == 0.0";
    /// 2^`x`, exact for integers.
    exp2(x) = exp::exp2, "math::exp2(-3.0) == 0.125";
    /// e^`x` - 1, accurate for small `x` too.
    exp_m1(x) = exp::exp_m1, "math::exp_m1(1e-20) == 1e-20";
    /// The natural logarithm: NaN below 0, -∞ at 0.
    ln(x) = log::ln, "math::ln(1.0) == 0.0 && math::ln(-1.0_f64).is_nan()";
    /// The logarithm to base 2, exact for powers of two: NaN below 0, -∞ at 0.
    log2(x) = log::log2, "math::log2(0.125) == -3.0";
    /// The logarithm to base 10, exact for powers of ten: NaN below 0, -∞ at 0.
    log10(x) = log::log10, "math::log10(1000.0) == 3.0";
    /// ln(1 + `x`), accurate for small `x` too: NaN below -1, -∞ there.
    ln_1p(x) = log::ln_1p, "math::ln_1p(1e-20) == 1e-20";
    /// The sine of an angle in radians: NaN for infinite ones.
    sin(x) = Trigonometric::sin, "math::sin(0.5) == 0.479425538604203";
    /// The cosine of an angle in radians: NaN for infinite ones.
    cos(x) = Trigonometric::cos, "math::cos(0.0) == 1.0";
    /// The tangent of an angle in radians: NaN for infinite ones.
    tan(x) = Trigonometric::tan, "math::tan(0.0) == 0.0";
    /// The angle in radians, from -π/2 to π/2, whose sine is `x`: NaN outside of [-1, 1].
    asin(x) = Trigonometric::asin, "math::asin(1.0) == std::f64::consts::FRAC_PI_2";
    /// The angle in radians, from 0 to π, whose cosine is `x`: NaN outside of [-1, 1].
    acos(x) = Trigonometric::acos, "math::acos(-1.0) == std::f64::consts::PI";
    /// The angle in radians, from -π/2 to π/2, whose tangent is `x`.
    atan(x) = Trigonometric::atan, "math::atan(1.0) == std::f64::consts::FRAC_PI_4";
    /// The angle in radians, from -π to π, of the point (`x`, `y`). The first argument is `y`, as in std.
    atan2(y, x) = Trigonometric::atan2, "math::atan2(1.0, 0.0) == std::f64::consts::FRAC_PI_2";
    /// The hyperbolic sine.
    sinh(x) = hyperbolic::sinh, "math::sinh(0.0) == 0.0";
    /// The hyperbolic cosine.
    cosh(x) = hyperbolic::cosh, "math::cosh(0.0) == 1.0";
    /// The hyperbolic tangent: ±1 for large `x`.
    tanh(x) = hyperbolic::tanh, "math::tanh(40.0) == 1.0";
    /// The square root, which is std's: NaN below 0.
    sqrt(x) = Format::sqrt, "math::sqrt(2.25) == 1.5";
    /// The cube root, of negative numbers too.
    cbrt(x) = root::cbrt, "math::cbrt(-8.0) == -2.0";
    /// The length of the vector (`x`, `y`), without overflow or underflow on the way.
    hypot(x, y) = root::hypot, "math::hypot(3e300, 4e300) == 5e300";
    /// `x` to the power of `y`: NaN if `x` is negative and `y` is no integer.
    powf(x, y) = pow::powf, "math::powf(2.0, 0.5) == 2f64.sqrt()";
    /// The error function: 2 / sqrt(π) times the integral of e^(-t^2) from 0 to `x`.
    erf(x) = erf::erf, "math::erf(0.0) == 0.0 && math::erf(6.0) == 1.0";
}

/// `x` to the power of an integer, by the same multiplications as std's method.
///
/// Lanes differ in `n`, so that all 32 steps are done unless it is a constant. [`powf`] is more accurate, and
/// mostly faster then.
///
/// ```
/// assert_eq!(autobatch::math::powi(0.5, -3), 8.0);
/// ```
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn powi<T: Real>(x: T, n: i32) -> T {
    pow::powi(x, n)
}

/// [`sin`] and [`cos`] at once, with the same bits, for little more than one of them.
///
/// ```
/// use autobatch::math;
///
/// assert_eq!(math::sin_cos(0.5), (math::sin(0.5), math::cos(0.5)));
/// ```
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn sin_cos<T: Real>(x: T) -> (T, T) {
    Trigonometric::sin_cos(x)
}
