//! Assignments that only some lanes make, as choices between the new value and the old.
//!
//! ```text
//! if is_in { row[j] = value; }  ──▶  zero.choose(&mut row[j][lane], is_in, value);
//! ```
//!
//! As a branch, or as `if is_in { value } else { old }`, LLVM stores the vector under a mask. A later load has to wait until such a store
//! has reached the cache (Intel, *Optimization Reference Manual*, on masked stores), and processors of AMD take tens of cycles for
//! the store itself: exchanging neighbours in rows takes a tenth of the time without (`docs/measurements.md`). LLVM 22 also moves loads of the old value behind
//! it (`tests/optimised_code/miscompilations.rs`).
//!
//! So the old value goes through `^` with a zero that LLVM does not know. For all that LLVM can tell, each lane gets another value then.
//!
//! **Invariant:** a choice is one of its two values, bit for bit.

use std::hint::{black_box, select_unpredictable};
use std::mem::transmute_copy;
use std::ptr;

use super::pc_word::PcWord;
use crate::probes::type_id::is_plain;

/// A copy of a value of a plain type.
#[cfg_attr(optimised, inline(always))]
pub fn copied<T>(value: &T) -> T {
    assert!(is_plain::<T>());
    // SAFETY: the type is plain.
    unsafe { ptr::read(value) }
}

/// A zero that LLVM does not know.
#[derive(Clone, Copy)]
pub struct UnknownZero {
    narrow: u32,
    wide: u64,
}

impl UnknownZero {
    /// To be made before the loop.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let wide = black_box(0);
        UnknownZero { narrow: wide as u32, wide }
    }

    /// It as a word.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn word<P: PcWord>(self) -> P {
        P::of(self.narrow)
    }

    /// A literal that LLVM does not know: of comparisons with several that it knows it makes a `switch`, which no vector has.
    #[cfg_attr(optimised, inline(always))]
    pub fn unknown<T: Literal>(self, literal: T) -> T {
        literal.with(self.wide)
    }

    /// Assigns a value if the lane does so.
    #[cfg_attr(optimised, inline(always))]
    pub fn choose<T>(self, place: &mut T, is_in: bool, value: T) {
        if !is_plain::<T>() {
            if is_in {
                *place = value;
            }
            return;
        }
        // SAFETY: the type is plain.
        let old = unsafe { self.disguised(ptr::read(place)) };
        *place = select_unpredictable(is_in, value, old);
    }

    /// A value of which LLVM no longer knows where it comes from.
    ///
    /// # Safety
    ///
    /// Values of the type have no padding, as those of plain types.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) unsafe fn disguised<T>(self, value: T) -> T {
        match size_of::<T>() {
            4 => {
                // SAFETY: there is no padding; the value has the size of the word, and gets the bits that it has.
                unsafe { transmute_copy(&(transmute_copy::<T, u32>(&value) ^ self.narrow)) }
            }
            8 => {
                // SAFETY: as above.
                unsafe { transmute_copy(&(transmute_copy::<T, u64>(&value) ^ self.wide)) }
            }
            // Smaller ones AVX2 can't store under masks, larger ones are in no vector.
            _ => value,
        }
    }
}

/// A number that has integer literals.
pub trait Literal {
    /// Its bits, changed.
    fn with(self, bits: u64) -> Self;
}

macro_rules! literals {
    ($($integer:ty)*) => {
        $(impl Literal for $integer {
            #[cfg_attr(optimised, inline(always))]
            fn with(self, bits: u64) -> Self {
                self ^ bits as $integer
            }
        })*
    };
}

literals!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen<T: Copy>(old: T, new: T) -> [T; 2] {
        [false, true].map(|is_in| {
            let mut place = old;
            UnknownZero::new().choose(&mut place, is_in, new);
            place
        })
    }

    #[test]
    fn an_unknown_literal_is_the_literal() {
        let zero = UnknownZero::new();
        assert_eq!((zero.unknown(3u8), zero.unknown(-1i16), zero.unknown(usize::MAX)), (3, -1, usize::MAX));
    }

    #[test]
    fn a_choice_is_one_of_the_two_values() {
        assert_eq!(chosen(1u8, 2), [1, 2]);
        assert_eq!(chosen(-1i16, 2), [-1, 2]);
        assert_eq!(chosen('a', char::MAX), ['a', char::MAX]);
        assert_eq!(chosen(u64::MAX, 7), [u64::MAX, 7]);
        assert_eq!(chosen(false, true), [false, true]);
        assert_eq!(chosen(i128::MIN, 7), [i128::MIN, 7]);
        let with_payload = f32::from_bits(0x7fa0_0001);
        assert_eq!(chosen(with_payload, -0.0).map(f32::to_bits), [0x7fa0_0001, 0x8000_0000]);
        assert_eq!(
            chosen(f64::INFINITY, -f64::NAN).map(f64::to_bits),
            [f64::INFINITY, -f64::NAN].map(f64::to_bits)
        );
    }

    #[test]
    fn what_is_not_plain_is_assigned_by_a_branch() {
        let (zero, mut text) = (UnknownZero::new(), String::from("a"));
        zero.choose(&mut text, false, String::from("b"));
        assert_eq!(text, "a");
        zero.choose(&mut text, true, String::from("c"));
        assert_eq!(text, "c");
    }
}
