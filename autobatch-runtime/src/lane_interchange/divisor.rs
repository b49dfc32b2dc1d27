//! Exact quotients without divisions, where a loop divides by the same again and again.
//!
//! A vector of divisions takes its unit longer than the two operations that suffice if the divisor's
//! reciprocal is known to twice the precision (Brisebarre, Muller, Raina, "Accelerating correctly rounded
//! floating-point division when the divisor is known in advance", IEEE Transactions on Computers 53, 2004): with `h`
//! next to 1/y and `l` next to 1/y - h, `fma(x, h, x * l)` is x/y, correctly rounded, wherever nothing under- or
//! overflows; for all but 1.3 % of the divisors in `f32`. The unit and those operations do best side by side: one
//! vector in four is divided so, if it is right for all its divisors ([`is_right`]), and, each time, if all
//! dividends are of a size for which it holds ([`is_of_size`]); else by the unit. The results are the unit's, bit for bit.
//!
//! It pays with AVX-512, where the loop has registers and operations to spare. With AVX2 it was a loss.

use std::any::TypeId;
use std::mem::transmute_copy;

use super::strips::{Strip, get, set};
use crate::probes::type_id::id;
use crate::simd::{self, Isa, Level};

/// So many lanes are divided so: a vector of them.
pub const QUICK: usize = 16;
/// How often a loop divides by the same before it is prepared for: then it may well do so as often again. (Tests shall get there.)
const WORTH: u32 = if cfg!(debug_assertions) { 2 } else { 128 };
/// With so many vectors that the quick way is not for, it is given up for the loop.
const PATIENCE: u32 = 64;

/// What a interchanged loop knows of a divisor that it does not change.
pub struct Divisor {
    level: Level,
    /// How often it was asked for, up to [`WORTH`].
    uses: u32,
    /// Vectors with a dividend that the quick way is not for.
    misses: u32,
    /// The reciprocals, once they have proved to be worth it and to be right.
    reciprocals: Option<Reciprocals>,
}

/// The reciprocals of a vector's divisors: `high + low`.
#[derive(Clone, Copy)]
struct Reciprocals {
    high: [f32; QUICK],
    low: [f32; QUICK],
}

impl Divisor {
    /// Nothing yet.
    #[cfg_attr(optimised, inline(always))]
    pub fn new(level: Level) -> Divisor {
        Divisor { level, uses: 0, misses: 0, reciprocals: None }
    }

    /// Whether the first [`QUICK`] lanes are to be divided by [`Divisor::divide`].
    #[cfg_attr(optimised, inline(always))]
    pub fn is_quick<D, const W: usize>(&mut self, divisors: &Strip<D, W>) -> bool {
        // By the protocol the strip is filled.
        is_f32::<D>() && self.is_prepared(|lane| as_f32(get(divisors, lane)))
    }

    /// The same for a divisor that all lanes share.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_quick_for_all<D>(&mut self, divisor: &D) -> bool {
        // SAFETY: the type is `f32`.
        is_f32::<D>() && self.is_prepared(|_| as_f32(unsafe { std::ptr::read(divisor) }))
    }

    #[cfg_attr(optimised, inline(always))]
    fn is_prepared(&mut self, divisor: impl Fn(usize) -> f32) -> bool {
        if !has_quick_quotients(self.level) {
            return false;
        }
        if self.uses < WORTH {
            self.uses += 1;
            if self.uses == WORTH {
                self.reciprocals = Reciprocals::new(&std::array::from_fn(divisor), self.level);
            }
        }
        self.reciprocals.is_some()
    }

    /// The quotients of the first [`QUICK`] lanes; `false` if the caller has to divide after all.
    #[cfg_attr(optimised, inline(always))]
    pub fn divide<X, Q, const W: usize>(
        &mut self,
        dividends: &Strip<X, W>,
        quotients: &mut Strip<Q, W>,
    ) -> bool {
        let (Some(reciprocals), true) = (&self.reciprocals, is_f32::<X>() && is_f32::<Q>()) else {
            return false;
        };
        let dividends = std::array::from_fn(|lane| as_f32(get(dividends, lane)));
        let Some(found) = quick(&dividends, reciprocals) else {
            self.misses += 1;
            if self.misses == PATIENCE {
                self.reciprocals = None;
            }
            return false;
        };
        for (lane, quotient) in found.into_iter().enumerate() {
            // SAFETY: `Q` is `f32`.
            set(quotients, lane, unsafe { transmute_copy(&quotient) });
        }
        true
    }
}

#[cfg_attr(optimised, inline(always))]
fn is_f32<T>() -> bool {
    id::<T>() == TypeId::of::<f32>()
}

/// Whether quotients without divisions pay.
#[cfg_attr(optimised, inline(always))]
fn has_quick_quotients(level: Level) -> bool {
    level.isa() == Isa::Avx512
}

#[cfg_attr(optimised, inline(always))]
fn as_f32<T>(number: T) -> f32 {
    assert!(is_f32::<T>());
    // SAFETY: it is one.
    unsafe { transmute_copy(&number) }
}

