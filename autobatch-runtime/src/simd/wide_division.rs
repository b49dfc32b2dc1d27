//! Division of 64-bit integers by a constant, in lane code.
//!
//! ```text
//! n / 10   ──▶   t = ⌊n · m / 2^64⌋;  ((n − t) / 2 + t) / 2^(l−1)         // l, m: known when the code is compiled
//! ```
//!
//! LLVM does so too, but takes the high half of a product of 128 bits, which vectors don't have. Here it is made of four products of 32
//! bits, which they have.
//!
//! **Source.** Granlund and Montgomery, “Division by invariant integers using multiplication”, PLDI 1994, figure 4.1.
//!
//! **Invariant:** quotients and remainders are those of `/` and `%`; what panics there panics here.

/// An integer of 64 bits.
pub trait Wide: Copy {
    /// `self / BY`, of the number that `BY` is as such an integer.
    fn quotient<const BY: u64>(self) -> Self;
    /// `self % BY`.
    fn remainder<const BY: u64>(self) -> Self;
    /// `self.rem_euclid(BY)`.
    fn remainder_at_least_zero<const BY: u64>(self) -> Self;
}

/// `number / BY`.
#[cfg_attr(optimised, inline(always))]
pub fn quotient_by<const BY: u64, T: Wide>(number: T) -> T {
    number.quotient::<BY>()
}

/// `number % BY`.
#[cfg_attr(optimised, inline(always))]
pub fn remainder_by<const BY: u64, T: Wide>(number: T) -> T {
    number.remainder::<BY>()
}

/// `number.rem_euclid(BY)`.
#[cfg_attr(optimised, inline(always))]
pub fn rem_euclid_by<const BY: u64, T: Wide>(number: T) -> T {
    number.remainder_at_least_zero::<BY>()
}

/// `number.is_multiple_of(BY)`.
#[cfg_attr(optimised, inline(always))]
pub fn is_multiple_of_by<const BY: u64, T: Wide + Default + PartialEq>(number: T) -> bool {
    // Only 0 is a multiple of 0.
    let rest = if BY == 0 { number } else { number.remainder::<BY>() };
    rest == T::default()
}

/// Whether a division is a shift, or none of a number.
const fn is_plain(divisor: u64) -> bool {
    divisor < 2 || divisor.is_power_of_two()
}

/// The multiplier for a divisor, and the bits that are shifted out. Shifts have none.
const fn multiplier(divisor: u64) -> (u64, u32) {
    if is_plain(divisor) {
        return (0, 1);
    }
    let bits = u64::BITS - (divisor - 1).leading_zeros();
    let above = ((1u128 << bits) - divisor as u128) << 64;
    ((above / divisor as u128 + 1) as u64, bits)
}

/// The high half of a product.
#[cfg_attr(optimised, inline(always))]
fn high_half(a: u64, b: u64) -> u64 {
    const LOW: u64 = u32::MAX as u64;
    let (a0, a1, b0, b1) = (a & LOW, a >> 32, b & LOW, b >> 32);
    let middle = a1 * b0 + ((a0 * b0) >> 32);
    let carried = a0 * b1 + (middle & LOW);
    a1 * b1 + (middle >> 32) + (carried >> 32)
}

/// The quotient by the divisor that has this multiplier.
#[cfg_attr(optimised, inline(always))]
fn quotient(number: u64, (multiplier, bits): (u64, u32)) -> u64 {
    let high = high_half(number, multiplier);
    (((number - high) >> 1) + high) >> (bits - 1)
}

macro_rules! unsigned {
    ($($t:ty)*) => {$(
        impl Wide for $t {
            #[cfg_attr(optimised, inline(always))]
            fn quotient<const BY: u64>(self) -> Self {
                if is_plain(BY) {
                    return self / BY as $t;
                }
                quotient(self as u64, const { multiplier(BY) }) as $t
            }

            #[cfg_attr(optimised, inline(always))]
            fn remainder<const BY: u64>(self) -> Self {
                if is_plain(BY) {
                    return self % BY as $t;
                }
                let remainder = self - self.quotient::<BY>() * BY as $t;
                // LLVM would know it of `%`, and leave out bounds checks for it.
                // SAFETY: what is left of a division is less than the divisor, which is not 0.
                unsafe { std::hint::assert_unchecked(remainder < BY as $t) };
                remainder
            }

            #[cfg_attr(optimised, inline(always))]
            fn remainder_at_least_zero<const BY: u64>(self) -> Self {
                self.remainder::<BY>()
            }
        }
    )*};
}

