//! Values of eight bytes in two words each, for loops that only set them.
//!
//! ```text
//! hit = i;   ──▶   low[lane] = i as u32; high[lane] = (i >> 32) as u32;
//! ```
//!
//! LLVM makes the vectors of a loop as long as its widest numbers allow. A `usize` beside `f32` halves them, though nothing is computed with it.
//!
//! **Invariant:** halves are those of a value of the strip's type, if that is plain and has eight bytes; otherwise nobody looks at them.

use std::marker::PhantomData;
use std::mem::transmute_copy;

use super::strips::{Strip, get, set};
use crate::probes::type_id::is_plain;
use crate::storage::UnknownZero;

/// The halves of a strip's values.
pub struct Halves<T, const W: usize> {
    low: [u32; W],
    high: [u32; W],
    values: PhantomData<T>,
}

impl<T, const W: usize> Halves<T, W> {
    /// Takes the values of a strip apart, if they are wide.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(strip: &Strip<T, W>) -> Self {
        let mut halves = Halves { low: [0; W], high: [0; W], values: PhantomData };
        if halves.are_wide() {
            for lane in 0..W {
                (halves.low[lane], halves.high[lane]) = halves.words(&get(strip, lane));
            }
        }
        halves
    }

    /// Whether the strip's values are kept here: plain ones of eight bytes.
    #[cfg_attr(optimised, inline(always))]
    pub fn are_wide(&self) -> bool {
        size_of::<T>() == size_of::<u64>() && is_plain::<T>()
    }

    /// The halves of a value. As a pair: two words that are passed as one array LLVM packs into a wide number.
    #[cfg_attr(optimised, inline(always))]
    pub fn words(&self, value: &T) -> (u32, u32) {
        if !self.are_wide() {
            return (0, 0);
        }
        // SAFETY: plain values are copied bit by bit and have no padding; this one has the size of the word.
        let bits = unsafe { transmute_copy::<T, u64>(value) };
        (bits as u32, (bits >> 32) as u32)
    }

    /// Those of a lane.
    #[cfg_attr(optimised, inline(always))]
    pub fn get(&self, lane: usize) -> (u32, u32) {
        if self.are_wide() { (self.low[lane], self.high[lane]) } else { (0, 0) }
    }

    /// Sets a lane's to those of a value.
    #[cfg_attr(optimised, inline(always))]
    pub fn set(&mut self, lane: usize, zero: UnknownZero, (low, high): (u32, u32)) {
        if self.are_wide() {
            // SAFETY: words have no padding.
            (self.low[lane], self.high[lane]) = unsafe { (zero.disguised(low), zero.disguised(high)) };
        }
    }

    /// Puts the values together again.
    #[cfg_attr(optimised, inline(always))]
    pub fn put_back(self, strip: &mut Strip<T, W>) {
        if self.are_wide() {
            for (lane, (low, high)) in self.low.into_iter().zip(self.high).enumerate() {
                let bits = u64::from(high) << 32 | u64::from(low);
                // SAFETY: plain types of eight bytes are numbers, of which any bits are a value; it has the size of the word.
                set(strip, lane, unsafe { transmute_copy::<u64, T>(&bits) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed<T: Copy>(values: [T; 4], new: T) -> [T; 4] {
        let mut strip = values.map(std::mem::MaybeUninit::new);
        let mut halves = Halves::of(&strip);
        for lane in [1, 2] {
            let words = halves.words(&new);
            halves.set(lane, UnknownZero::new(), words);
            assert_eq!(halves.get(lane), words);
        }
        halves.put_back(&mut strip);
        // SAFETY: all lanes have had a value.
        strip.map(|value| unsafe { value.assume_init() })
    }

    #[test]
    fn wide_values_are_put_together_again() {
        assert_eq!(changed([1, u64::MAX, 3, 1 << 33], 0x1234_5678_9abc_def0), {
            [1, 0x1234_5678_9abc_def0, 0x1234_5678_9abc_def0, 1 << 33]
        });
        assert_eq!(changed([-1i64, 1, 2, i64::MIN], -7), [-1, -7, -7, i64::MIN]);
        assert_eq!(changed([0.5f64, 1.0, 2.0, -0.0], f64::NAN).map(f64::to_bits)[1], f64::NAN.to_bits());
    }

    #[test]
    fn others_stay_in_their_strip() {
        assert_eq!(changed([1u32, 2, 3, 4], 9), [1, 2, 3, 4]);
        assert_eq!(changed([[1u32, 2]; 4], [5, 6]), [[1, 2]; 4]);
        assert_eq!(changed([1u128; 4], 9), [1; 4]);
        assert_eq!(changed(['a'; 4], 'b'), ['a'; 4]);
    }
}
