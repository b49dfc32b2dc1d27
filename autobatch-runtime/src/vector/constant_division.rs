//! Division by a number that is written in the code: a few multiplications in the place of the division unit.
//!
//! ```text
//! x / 6.0   ──▶   q = x * (1/6);   q + (x - 6 * q) * (1/6)        // fused: the remainder is exact
//! ```
//!
//! **Source.** Markstein, “Computation of elementary functions on the IBM RISC System/6000 processor”, IBM Journal of Research and
//! Development 34, 1990: if `q` is one of the two numbers next to x/c, and `r` the number nearest to 1/c, then `q + (x - c * q) * r` is the
//! number nearest to x/c. Where `x * r` may be further away, the part of 1/c that `r` leaves out is added.
//!
//! **Invariant:** a quotient is the division's, bit for bit, or a fault is noted, behind which the tile runs as scalar code: very small and very
//! large dividends, of which remainders are not exact.

use super::lookup::Fault;

/// Dividends whose remainders are exact, with room for constants of all sizes that are taken.
const SIZES: std::ops::RangeInclusive<f64> = 1e-270..=1e300;

/// A quotient by a constant, or another number, which is noted.
#[cfg_attr(optimised, inline(always))]
pub fn quotient(dividend: f64, constant: f64, fault: &Fault) -> f64 {
    // All of this is known when the code is compiled.
    let reciprocal = 1.0 / constant;
    let missing = (-reciprocal).mul_add(constant, 1.0);
    let scale = constant.abs();
    if !(scale > 1.0 / 1024.0 && scale < 1024.0) || missing == 0.0 {
        return dividend / constant;
    }
    let near = missing.abs() <= f64::EPSILON / 4.0;
    let product = dividend * reciprocal;
    let first = match near {
        true => product,
        false => dividend.mul_add(reciprocal, dividend * (missing / constant)),
    };
    let quotient = (-constant).mul_add(first, dividend).mul_add(reciprocal, first);
    let size = dividend.abs();
    let inside = SIZES.contains(&size);
    fault.note(!inside && size > 0.0 && size < f64::INFINITY);
    // Of zeros, infinities and what is no number the product is the quotient.
    if inside { quotient } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all sizes, and those next to powers of two.
    fn dividends() -> impl Iterator<Item = u64> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let noise = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        });
        let edges = (0..2047u64).flat_map(|e| [0, 1, 2, (1 << 52) - 2, (1 << 52) - 1].map(|m| e << 52 | m));
        noise.take(if cfg!(miri) { 50 } else { 20_000 }).chain(edges)
    }

    #[test]
    fn quotients_are_those_of_the_division_unit() {
        let constants =
            [3.0, 6.0, -12.0, 15.0, 0.1, 7.0, 1.4, 24.0, 100.0, 255.0, 0.3, 180.0, 0.0625, 2.0, 1e-9, 1023.0];
        for constant in constants {
            let mut faults = 0;
            for bits in dividends() {
                let x = f64::from_bits(bits);
                let fault = Fault::new();
                let q = quotient(x, constant, &fault);
                let wide = x.abs() < 1e-270 || x.abs() > 1e300;
                assert!(wide || !fault.is_noted(), "{x:e} / {constant}");
                faults += usize::from(fault.is_noted());
                assert!(
                    fault.is_noted() || q.to_bits() == (x / constant).to_bits() || q.is_nan() && x.is_nan(),
                    "{x:e} / {constant} is not {q:e}"
                );
            }
            assert!(faults > 0 || [0.0625, 2.0, 1e-9].contains(&constant), "very small numbers are left out");
        }
        for x in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE / 3.0] {
            let fault = Fault::new();
            let q = quotient(x, 6.0, &fault);
            assert!(
                fault.is_noted() == (x.is_finite() && x != 0.0)
                    && (fault.is_noted() || q.to_bits() == (x / 6.0).to_bits())
            );
        }
    }
}
