//! `sinh`, `cosh`, `tanh`.

use super::exp::{clamp, exp_parts, reduce};
use super::format::Format;

/// The parts of sinh and cosh of |x| = n ln 2 + r, from cosh r and sinh r, which need one polynomial each
/// and no division: both functions, times 2^(1 - n), are
/// (1 ± 2^-2n) cosh r + (1 ∓ 2^-2n) sinh r.
struct Parts<F> {
    r: F,
    /// 2^-2n.
    inverse: F,
    /// cosh r - 1 and sinh r - r.
    cosh: F,
    sinh: F,
    scale: (F, F),
}

#[cfg_attr(optimised, inline(always))]
fn parts<F: Format>(x: F) -> Parts<F> {
    let (n, r, correction, scale) = reduce(clamp(x.abs(), (F::lit(0.0), F::SINH_HIGH)));
    // Beyond the mantissa, 2^-2n is as good as 0.
    let limit = F::lit(32.0);
    let inverse = (F::lit(-2.0) * if n > limit { limit } else { n }).exp2_integer();
    let z = r * r;
    let cosh = z * F::cosh_tail(z);
    let sinh = correction + r * z * F::sinh_tail(z);
    Parts { r, inverse, cosh, sinh, scale }
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn sinh<F: Format>(x: F) -> F {
    let one = F::lit(1.0);
    let Parts { r, inverse, cosh, sinh, scale } = parts(x);
    let base = one - inverse;
    let base_low = (one - base) - inverse;
    let linear = r + inverse * r;
    let linear_low = inverse * r - (linear - r);
    let sum = base + linear;
    let low = (linear - (sum - base)) + (linear_low + base_low);
    let tail = base * cosh + (one + inverse) * sinh;
    let result = sum + (low + tail);
    (F::lit(0.5) * result * scale.0 * scale.1).copysign(x)
}

#[cfg_attr(optimised, inline(always))]
pub(super) fn cosh<F: Format>(x: F) -> F {
    let one = F::lit(1.0);
    let Parts { r, inverse, cosh, sinh, scale } = parts(x);
    let base = one + inverse;
    let base_low = inverse - (base - one);
    let sum = base + r;
    let low = (r - (sum - base)) + base_low;
    let tail = base * cosh + (one - inverse) * sinh;
    let result = sum + ((low + tail) - inverse * r);
    F::lit(0.5) * result * scale.0 * scale.1
}

/// x + x^3 P(x^2) for small x, else 1 - 2 / (e^2x + 1), where the quotient is small enough for its rounding
/// error to matter little.
#[cfg_attr(optimised, inline(always))]
pub(super) fn tanh<F: Format>(x: F) -> F {
    let (one, two) = (F::lit(1.0), F::lit(2.0));
    let magnitude = x.abs();
    let z = magnitude * magnitude;
    let small = magnitude + magnitude * z * F::tanh_tail(z);

    let bounded = clamp(magnitude, (F::lit(0.0), F::TANH_HIGH));
    let (_, r, correction, scale) = reduce(two * bounded);
    let (sum, low) = exp_parts(r, correction);
    let scale = scale.0 * scale.1;
    let power = sum + low;
    let power_low = (low - (power - sum)) * scale;
    let power = power * scale;
    let divisor = power + one;
    let divisor_low = (one - (divisor - power)) + power_low;
    let quotient = two / divisor;
    let large = one - quotient;
    let large_low = ((one - large) - quotient) + F::lit(0.5) * quotient * quotient * divisor_low;
    let large = large + large_low;

    let result = if magnitude < F::lit(0.625) { small } else { large };
    result.copysign(x)
}
