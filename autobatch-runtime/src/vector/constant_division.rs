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

use std::ops::Div;

use super::lookup::Fault;

/// Numbers that are divided so.
pub trait Dividend: Copy + Div<Output = Self> {
    /// The quotient by a constant, or another number, which is noted.
    fn by(self, constant: Self, fault: &Fault) -> Self;
}

macro_rules! dividend {
    ($($number:ident: $sizes:expr;)*) => {$(
        impl Dividend for $number {
            #[inline(always)]
            fn by(self, constant: $number, fault: &Fault) -> $number {
                // All of this is known when the code is compiled.
                let reciprocal = 1.0 / constant;
                let missing = (-reciprocal).mul_add(constant, 1.0);
                let scale = constant.abs();
                if !(scale > 1.0 / 1024.0 && scale < 1024.0) || missing == 0.0 {
                    return self / constant;
                }
                let near = missing.abs() <= $number::EPSILON / 4.0;
                let product = self * reciprocal;
                let first = match near {
                    true => product,
                    false => self.mul_add(reciprocal, self * (missing / constant)),
                };
                let quotient = (-constant).mul_add(first, self).mul_add(reciprocal, first);
                let size = self.abs();
                let inside = ($sizes).contains(&size);
                fault.note(!inside && size > 0.0 && size < $number::INFINITY);
                // Of zeros, infinities and what is no number the product is the quotient.
                if inside { quotient } else { product }
            }
        }
    )*};
}

// The sizes of dividends whose remainders are exact, with room for constants.
dividend! {
    f32: 1e-24..=1e30;
    f64: 1e-270..=1e300;
}

/// A quotient by a constant, or another number, which is noted.
#[inline(always)]
pub fn quotient<T: Dividend>(dividend: T, constant: T, fault: &Fault) -> T {
    dividend.by(constant, fault)
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

                let (x, constant) = (f32::from_bits((bits >> 31) as u32), constant as f32);
                let fault = Fault::new();
                let q = quotient(x, constant, &fault);
                let wide = x.abs() < 1e-24 || x.abs() > 1e30;
                assert!(wide || !fault.is_noted(), "{x:e} / {constant}");
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
