//! `exp`, `exp2`, `exp_m1`: Cody and Waite's reduction by multiples of ln 2, a minimax polynomial, and a
//! last addition that keeps what the leading terms round away.

use super::format::Format;

/// `x`, moved into the range; NaN stays NaN.
#[cfg_attr(optimised, inline(always))]
pub(super) fn clamp<F: Format>(x: F, range: (F, F)) -> F {
    let x = if x > range.1 { range.1 } else { x };
    if x < range.0 { range.0 } else { x }
}

/// n, r and a correction with x = n ln 2 + r + correction, and 2^n in two factors.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce<F: Format>(x: F) -> (F, F, F, (F, F)) {
    let (n, scale) = (x * F::lit(std::f64::consts::LOG2_E)).round_exponent();
    let high = x - n * F::LN_2.0;
    let low = n * F::LN_2.1;
    let r = high - low;
    (n, r, (high - r) - low, scale)
}

/// e^(r + correction) for |r| <= ln 2 / 2 and a tiny correction, as a sum yet to be rounded.
#[cfg_attr(optimised, inline(always))]
pub(super) fn exp_parts<F: Format>(r: F, correction: F) -> (F, F) {
    let tail = correction + r * r * F::exp_tail(r);
    let sum = F::lit(1.0) + r;
    (sum, (r - (sum - F::lit(1.0))) + tail)
}

/// How a format makes e^r of its parts.
pub trait Exponential: Format {
    /// e^(r + correction) for |r| <= ln 2 / 2 and a tiny correction.
    fn exp_reduced(r: Self, correction: Self) -> Self;
}

impl Exponential for f32 {
    /// The correction is worth a tenth of an ulp, and `exp` of `f32` is what many kernels spend their
    /// time in.
    #[cfg_attr(optimised, inline(always))]
    fn exp_reduced(r: f32, _correction: f32) -> f32 {
        let (sum, low) = exp_parts(r, -0.0);
        sum + low
    }
}

impl Exponential for f64 {
    #[cfg_attr(optimised, inline(always))]
    fn exp_reduced(r: f64, correction: f64) -> f64 {
        let (sum, low) = exp_parts(r, correction);
        sum + low
    }
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn exp<F: Exponential>(x: F) -> F {
    let (_, r, correction, scale) = reduce(clamp(x, F::EXP_RANGE));
    F::exp_reduced(r, correction) * scale.0 * scale.1
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn exp2<F: Exponential>(x: F) -> F {
    let x = clamp(x, F::EXP2_RANGE);
    let (n, scale) = x.round_exponent();
    exp2_reduced(x - n, F::lit(-0.0)) * scale.0 * scale.1
}

/// 2^(r + low) where the sum is at most 1/2 in magnitude and `low` is the smaller part.
#[cfg_attr(optimised, inline(always))]
pub(super) fn exp2_reduced<F: Exponential>(r: F, low: F) -> F {
    // Times ln 2, where the product of the leading parts is exact.
    let high = (r + low).short();
    let rest = low - (high - r);
    let product = high * F::LN_2_SHORT.0;
    let product_low = high * F::LN_2_SHORT.1 + rest * F::lit(std::f64::consts::LN_2);
    let r = product + product_low;
    F::exp_reduced(r, product_low - (r - product))
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn exp_m1<F: Format>(x: F) -> F {
    let one = F::lit(1.0);
    let (n, r, correction, scale) = reduce(clamp(x, (F::EXP_M1_LOW, F::EXP_RANGE.1)));
    // e^x - 1 = 2^n ((1 - 2^-n) + (e^r - 1)). Beyond the mantissa, 2^-n is as good as 0.
    let limit = F::lit(64.0);
    let inverse = (-if n > limit { limit } else { n }).exp2_integer();
    let base = one - inverse;
    let base_low = (one - base) - inverse;
    let sum = base + r;
    let low = (r - (sum - base)) + (correction + base_low);
    // r^2 / 2 matters enough to be exact, too.
    let (half, short) = (F::lit(0.5), r.short());
    let square = half * short * short;
    let square_low = half * (r - short) * (r + short);
    let total = sum + square;
    let total_low = (square - (total - sum)) + (square_low + low);
    let result = total + (total_low + r * r * r * F::exp_m1_tail(r));
    // -0 is the one argument for which the sign could get lost.
    (result * scale.0 * scale.1).copysign(x)
}
