//! `cbrt`, `hypot`.

use super::format::Format;

/// A polynomial for m^(-1/3), an iteration by the series of (1 - e)^(-1/3), and the same series again from an
/// approximation so short that its cube is exact.
#[cfg_attr(optimised, inline(always))]
pub(super) fn cbrt<F: Format>(x: F) -> F {
    let (zero, one, third) = (F::lit(0.0), F::lit(1.0), F::lit(1.0 / 3.0));
    let magnitude = x.abs();
    let (lifted, offset) = magnitude.lift();
    let (k, m) = lifted.exponent();
    let k = k - offset;
    // k = 3 q + j with j in -1, 0, 1.
    let (q, _) = (k * third).round_exponent();
    let j = k - F::lit(3.0) * q;

    let start = F::lit(1.669969)
        + m * (F::lit(-1.1727732)
            + m * (F::lit(0.6953713) + m * (F::lit(-0.22118738) + m * F::lit(0.0285826))));
    let (up, down) = (j > zero, j < zero);
    let factor = if up { F::lit(0.7937005259840998) } else { one };
    let factor = if down { F::lit(1.2599210498948732) } else { factor };
    let power = if up { F::lit(2.0) } else { one };
    let power = if down { F::lit(0.5) } else { power };
    let (inverse, m) = (start * factor, m * power);

    let error = one - m * inverse * inverse * inverse;
    let inverse = inverse + inverse * (error * (third + error * F::lit(2.0 / 9.0)));
    let square = inverse * inverse;
    let root = (m * square).third();
    let error = (m - root * root * root) * (square * inverse);
    let series = error * (third + error * (F::lit(2.0 / 9.0) + error * F::lit(14.0 / 81.0)));
    let root = root + root * series;

    let result = (root * q.exp2_integer()).copysign(x);
    // Zeros, infinities and NaN are their own roots.
    if (magnitude > zero) & (magnitude < F::INFINITY) { result } else { x }
}

/// The square root of the sum of squares, whose squares are exact, so that it is rounded but once before.
#[cfg_attr(optimised, inline(always))]
pub(super) fn hypot<F: Format>(x: F, y: F) -> F {
    let one = F::lit(1.0);
    let (x, y) = (x.abs(), y.abs());
    let swap = x > y;
    let large = if swap { x } else { y };
    let small = if swap { y } else { x };
    let (shrink, grow) = (large > F::SQUARE_HIGH.0, large < F::SQUARE_LOW.0);
    let factor = if shrink { F::SQUARE_HIGH.1 } else { one };
    let factor = if grow { F::SQUARE_LOW.1 } else { factor };
    let back = if shrink { one / F::SQUARE_HIGH.1 } else { one };
    let back = if grow { one / F::SQUARE_LOW.1 } else { back };

    let (a, b) = (large * factor, small * factor);
    let (a_high, b_high) = (a.short(), b.short());
    let (a_square, b_square) = (a_high * a_high, b_high * b_high);
    let a_rest = (a - a_high) * (a + a_high);
    let b_rest = (b - b_high) * (b + b_high);
    let sum = a_square + b_square;
    let low = b_square - (sum - a_square);
    let result = (sum + (low + (a_rest + b_rest))).sqrt() * back;

    let infinite = (x == F::INFINITY) | (y == F::INFINITY);
    if infinite { F::INFINITY } else { result }
}
