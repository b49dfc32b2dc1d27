//! Divisions of integers by variables, and remainders of floats, for which there are no vector instructions: by divisions of floats.
//!
//! ```text
//! n / m   ──▶   32 bits: trunc(f64(n) / f64(m)), which is exact
//!               64 bits: i = a bit less than 1 / f64(m);   q = f64(n) * i;   q + round((n - q * m) * i);   one more where n - q * m is not less than m
//! x % y   ──▶   q = trunc(x / y);   r = x - q * y;   r + |y| or r - |y| where r is on the other side of zero than x
//! ```
//!
//! A quotient of floats that is rounded is that of the exact one, or the next integer. So `r` is the remainder, or less than a divisor away from
//! it; both are multiples of a bit that `x` and `y` have, and smaller than `y`, so they are floats, and the product that is fused with the
//! difference is exact.
//!
//! **Source.** Own work. The second step for 64 bits is iterative refinement.
//!
//! **Invariant:** quotients and remainders are those of `/`, `%` and `rem_euclid`, bit for bit, or a fault is noted, behind which the tile runs as
//! scalar code: what panics there, quotients of floats that have more bits than a float, and what is no number.

use super::lookup::Fault;
use crate::simd::saturated;

/// A number that is divided.
pub trait Divided: Copy {
    /// The quotient without its fraction and the rest, or other numbers, which is noted.
    fn parts(self, divisor: Self, fault: &Fault) -> (Self, Self);
    /// The same parts if the rest is to be at least zero.
    fn euclid(parts: (Self, Self), divisor: Self) -> (Self, Self);
}

/// `number / divisor` of integers, or another number, which is noted.
#[cfg_attr(optimised, inline(always))]
pub fn divided<N: Divided>(number: N, divisor: N, fault: &Fault) -> N {
    number.parts(divisor, fault).0
}

/// `number % divisor`, or another number, which is noted.
#[cfg_attr(optimised, inline(always))]
pub fn remainder<N: Divided>(number: N, divisor: N, fault: &Fault) -> N {
    number.parts(divisor, fault).1
}

/// `number.div_euclid(divisor)`, or another number, which is noted.
#[cfg_attr(optimised, inline(always))]
pub fn div_euclid<N: Divided>(number: N, divisor: N, fault: &Fault) -> N {
    N::euclid(number.parts(divisor, fault), divisor).0
}

/// `number.rem_euclid(divisor)`, or another number, which is noted.
#[cfg_attr(optimised, inline(always))]
pub fn rem_euclid<N: Divided>(number: N, divisor: N, fault: &Fault) -> N {
    N::euclid(number.parts(divisor, fault), divisor).1
}

/// `number.is_multiple_of(divisor)` of integers, or it is noted. Of 0 it always is.
#[cfg_attr(optimised, inline(always))]
pub fn is_multiple_of<N: Divided + Default + PartialEq>(number: N, divisor: N, fault: &Fault) -> bool {
    number.parts(divisor, fault).1 == N::default()
}

/// The lowest bits of the integer next to a float, of up to 51 bits.
#[cfg_attr(optimised, inline(always))]
fn low_bits(number: f64) -> u64 {
    // Its last bit is that of ones; the bits before are those of the integer, or of its complement.
    const ONES: f64 = (3u64 << 51) as f64;
    (number + ONES).to_bits().wrapping_sub(ONES.to_bits())
}

/// Quotient and rest of 64 bits.
#[cfg_attr(optimised, inline(always))]
fn wide_parts(number: u64, divisor: u64, fault: &Fault) -> (u64, u64) {
    // So much less that five roundings don't make a quotient too large.
    const LESS: f64 = 1.0 - 8.0 * f64::EPSILON;
    fault.note(divisor == 0);
    let inverse = LESS / divisor as f64;
    // Too small by a part of 2^48, and 1.
    let first = saturated::<u64>(number as f64 * inverse);
    let rest = number.wrapping_sub(first.wrapping_mul(divisor));
    // The whole part of at most 2^16, or 1 less.
    let more = low_bits(rest as f64 * inverse - 0.5);
    let rest = rest.wrapping_sub(more.wrapping_mul(divisor));
    // One divisor less, unless that would be less than 0.
    let left = rest.min(rest.wrapping_sub(divisor));
    (first.wrapping_add(more).wrapping_add(u64::from(left != rest)), left)
}

