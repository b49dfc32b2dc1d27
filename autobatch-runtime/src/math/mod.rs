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
//! # use autobatch_runtime as autobatch;
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

/// `f32` or `f64`.
pub trait Real: Power + Trigonometric {}

impl Real for f32 {}
impl Real for f64 {}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),+) = $path:path;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name<T: Real>($($argument: T),+) -> T {
            $path($($argument),+)
        }
    )*};
}

functions! {
    /// e^`x`.
    exp(x) = exp::exp;
    /// 2^`x`.
    exp2(x) = exp::exp2;
    /// e^`x` - 1, accurate for small `x` too.
    exp_m1(x) = exp::exp_m1;
    /// The natural logarithm.
    ln(x) = log::ln;
    /// The logarithm to base 2, exact for powers of two.
    log2(x) = log::log2;
    /// The logarithm to base 10, exact for powers of ten.
    log10(x) = log::log10;
    /// ln(1 + `x`), accurate for small `x` too.
    ln_1p(x) = log::ln_1p;
    /// The sine of an angle in radians.
    sin(x) = Trigonometric::sin;
    /// The cosine of an angle in radians.
    cos(x) = Trigonometric::cos;
    /// The tangent of an angle in radians.
    tan(x) = Trigonometric::tan;
    /// The angle, in radians, whose sine is `x`.
    asin(x) = Trigonometric::asin;
    /// The angle, in radians, whose cosine is `x`.
    acos(x) = Trigonometric::acos;
    /// The angle, in radians, whose tangent is `x`.
    atan(x) = Trigonometric::atan;
    /// The angle, in radians, of the point (`x`, `y`).
    atan2(y, x) = Trigonometric::atan2;
    /// The hyperbolic sine.
    sinh(x) = hyperbolic::sinh;
    /// The hyperbolic cosine.
    cosh(x) = hyperbolic::cosh;
    /// The hyperbolic tangent.
    tanh(x) = hyperbolic::tanh;
    /// The square root, which is std's.
    sqrt(x) = Format::sqrt;
    /// The cube root.
    cbrt(x) = root::cbrt;
    /// The length of the vector (`x`, `y`), without overflow or underflow on the way.
    hypot(x, y) = root::hypot;
    /// `x` to the power of `y`.
    powf(x, y) = pow::powf;
    /// The error function: 2 / sqrt(π) times the integral of e^(-t^2) from 0 to `x`.
    erf(x) = erf::erf;
}

/// `x` to the power of an integer, by the same multiplications as std's method.
///
/// Lanes differ in `n`, so that all 32 steps are done unless it is a constant. [`powf`] is more accurate, and
/// mostly faster then.
#[inline(always)]
#[must_use]
pub fn powi<T: Real>(x: T, n: i32) -> T {
    pow::powi(x, n)
}

/// [`sin`] and [`cos`] at once, for little more than one of them.
#[inline(always)]
#[must_use]
pub fn sin_cos<T: Real>(x: T) -> (T, T) {
    Trigonometric::sin_cos(x)
}