impl Reciprocals {
    /// Those of the divisors, if the quotients are right for all of them.
    #[inline(never)]
    fn new(divisors: &[f32; QUICK], level: Level) -> Option<Reciprocals> {
        simd::vectorize(
            level,
            #[cfg_attr(optimised, inline(always))]
            || {
                let (mut high, mut low, mut right) = ([0.0; QUICK], [0.0; QUICK], true);
                for l in 0..QUICK {
                    (high[l], low[l]) = reciprocal(divisors[l]);
                    right &= is_right(divisors[l], high[l], low[l]);
                }
                right.then_some(Reciprocals { high, low })
            },
        )
    }
}

/// Two numbers whose sum is next to 1/y.
#[cfg_attr(optimised, inline(always))]
fn reciprocal(y: f32) -> (f32, f32) {
    let high = 1.0 / y;
    // Exact: 1 - high * y has few enough digits.
    (high, (-high).mul_add(y, 1.0) / y)
}

/// x/y, where [`is_right`] and [`is_of_size`] say so.
#[cfg_attr(optimised, inline(always))]
fn quotient(x: f32, high: f32, low: f32) -> f32 {
    x.mul_add(high, x * low)
}

/// Whether quotients by `y` are right for all dividends of the right size.
///
/// With u = 2^-24, `high` and `low` together are 1/y but for u² of it, and the product with `low` adds as much again,
/// so that before the last rounding the quotient is right but for (2 + u) u² of it, and for what underflow takes from the
/// product, at most 2^-150, which is less than u³ / 4 of a quotient above 2^-76. It is rounded wrongly only if x/y is closer
/// than that to the middle M of two floats. Let X and Y be the digits of x and y as integers in [2^23, 2^24), M those of the
/// middle, an odd integer in [2^24, 2^25). The distance is R / (2^24 Y), where R = 2^24 X - M Y, if X ≥ Y, and R / (2^25 Y) with
/// R = 2^25 X - M Y if not. R is not 0, and rounding can only go wrong where |R| < 2 (1 + 3u/4) X / 2^24 < 2, or twice that, < 4. Y odd makes R odd:
/// ±1, or ±1 and ±3. Y with one factor 2 makes R/2 odd: ±1 in the second case, which is the first for Y/2; Y with
/// more factors makes R as large as 4, so that nothing can go wrong. Each R leaves one M, by the inverse of Y modulo 2^24 or 2^25, and thereby
/// one X: for these dividends the quotient is compared. (Some are no such X; comparing them does no harm.)
#[cfg_attr(optimised, inline(always))]
fn is_right(y: f32, high: f32, low: f32) -> bool {
    // The sum of zeros of two signs is right for positive divisors only.
    let mut right = (1.0 / 1024.0..=1024.0).contains(&y);
    let digits = y.to_bits() & 0x7f_ffff | 0x80_0000;
    let odd = digits >> (!digits & 1);
    // An odd number is its own inverse in three digits, and each step doubles them.
    let mut inverse = odd;
    for _ in 0..4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    for (r, digits, least) in
        [(1, 24, 1 << 24), (-1, 24, 1 << 24), (1, 25, 0), (-1, 25, 0), (3, 25, 0), (-3, 25, 0)]
    {
        let r: i32 = r;
        let middle = inverse.wrapping_mul(r.wrapping_neg().cast_unsigned()) & ((1 << digits) - 1) | least;
        let x = (u64::from(middle) * u64::from(odd)).wrapping_add_signed(i64::from(r)) >> digits;
        let x = x as u32 as f32;
        right &= quotient(x, high, low) == x / y;
    }
    right
}

/// Whether the dividend is 0, or positive or negative from 2^-66 to below 2^100: with divisors as [`is_right`] demands, the
/// quotient is above 2^-77 and does not overflow. Not -0, whose quotient would be 0.
#[cfg_attr(optimised, inline(always))]
fn is_of_size(x: f32) -> bool {
    const LEAST: u32 = (127 - 66) << 24;
    const ABOVE: u32 = (127 + 100) << 24;
    let size = x.to_bits() << 1;
    (size.wrapping_sub(LEAST) < ABOVE - LEAST) | (x.to_bits() == 0)
}