/// How parts become those of which the rest is at least zero.
macro_rules! euclid {
    (unsigned $t:ident) => {
        #[cfg_attr(optimised, inline(always))]
        fn euclid(parts: ($t, $t), _: $t) -> ($t, $t) {
            parts
        }
    };
    (signed $t:ident) => {
        #[cfg_attr(optimised, inline(always))]
        fn euclid((quotient, rest): ($t, $t), divisor: $t) -> ($t, $t) {
            let one = if divisor < 0 { -1 } else { 1 };
            match rest < 0 {
                true => (quotient.wrapping_sub(one), rest.wrapping_add(divisor.wrapping_mul(one))),
                false => (quotient, rest),
            }
        }
    };
}

/// Integers of up to 32 bits, whose quotients are exact as floats.
macro_rules! narrow {
    ($sign:ident $($t:ident)*) => {$(
        impl Divided for $t {
            #[cfg_attr(optimised, inline(always))]
            fn parts(self, divisor: $t, fault: &Fault) -> ($t, $t) {
                let all_ones = (0 as $t).wrapping_sub(1);
                fault.note(divisor == 0 || $t::MIN != 0 && self == $t::MIN && divisor == all_ones);
                let quotient = low_bits((f64::from(self) / f64::from(divisor)).trunc()) as $t;
                (quotient, self.wrapping_sub(quotient.wrapping_mul(divisor)))
            }

            euclid!($sign $t);
        }
    )*};
}

narrow!(unsigned u8 u16 u32);
narrow!(signed i8 i16 i32);

macro_rules! wide_unsigned {
    ($($t:ident)*) => {$(
        impl Divided for $t {
            #[cfg_attr(optimised, inline(always))]
            fn parts(self, divisor: $t, fault: &Fault) -> ($t, $t) {
                let (quotient, rest) = wide_parts(self as u64, divisor as u64, fault);
                (quotient as $t, rest as $t)
            }

            euclid!(unsigned $t);
        }
    )*};
}

wide_unsigned!(u64 usize);

macro_rules! wide_signed {
    ($($t:ident)*) => {$(
        impl Divided for $t {
            #[cfg_attr(optimised, inline(always))]
            fn parts(self, divisor: $t, fault: &Fault) -> ($t, $t) {
                fault.note(self == $t::MIN && divisor == -1);
                let (size, by) = (self.unsigned_abs() as u64, divisor.unsigned_abs() as u64);
                let (quotient, rest) = wide_parts(size, by, fault);
                let with_sign = |size: u64, below: bool| if below { (size as $t).wrapping_neg() } else { size as $t };
                (with_sign(quotient, (self < 0) != (divisor < 0)), with_sign(rest, self < 0))
            }

            euclid!(signed $t);
        }
    )*};
}

wide_signed!(i64 isize);

macro_rules! float {
    ($($t:ident)*) => {$(
        impl Divided for $t {
            #[cfg_attr(optimised, inline(always))]
            fn parts(self, divisor: $t, fault: &Fault) -> ($t, $t) {
                // Whole numbers up to this are floats.
                const WHOLE: $t = (1u64 << ($t::MANTISSA_DIGITS - 1)) as $t;
                let quotient = (self / divisor).trunc();
                fault.note(!(quotient.abs() < WHOLE && divisor.abs() < $t::INFINITY));
                let rest = (-quotient).mul_add(divisor, self);
                let is_beyond = if self < 0.0 { rest > 0.0 } else { rest < 0.0 };
                let rest = if is_beyond { rest + divisor.abs().copysign(self) } else { rest };
                (quotient, rest.copysign(self))
            }

            #[cfg_attr(optimised, inline(always))]
            fn euclid((quotient, rest): ($t, $t), divisor: $t) -> ($t, $t) {
                let one = if divisor > 0.0 { 1.0 } else { -1.0 };
                if rest < 0.0 { (quotient - one, rest + divisor.abs()) } else { (quotient, rest) }
            }
        }
    )*};
}

