//! Quotients with twice the precision of a number.

use crate::math::format::Format;

macro_rules! quotient {
    ($float:ident, $remainder:ident, $name:ident) => {
        /// n - t d for n and d of two parts each, and t very near the quotient.
        #[cfg_attr(optimised, inline(always))]
        pub(super) fn $remainder(n: ($float, $float), d: ($float, $float), t: $float) -> $float {
            // Exact products of the halves of the numbers, as in Dekker's algorithm.
            let (t0, d0) = (t.short(), d.0.short());
            let (t1, d1) = (t - t0, d.0 - d0);
            let exact = (((n.0 - t0 * d0) - t0 * d1) - t1 * d0) - t1 * d1;
            exact + (n.1 - t * d.1)
        }

        /// n / d likewise, neither being near the limits of the format.
        #[cfg_attr(optimised, inline(always))]
        pub(super) fn $name(n: ($float, $float), d: ($float, $float)) -> ($float, $float) {
            let reciprocal = 1.0 / d.0;
            let t = n.0 * reciprocal;
            (t, $remainder(n, d, t) * reciprocal)
        }
    };
}

quotient! { f32, remainder_f32, quotient_f32 }
quotient! { f64, remainder_f64, quotient_f64 }