macro_rules! signed {
    ($($t:ty)*) => {$(
        impl Wide for $t {
            #[cfg_attr(optimised, inline(always))]
            fn quotient<const BY: u64>(self) -> Self {
                if is_plain((BY as i64).unsigned_abs()) {
                    return self / BY as $t;
                }
                let multiplier = const { multiplier((BY as i64).unsigned_abs()) };
                let of_size = quotient(self.unsigned_abs() as u64, multiplier) as $t;
                if (self < 0) == ((BY as i64) < 0) { of_size } else { of_size.wrapping_neg() }
            }

            #[cfg_attr(optimised, inline(always))]
            fn remainder<const BY: u64>(self) -> Self {
                if is_plain((BY as i64).unsigned_abs()) {
                    return self % BY as $t;
                }
                self - self.quotient::<BY>() * BY as $t
            }

            #[cfg_attr(optimised, inline(always))]
            fn remainder_at_least_zero<const BY: u64>(self) -> Self {
                let remainder = self.remainder::<BY>();
                if remainder < 0 { remainder.wrapping_add((BY as $t).wrapping_abs()) } else { remainder }
            }
        }
    )*};
}

unsigned!(u64 usize);
signed!(i64 isize);

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers next to multiples of a divisor and to the ends.
    fn numbers(by: u64) -> impl Iterator<Item = u64> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let noise = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> (state % 64)
        });
        let noise = noise.take(if cfg!(miri) { 20 } else { 2_000 });
        let ends = (0..64).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1]);
        noise.chain(ends).chain([u64::MAX]).flat_map(move |n| {
            let multiple = n / by.max(1) * by;
            [n, multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1), n.wrapping_neg()]
        })
    }

    macro_rules! same {
        ($($by:expr),*) => {$({
            const BY: i128 = $by;
            for n in numbers(BY as u64) {
                assert_eq!(quotient_by::<{ BY as u64 }, u64>(n), n / BY as u64, "{n} / {BY}");
                assert_eq!(remainder_by::<{ BY as u64 }, usize>(n as usize), n as usize % BY as usize, "{n} % {BY}");
                assert_eq!(rem_euclid_by::<{ BY as u64 }, u64>(n), n % BY as u64, "{n} mod {BY}");
                assert_eq!(is_multiple_of_by::<{ BY as u64 }, u64>(n), n.is_multiple_of(BY as u64), "{n}, {BY}");
                let n = n as i64;
                if n == i64::MIN && BY as i64 == -1 {
                    continue;
                }
                assert_eq!(quotient_by::<{ BY as u64 }, i64>(n), n / BY as i64, "{n} / {BY}");
                assert_eq!(remainder_by::<{ BY as u64 }, isize>(n as isize), n as isize % BY as isize, "{n} % {BY}");
                assert_eq!(rem_euclid_by::<{ BY as u64 }, i64>(n), n.rem_euclid(BY as i64), "{n} mod {BY}");
            }
        })*};
    }

    #[test]
    fn quotients_are_those_of_the_division_unit() {
        same!(1, 2, 3, 5, 6, 7, 10, 11, 12, 28, 60, 100, 255, 256, 641, 1_000, 3_600, 65_537, 1_000_003);
        same!(1_000_000_007, 0xffff_fffb, 0xffff_ffff, 0x1_0000_0000);
        same!(0x1_0000_0001, 6_364_136_223, 10_000_000_000, 0x7fff_ffff_ffff_fff7, i64::MAX as i128, 1 << 63);
        same!(u64::MAX as i128);
        same!(-1, -2, -3, -10, -1_000_000_007, -0x7fff_ffff_ffff_ffff);
    }

    #[test]
    fn only_zero_is_a_multiple_of_zero() {
        assert!(is_multiple_of_by::<0, u64>(0) && !is_multiple_of_by::<0, usize>(7));
    }

    #[test]
    #[should_panic(expected = "divide by zero")]
    fn nothing_is_divided_by_zero() {
        quotient_by::<0, u64>(std::hint::black_box(5));
    }

    #[test]
    #[should_panic(expected = "divisor of zero")]
    fn nothing_is_left_of_a_division_by_zero() {
        remainder_by::<0, i64>(std::hint::black_box(5));
    }
}