float!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats of all sizes, next to whole numbers and powers of two, with both signs.
    fn numbers() -> Vec<f64> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let sizes = (0..if cfg!(miri) { 20 } else { 400 }).map(|i| {
            let mantissa = 1.0 + (noise() >> 12) as f64 * f64::EPSILON;
            mantissa * 2f64.powi(i % 60 - 30)
        });
        let whole = (1..if cfg!(miri) { 3 } else { 30 }).map(f64::from);
        let near = whole.flat_map(|x| [x, x.next_down(), x.next_up(), x / 3.0, x * 0.1]);
        let ends =
            [0.0, f64::MIN_POSITIVE, f64::MIN_POSITIVE / 8.0, f64::MAX, 5e-324, f64::INFINITY, f64::NAN];
        sizes.chain(near).chain(ends).flat_map(|x| [x, -x]).collect()
    }

    macro_rules! same {
        ($t:ident, $numbers:expr) => {
            let (mut exact, mut noted) = (0, 0);
            for &x in $numbers {
                for &y in $numbers {
                    let fault = Fault::new();
                    let rests = [
                        (remainder(x, y, &fault), x % y),
                        (rem_euclid(x, y, &fault), x.rem_euclid(y)),
                        (div_euclid(x, y, &fault), x.div_euclid(y)),
                    ];
                    let may_be_noted = !(x / y).is_finite()
                        || (x / y).abs() >= $t::EPSILON.recip() * 0.99
                        || y.is_infinite();
                    assert!(!fault.is_noted() || may_be_noted, "{x:e} % {y:e}");
                    noted += usize::from(fault.is_noted());
                    if !fault.is_noted() {
                        exact += 1;
                        for (own, of_std) in rests {
                            assert_eq!(
                                own.to_bits(),
                                of_std.to_bits(),
                                "{x:e} % {y:e}: {own:e}, not {of_std:e}"
                            );
                        }
                    }
                }
            }
            assert!(exact > 10 * noted / 2, "{exact} {noted}");
        };
    }

    #[test]
    fn remainders_are_those_of_the_library() {
        let numbers = numbers();
        same!(f64, &numbers);
        let narrow: Vec<f32> = numbers.iter().map(|x| *x as f32).collect();
        same!(f32, &narrow);
    }

    /// Integers of all sizes, next to powers of two and to products, with both signs.
    fn integers() -> Vec<u64> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let noise = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> (state % 64)
        });
        let noise = noise.take(if cfg!(miri) { 20 } else { 400 });
        let near = (0..64)
            .step_by(if cfg!(miri) { 9 } else { 1 })
            .flat_map(|e| [(1u64 << e) - 1, 1 << e, (1 << e) + 1]);
        noise.chain(near).chain(0..20).flat_map(|n| [n, n.wrapping_neg()]).collect()
    }

    macro_rules! same_integers {
        ($($t:ident)*) => {$({
            let integers: Vec<$t> = integers().into_iter().map(|n| n as $t).collect();
            for &m in &integers {
                for n in integers.iter().copied().chain((0..4).map(|k| m.wrapping_mul(k).wrapping_sub(1))) {
                    let fault = Fault::new();
                    let own = [divided(n, m, &fault), remainder(n, m, &fault), rem_euclid(n, m, &fault), div_euclid(n, m, &fault)];
                    let Some(quotient) = n.checked_div(m) else {
                        assert!(fault.is_noted(), "{n} / {m}");
                        continue;
                    };
                    let expected = [quotient, n % m, n.rem_euclid(m), n.div_euclid(m)];
                    assert!(is_multiple_of(n, m, &fault) == (n % m == 0), "{n}, {m}");
                    assert!(own == expected, "{n} / {m}: {own:?}, not {expected:?}");
                    assert!(!fault.is_noted(), "{n} / {m}");
                }
            }
        })*};
    }

    #[test]
    fn quotients_are_those_of_the_division_unit() {
        same_integers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize);
    }
}
