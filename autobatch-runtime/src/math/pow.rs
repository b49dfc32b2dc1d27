//! `powf` and `powi`. The former is 2^(y log2 x) with the logarithm to half as many bits more than a number
//! has.

use super::exp::{Exponential, clamp, exp_parts, exp2_reduced};
use super::format::{Format, poly};
use super::log::{decompose, extremes};

/// log2 of a positive finite number as a short number and the rest.
///
/// ln m = 2 atanh s with s = f / (2 + f), written as 2/3 s (3 + s^2 + 3/5 s^4 + ...): all products of leading
/// parts are of short numbers, so exact.
#[cfg_attr(optimised, inline(always))]
fn log2_parts(x: f64) -> (f64, f64) {
    let (k, f) = decompose(x);
    let divisor = 2.0 + f;
    let inverse = 1.0 / divisor;
    let divisor_high = divisor.short();
    let divisor_low = f - (divisor_high - 2.0);
    let s = f * inverse;
    let s_high = s.short();
    let s_low = ((f - s_high * divisor_high) - s_high * divisor_low) * inverse;

    // The rest of the series is R(z) z^2: the part of z that is exact goes into the leading sum, the other
    // one where rounding errors do not matter.
    let z_high = s_high * s_high;
    let z_low = s_low * (s_high + s);
    let z = s * s;
    let w = z * z;
    let rest = poly!(
        z, w;
        0.6000000000000338, 0.4285714285514804, 0.3333333378027205, 0.27272676509044663,
        0.23080138092577163, 0.19885176544825311; 0.19794951528059224
    );
    let tail = z_high * z_high * rest;
    let sum_high = ((3.0 + z_high) + tail).short();
    let sum_low = (tail - ((sum_high - 3.0) - z_high)) + z_low * (1.0 + (z_high + z) * rest);

    let product = s_high * sum_high;
    let product_low = s_low * sum_high + sum_low * s;
    let high = (product + product_low).short();
    let low = product_low - (high - product);

    // Times 2 / (3 ln 2).
    const SCALE: (f64, f64) = (0.961_796_686_053_276_1, 7.872_699_542_894_897e-9);
    let scaled = SCALE.0 * high;
    let scaled_low = SCALE.1 * high + low * (SCALE.0 + SCALE.1);
    let log_high = (k + (scaled + scaled_low)).short();
    (log_high, scaled_low - ((log_high - k) - scaled))
}

/// [`Power::pow_positive`] with a logarithm in two numbers.
#[cfg_attr(optimised, inline(always))]
fn pow_positive_f64(x: f64, y: f64, invalid: bool) -> f64 {
    let (log_high, log_low) = log2_parts(x);
    // Without these limits the exponent's parts could be infinities of opposite signs.
    let bounded = clamp(y, (-f64::POW_LIMIT, f64::POW_LIMIT));
    let y_high = bounded.short();
    let product = y_high * log_high;
    let product_low = (bounded - y_high) * log_high + bounded * log_low;
    let (n, _) = (product + product_low).round_exponent();
    let (_, scale) = clamp(n, f64::EXP2_RANGE).round_exponent();
    // Far out of range, n is not exact, and the scale alone decides.
    let exact = product.abs() < 4096.0;
    let power = exp2_reduced((product - n).or_zero(exact), product_low.or_zero(exact));
    let result = power * scale.0 * scale.1;

    let result = result.or_nan(invalid);
    let explodes = (y > 0.0) == (x > 0.0);
    let extreme = f64::INFINITY.or_zero(explodes);
    let result = if (x > 0.0) & (x < f64::INFINITY) { result } else { extreme };
    result.or_nan(x.is_nan() | y.is_nan())
}

/// [`Power::pow_positive`] with the logarithm in `f64`: half of the lanes for a few operations, where pairs
/// of `f32` would need many for all.
#[cfg_attr(optimised, inline(always))]
fn pow_positive_f32(x: f32, y: f32, invalid: bool) -> f32 {
    let (k, f) = decompose(x);
    // The logarithms of 0 and infinity bring the right limits, whatever the sign was.
    let extreme = (x == 0.0) | (x == f32::INFINITY);
    let k = k.or_nan(invalid & !extreme) + extremes(x);

    // log2 m = 2 / ln 2 atanh s.
    let f = f as f64;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let log = k as f64
        + s * poly!(
            z, w;
            2.8853900817901406, 0.9617966732842695, 0.5770835944706963, 0.41167221659825987;
            0.34073839970205927
        );

    // 0 is what the logarithm of 1 times an infinite y is to be.
    let bounded = clamp(y, (-f32::POW_LIMIT, f32::POW_LIMIT)) as f64;
    let exponent = bounded * log;
    let (n, _) = exponent.round_exponent();
    let r = ((exponent - n) * std::f64::consts::LN_2) as f32;
    let (sum, low) = exp_parts(r.or_zero(!extreme | y.is_nan()), -0.0);
    let (_, scale) = clamp(n as f32, f32::EXP2_RANGE).round_exponent();
    (sum + low) * scale.0 * scale.1
}

/// How a format raises to a power.
pub trait Power: Exponential {
    /// `self`^y for a positive `self` that may be 0, infinite or NaN, and any y but 0; NaN where `invalid`
    /// and neither 0 nor infinite.
    fn pow_positive(self, y: Self, invalid: bool) -> Self;
}

impl Power for f32 {
    #[cfg_attr(optimised, inline(always))]
    fn pow_positive(self, y: f32, invalid: bool) -> f32 {
        pow_positive_f32(self, y, invalid)
    }
}

impl Power for f64 {
    #[cfg_attr(optimised, inline(always))]
    fn pow_positive(self, y: f64, invalid: bool) -> f64 {
        pow_positive_f64(self, y, invalid)
    }
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn powf<F: Power>(x: F, y: F) -> F {
    let (zero, one) = (F::lit(0.0), F::lit(1.0));
    // An even number up to this limit is as it was after adding the limit, where even numbers are all there
    // are; an odd one is off by 1. All numbers above are even.
    let limit = F::INTEGERS + F::INTEGERS;
    let y_magnitude = y.abs();
    let y_magnitude = if y_magnitude < limit { y_magnitude } else { limit };
    let off = (y_magnitude - ((y_magnitude + limit) - limit)).abs();
    let (odd, even) = (off == one, off == zero);
    let negative = one.copysign(x) < zero;

    let result = x.abs().pow_positive(y, negative & !(odd | even));
    let result = result.mul_sign(x, odd);
    if (x == one) | (y == zero) { one } else { result }
}

/// As compiler-rt, which std calls, does it, but always with all 32 steps, since lanes differ in `n`.
#[cfg_attr(optimised, inline(always))]
pub(super) fn powi<F: Format>(x: F, n: i32) -> F {
    let one = F::lit(1.0);
    let bits = n.unsigned_abs();
    let (mut result, mut square) = (one, x);
    macro_rules! step {
        ($($bit:literal)*) => {$(
            let times = result * square;
            result = if bits & (1 << $bit) != 0 { times } else { result };
            // 1 when it is not needed any more: underflow is slow.
            let next = square * square;
            square = if bits >> $bit > 1 { next } else { one };
        )*};
    }
    step!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30);
    let times = result * square;
    result = if bits & (1 << 31) != 0 { times } else { result };
    let inverse = one / result;
    if n < 0 { inverse } else { result }
}