/// The quotients of a vector, if all its dividends are of the right size.
#[cfg_attr(optimised, inline(always))]
fn quick(dividends: &[f32; QUICK], reciprocals: &Reciprocals) -> Option<[f32; QUICK]> {
    let (mut quotients, mut all) = ([0.0; QUICK], true);
    for l in 0..QUICK {
        let x = dividends[l];
        quotients[l] = quotient(x, reciprocals.high[l], reciprocals.low[l]);
        all &= is_of_size(x);
    }
    all.then_some(quotients)
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::*;

    fn is_right_for(y: f32) -> bool {
        let (high, low) = reciprocal(y);
        is_right(y, high, low)
    }

    /// One of the divisors that are not right for all dividends.
    const WRONG: f32 = 1.357_85;

    /// A dividend, of all digits that it can have, whose quotient is wrong.
    fn wrong(y: f32) -> Option<f32> {
        let (high, low) = reciprocal(y);
        let mut dividends = (0..1 << 23).map(|digits| f32::from_bits(1f32.to_bits() | digits));
        dividends.find(|&x| quotient(x, high, low) != x / y)
    }

    #[test]
    fn divisors_are_right_exactly_where_all_quotients_are() {
        if cfg!(miri) {
            return; // too many
        }
        let with_factors_of_two = [2, 4, 8].map(|f| f32::from_bits(1f32.to_bits() | (f * 300_001)));
        let right = with_factors_of_two.into_iter().chain([1.357_851_6]).map(|y| (y, true));
        for (y, right) in right.chain([(WRONG, false), (1.358_651, false)]) {
            assert_eq!((is_right_for(y), wrong(y).is_none()), (right, right), "{y:e}");
        }
        // 106 762 of 2^23.
        let few =
            (0..20_000u32).filter(|i| !is_right_for(f32::from_bits(1f32.to_bits() | (i * 419)))).count();
        assert!((200..320).contains(&few), "{few}");
    }

    #[test]
    fn divisors_are_positive_and_of_middling_size() {
        for y in [0.0, -1.0, -1.5, 1e-4, 1030.0, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE, 1e-40] {
            assert!(!is_right_for(y), "{y:e}");
        }
        for y in [1.0, 2.0, 1024.0, 1.0 / 1024.0] {
            assert!(is_right_for(y), "{y:e}");
        }
    }

    #[test]
    fn dividends_are_of_middling_size() {
        let least = 2f32.powi(-66);
        let below = f32::from_bits(2f32.powi(100).to_bits() - 1);
        for x in [0.0, 1.0, -1.0, least, -least, below, -below] {
            assert!(is_of_size(x), "{x:e}");
        }
        for x in [-0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40, -1e-40] {
            assert!(!is_of_size(x), "{x:e}");
        }
        for x in [f32::from_bits(least.to_bits() - 1), 2f32.powi(100), f32::MIN_POSITIVE] {
            assert!(!is_of_size(x) && !is_of_size(-x), "{x:e}");
        }
    }

    #[test]
    fn quotients_at_the_edges_are_right() {
        for y in [1.0f32 / 1024.0, 1024.0, 1023.9999, 0.001, 1.3].into_iter().filter(|&y| is_right_for(y)) {
            let (high, low) = reciprocal(y);
            for digits in (0..1 << 23).step_by(if cfg!(miri) { 399_989 } else { 3989 }) {
                for exponent in [127 - 66, 127 - 65, 127, 127 + 99] {
                    let x = f32::from_bits(exponent << 23 | digits);
                    for x in [x, -x, 0.0] {
                        assert_eq!(quotient(x, high, low).to_bits(), (x / y).to_bits(), "{x:e} / {y:e}");
                    }
                }
            }
        }
    }

    fn strip_of(value: impl Fn(usize) -> f32) -> Strip<f32, 64> {
        std::array::from_fn(|lane| MaybeUninit::new(value(lane)))
    }

    #[test]
    fn a_loop_is_prepared_once_it_is_worth_it_and_gives_up_with_patience() {
        let level = Level::new(Isa::Avx512);
        if !has_quick_quotients(level) {
            return;
        }
        let divisors = strip_of(|lane| 1.0 + lane as f32 / 64.0);
        let mut divisor = Divisor::new(level);
        let asked = (0..WORTH).map(|_| divisor.is_quick(&divisors)).collect::<Vec<_>>();
        assert_eq!(asked.iter().filter(|quick| **quick).count(), 1, "the last one");
        let mut quotients = strip_of(|_| f32::NAN);
        assert!(divisor.divide(&strip_of(|lane| lane as f32), &mut quotients));
        for lane in 0..QUICK {
            assert_eq!(get(&quotients, lane), lane as f32 / get(&divisors, lane));
        }
        for _ in 0..PATIENCE {
            assert!(divisor.is_quick(&divisors));
            assert!(
                !divisor.divide(&strip_of(|lane| if lane == 3 { f32::NAN } else { 1.0 }), &mut quotients)
            );
        }
        assert!(!divisor.is_quick(&divisors));
        assert!(!divisor.divide(&strip_of(|_| 1.0), &mut quotients));
    }

    #[test]
    fn other_instruction_sets_and_numbers_have_none() {
        let mut divisor = Divisor::new(Level::new(Isa::Baseline));
        assert!((0..2 * WORTH).all(|_| !divisor.is_quick_for_all(&1.5f32)));
        let mut divisor = Divisor::new(Level::new(Isa::Avx512));
        assert!(
            (0..2 * WORTH).all(|_| !divisor.is_quick_for_all(&1.5f64) && !divisor.is_quick_for_all(&"1"))
        );
        let wrong = strip_of(|lane| if lane == 5 { WRONG } else { 1.5 });
        assert!((0..2 * WORTH).all(|_| !divisor.is_quick(&wrong)));
    }
}
