//! `erf`.

use super::exp::{clamp, exp_parts};
use super::format::Format;

/// x + x P(x^2) up to 3/4, then 1 - e^Q(x): the logarithm of the complement is smooth enough for one
/// polynomial, and its errors matter as little as the complement is small.
#[cfg_attr(optimised, inline(always))]
pub(super) fn erf<F: Format>(x: F) -> F {
    let (one, change) = (F::lit(1.0), F::lit(0.75));
    let magnitude = x.abs();
    let z = magnitude * magnitude;
    let small = magnitude + magnitude * F::erf_tail(z);

    // Q's constant term, but for a rest, is short enough to be exact in the reduction.
    let u = clamp(magnitude, (change, F::ERF_HIGH)) - change;
    let (constant, tail) = (F::lit(-1.2421875), F::ln_erfc(u));
    let (n, scale) = ((constant + tail) * F::lit(std::f64::consts::LOG2_E)).round_exponent();
    let r = (constant - n * F::LN_2.0) + (tail - n * F::LN_2.1);
    let (sum, low) = exp_parts(r, F::lit(-0.0));
    let scale = scale.0 * scale.1;
    let complement = sum * scale;
    let large = one - complement;
    let large = large + (((one - large) - complement) - low * scale);

    let result = if magnitude < change { small } else { large };
    result.copysign(x)
}
