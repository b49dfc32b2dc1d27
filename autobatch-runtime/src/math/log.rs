//! `ln`, `log2`, `log10`, `ln_1p`: the series of atanh(f / (2 + f)), arranged as in Sun's fdlibm so that f
//! and f^2 / 2 enter without rounding errors of the quotient.

use super::format::Format;

/// The exponent and f of `x` = 2^k (1 + f), subnormal numbers too.
#[cfg_attr(optimised, inline(always))]
pub(super) fn decompose<F: Format>(x: F) -> (F, F) {
    let (lifted, offset) = x.lift();
    let (k, m) = lifted.decompose();
    (k - offset, m - F::lit(1.0))
}

/// f^2 / 2 and a correction with ln(1 + f) = f - f^2 / 2 + correction.
#[cfg_attr(optimised, inline(always))]
fn ln_parts<F: Format>(f: F, s: F) -> (F, F) {
    let z = s * s;
    let half_square = F::lit(0.5) * f * f;
    (half_square, s * (half_square + z * F::log_tail(z)))
}

/// `result` where `x` is positive and finite, else what all logarithms have in common.
#[cfg_attr(optimised, inline(always))]
fn specials<F: Format>(x: F, result: F) -> F {
    let special = (-F::INFINITY).or_nan(x < F::lit(0.0));
    let result = if x < F::INFINITY { result } else { x };
    if x <= F::lit(0.0) { special } else { result }
}

/// What to add to a finite result for the logarithms of 0, infinity and NaN.
#[cfg_attr(optimised, inline(always))]
pub(super) fn extremes<F: Format>(x: F) -> F {
    let finite = x < F::INFINITY;
    x.or_zero(!finite) + (-F::INFINITY).or_zero(x == F::lit(0.0))
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn ln<F: Format>(x: F) -> F {
    let (k, f) = decompose(x);
    let (half_square, correction) = ln_parts(f, f / (F::lit(2.0) + f));
    let base = k * F::LN_2.0;
    let sum = base + f;
    let low = (f - (sum - base)) + k * F::LN_2.1;
    specials(x, sum + (low - (half_square - correction)))
}

/// The logarithm for the base whose ln is 1 / `scale`: `k_log` is that of 2^k in two parts.
#[cfg_attr(optimised, inline(always))]
fn log_scaled<F: Format>(f: F, k_log: (F, F), scale: (F, F)) -> F {
    let (half_square, correction) = ln_parts(f, f / (F::lit(2.0) + f));
    let high = (f - half_square).short();
    let low = ((f - high) - half_square) + correction;
    let product = high * scale.0;
    let product_low = (low + high) * scale.1 + low * scale.0;
    let sum = k_log.0 + product;
    sum + (((k_log.0 - sum) + product) + (k_log.1 + product_low))
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn log2<F: Format>(x: F) -> F {
    let (k, f) = decompose(x);
    specials(x, log_scaled(f, (k, F::lit(0.0)), F::LOG2_E))
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn log10<F: Format>(x: F) -> F {
    let (k, f) = decompose(x);
    specials(x, log_scaled(f, (k * F::LOG10_2.0, k * F::LOG10_2.1), F::LOG10_E))
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn ln_1p<F: Format>(x: F) -> F {
    let (zero, one) = (F::lit(0.0), F::lit(1.0));
    // u + rest = 1 + x exactly, whichever is the larger.
    let u = one + x;
    let shared = u - one;
    let rest = ((one - (u - shared)) + (x - shared)).or_zero(u < F::INFINITY);
    let (k, m) = u.decompose();
    let f = m - one;
    // Where u is large enough for 2^-k to be out of range, the rest is 0.
    let limit = F::lit(64.0);
    let rest = rest * (-if k > limit { limit } else { k }).exp2_integer();
    // One division for 1 / (2 + f) and 1 / m, the latter for the slope 1 - f / m of ln at m.
    let divisor = F::lit(2.0) + f;
    let inverse = one / (divisor * m);
    let (half_square, correction) = ln_parts(f, f * m * inverse);
    let bend = rest * (f * divisor * inverse);
    let base = k * F::LN_2.0;
    let sum = base + f;
    let low = (f - (sum - base)) + k * F::LN_2.1;
    let result = sum + ((low + rest) - (half_square - (correction - bend)));
    let result = (result + extremes(u)).or_nan(x < -one);
    if x == zero { x } else { result }
}
