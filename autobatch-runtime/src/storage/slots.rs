//! What lane code does to the slots of a strip. For generated code only.
//!
//! A *slot* is one lane of one variable. Values of small types without drop glue are *selected*: the
//! lane code reads the slot before the branch on "is the lane here" and stores it after the branch,
//! unconditionally, which is what vectorises. All other values are moved out of and into the slot
//! inside the branch. Which of the two applies is a constant per type, so generated code is the same
//! for both.
//!
//! Slots of lanes are an array of values, or an array of each word of them.
//! Values of several words, such as a struct of numbers, are *split* in the copy of a strip that lane code works on: the
//! first words of all lanes, then the second ones, and so on. What is done to a field is then done to neighbours in
//! memory, which vectorises; an array of structs would not.
//!
//! **Invariant:** a value is taken only at points where the variable is live, and once. Generated code upholds it, under the protocol in
//! [`crate::machine`]; it contains no `unsafe`, so these functions are safe to call.

use std::mem::{MaybeUninit, needs_drop};
use std::ptr;

use super::choices::UnknownZero;
use crate::probes::type_id::is_plain;

/// The bytes of the largest values that are split.
pub(super) const LARGEST: usize = 64;

/// What is known of a type. Constants, not functions, because tests are not optimised.
pub(super) struct Of<T>(T);

impl<T> Of<T> {
    /// Whether values are merged by select where they are not split.
    pub(super) const SELECTED: bool = !needs_drop::<T>() && size_of::<T>() <= 16;
    /// Whether the words have eight bytes.
    const WIDE: bool = Self::SPLIT && align_of::<T>() == 8;
    /// How many there are.
    const WORDS: usize = size_of::<T>() / align_of::<T>();
    /// Whether values are split: they consist of several words, all as wide as the widest field.
    pub(super) const SPLIT: bool = !needs_drop::<T>()
        && size_of::<T>() <= LARGEST
        && (align_of::<T>() == 8 || align_of::<T>() == 4)
        && Self::WORDS > 1;
}

/// Whether values of `T` are split.
pub(super) const fn split<T>() -> bool {
    Of::<T>::SPLIT
}

/// Whether values of `T` are merged by select.
#[cfg_attr(optimised, inline(always))]
pub(super) const fn select<T>() -> bool {
    Of::<T>::SELECTED
}

/// The slots of a strip's lanes, in memory of as many values; split if [`split`] says so.
#[repr(transparent)]
pub struct Lanewise<T, const W: usize>(pub(super) [MaybeUninit<T>; W]);

/// What lane code does to slots.
pub trait Slots {
    /// What a slot holds.
    type Value;
    /// The slot's bits, if the type is selected. They may be junk.
    fn bits(&self, lane: usize) -> MaybeUninit<Self::Value>;
    /// Moves the value of a live variable out. `old` is what [`Slots::bits`] returned for the slot.
    fn take(&self, lane: usize, old: &MaybeUninit<Self::Value>) -> Self::Value;
    /// Leaves a value for later regions; the result is for [`Slots::settle`].
    fn leave(&mut self, lane: usize, value: Self::Value) -> MaybeUninit<Self::Value>;
    /// Puts a value back that was taken and not assigned. Unless it is a number, it may have changed all the same, as a `Cell` does.
    fn keep(&mut self, lane: usize, value: Self::Value);
    /// Stores the merged bits of a selected value.
    fn settle(&mut self, lane: usize, merged: MaybeUninit<Self::Value>);
    /// The same for bits of which LLVM shall not see that they are a choice.
    ///
    /// # Safety
    ///
    /// The value consists of floats, and the bits are initialised.
    unsafe fn settle_plainly(&mut self, lane: usize, merged: MaybeUninit<Self::Value>, zero: UnknownZero);
    /// An element of the array that a live variable is, where it lies.
    fn element<E: Copy, const N: usize>(&self, lane: usize, at: usize) -> E
    where
        Self: Slots<Value = [E; N]>;
    /// Stores the bits of a selected value: new ones if the lane is here, else those that `bits` returned. A function of
    /// its own: where the choice stands in the lane code, LLVM makes it one between storing and not storing.
    #[cfg_attr(optimised, inline(always))]
    fn choose(
        &mut self,
        lane: usize,
        here: bool,
        new: MaybeUninit<Self::Value>,
        old: MaybeUninit<Self::Value>,
    ) {
        self.settle(lane, if here { new } else { old });
    }
}

/// Stands where a lane is not here. That is rare, says the attribute: LLVM weighs code under a condition by how often the
/// condition holds. Without a hint it counts half of a lane's work, and finds that vectors don't pay where they gather.
#[cold]
#[inline]
pub fn absent() {}

/// What an exit gives a variable that nobody reads behind it: any bits will do, so that no instruction
/// is spent on choosing them.
#[cfg_attr(optimised, inline(always))]
pub fn dead<T>() -> MaybeUninit<T> {
    MaybeUninit::uninit()
}

/// The same as a value, so that LLVM stores one on every way and needs no branch: a choice between it and zeros is a mask.
#[cfg_attr(optimised, inline(always))]
pub fn cleared<T>() -> MaybeUninit<T> {
    MaybeUninit::zeroed()
}

/// For each word of a value, its place in the value and in the lanes of a strip.
macro_rules! words {
    ($T:ty, $W:expr, $lane:expr, |$at:ident, $there:ident, $Word:ident| $copy:expr) => {
        if Of::<$T>::WIDE {
            type $Word = MaybeUninit<u64>;
            words!(@ $T, $W, $lane, $at, $there, $copy, 0 1 2 3 4 5 6 7);
        } else {
            type $Word = MaybeUninit<u32>;
            words!(@ $T, $W, $lane, $at, $there, $copy, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        }
    };
    // No loop, or LLVM keeps the value in memory until it has found out that it is short.
    (@ $T:ty, $W:expr, $lane:expr, $at:ident, $there:ident, $copy:expr, $($nth:literal)*) => {$(
        if $nth < Of::<$T>::WORDS {
            let ($at, $there) = ($nth, $nth * $W + $lane);
            $copy;
        }
    )*};
}

impl<T, const W: usize> Slots for [MaybeUninit<T>; W] {
    type Value = T;

    #[cfg_attr(optimised, inline(always))]
    fn bits(&self, lane: usize) -> MaybeUninit<T> {
        match Of::<T>::SELECTED {
            // SAFETY: any bit pattern is a `MaybeUninit`, and `T` has no drop glue, so that a second
            // copy of a value is harmless unless it is used, which the protocol excludes.
            true => unsafe { ptr::read(&self[lane]) },
            false => MaybeUninit::uninit(),
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn take(&self, lane: usize, old: &MaybeUninit<T>) -> T {
        let from = if Of::<T>::SELECTED { old } else { &self[lane] };
        // SAFETY: the variable is live here, so the slot holds a value; it is taken once.
        unsafe { from.assume_init_read() }
    }

    #[cfg_attr(optimised, inline(always))]
    fn leave(&mut self, lane: usize, value: T) -> MaybeUninit<T> {
        if Of::<T>::SELECTED {
            return MaybeUninit::new(value);
        }
        self[lane] = MaybeUninit::new(value);
        MaybeUninit::uninit()
    }

    #[cfg_attr(optimised, inline(always))]
    fn keep(&mut self, lane: usize, value: T) {
        if !(Of::<T>::SELECTED && is_plain::<T>()) {
            self[lane] = MaybeUninit::new(value);
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn settle(&mut self, lane: usize, merged: MaybeUninit<T>) {
        if Of::<T>::SELECTED {
            self[lane] = merged;
        }
    }

    #[cfg_attr(optimised, inline(always))]
    unsafe fn settle_plainly(&mut self, lane: usize, merged: MaybeUninit<T>, zero: UnknownZero) {
        match Of::<T>::WORDS {
            // SAFETY: by contract it is a float, which has no padding.
            1 => self.settle(lane, MaybeUninit::new(unsafe { zero.disguised(merged.assume_init()) })),
            _ => self.settle(lane, merged),
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn element<E: Copy, const N: usize>(&self, lane: usize, at: usize) -> E
    where
        Self: Slots<Value = [E; N]>,
    {
        assert!(at < N);
        // SAFETY: the variable is live here, and `T`, the type of its value, is `[E; N]`.
        unsafe { *self[lane].as_ptr().cast::<E>().add(at) }
    }
}

impl<T, const W: usize> Slots for Lanewise<T, W> {
    type Value = T;

    #[cfg_attr(optimised, inline(always))]
    fn element<E: Copy, const N: usize>(&self, lane: usize, at: usize) -> E
    where
        Self: Slots<Value = [E; N]>,
    {
        assert!(lane < W && at < N);
        if Of::<T>::SPLIT && size_of::<E>() == align_of::<E>() {
            // SAFETY: the variable is live here, and `T` is `[E; N]`, of which an element is a word: the `at`th of a lane is there.
            return unsafe { *self.0.as_ptr().cast::<E>().add(at * W + lane) };
        }
        let value = if Of::<T>::SPLIT { &self.get(lane) } else { &self.0[lane] };
        // SAFETY: as above; `value` has the bits of a value, and `at` is within it.
        unsafe { *value.as_ptr().cast::<E>().add(at) }
    }

    #[cfg_attr(optimised, inline(always))]
    fn bits(&self, lane: usize) -> MaybeUninit<T> {
        if Of::<T>::SPLIT { self.get(lane) } else { Slots::bits(&self.0, lane) }
    }

    #[cfg_attr(optimised, inline(always))]
    fn take(&self, lane: usize, old: &MaybeUninit<T>) -> T {
        let from = if Of::<T>::SPLIT || Of::<T>::SELECTED { old } else { &self.0[lane] };
        // SAFETY: as above; of a selected or split value `old` has the bits.
        unsafe { from.assume_init_read() }
    }

    #[cfg_attr(optimised, inline(always))]
    fn leave(&mut self, lane: usize, value: T) -> MaybeUninit<T> {
        if Of::<T>::SPLIT || Of::<T>::SELECTED {
            return MaybeUninit::new(value);
        }
        self.0[lane] = MaybeUninit::new(value);
        MaybeUninit::uninit()
    }

    #[cfg_attr(optimised, inline(always))]
    fn keep(&mut self, lane: usize, value: T) {
        if Of::<T>::SPLIT {
            self.put(lane, MaybeUninit::new(value));
        } else if !(Of::<T>::SELECTED && is_plain::<T>()) {
            self.0[lane] = MaybeUninit::new(value);
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn settle(&mut self, lane: usize, merged: MaybeUninit<T>) {
        if Of::<T>::SPLIT {
            self.put(lane, merged);
        } else if Of::<T>::SELECTED {
            self.0[lane] = merged;
        }
    }

    #[cfg_attr(optimised, inline(always))]
    unsafe fn settle_plainly(&mut self, lane: usize, merged: MaybeUninit<T>, zero: UnknownZero) {
        if !Of::<T>::SPLIT {
            // SAFETY: the caller's contract.
            return unsafe { self.0.settle_plainly(lane, merged, zero) };
        }
        assert!(lane < W);
        let (to, from) = (self.0.as_mut_ptr(), merged.as_ptr());
        words!(T, W, lane, |at, there, Word| {
            // SAFETY: as in `put`; by contract the bits of a word are those of one float, or of two. Words have no padding.
            unsafe {
                let word = zero.disguised((*from.cast::<Word>().add(at)).assume_init());
                *to.cast::<Word>().add(there) = MaybeUninit::new(word);
            }
        });
    }
}

impl<T, const W: usize> Lanewise<T, W> {
    /// Slots that are values side by side, which those of types that are not split are.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn of(slots: &mut [MaybeUninit<T>; W]) -> &mut Self {
        // SAFETY: the same representation.
        unsafe { &mut *ptr::from_mut(slots).cast() }
    }

    /// The bits of a lane.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn get(&self, lane: usize) -> MaybeUninit<T> {
        assert!(lane < W);
        if !Of::<T>::SPLIT {
            return Slots::bits(&self.0, lane);
        }
        let mut value = MaybeUninit::<T>::uninit();
        let (to, from) = (value.as_mut_ptr(), self.0.as_ptr());
        words!(T, W, lane, |at, there, Word| {
            // SAFETY: the `at`th word of a value is in it, and that of all lanes in the array; both are aligned as `T`
            // is, and any bits are a `MaybeUninit`.
            unsafe { *to.cast::<Word>().add(at) = *from.cast::<Word>().add(there) }
        });
        value
    }

    /// Overwrites them.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn put(&mut self, lane: usize, value: MaybeUninit<T>) {
        assert!(lane < W);
        if !Of::<T>::SPLIT {
            self.0[lane] = value;
            return;
        }
        let (to, from) = (self.0.as_mut_ptr(), value.as_ptr());
        words!(T, W, lane, |at, there, Word| {
            // SAFETY: as above.
            unsafe { *to.cast::<Word>().add(there) = *from.cast::<Word>().add(at) }
        });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::strip::Home;
    use super::*;

    fn there_and_back<T: Copy + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T) {
        const W: usize = 8;
        let mut home: [MaybeUninit<T>; W] = std::array::from_fn(|lane| MaybeUninit::new(value(lane)));
        {
            let mut local = Home::<T, W, true>(&mut home).open();
            let lanes = local.lanes();
            for lane in 0..W {
                let old = lanes.bits(lane);
                let taken = lanes.take(lane, &old);
                assert_eq!(taken, value(lane));
                let new = lanes.leave(lane, value(lane + 100));
                if lane % 2 == 0 {
                    lanes.settle(lane, new);
                } else {
                    lanes.keep(lane, taken);
                }
            }
        }
        every_second_changed(&home, value, |value| value);
    }

    /// Lanes have the values of their numbers, every second one that of its number and 100, as `shown`.
    pub(in crate::storage) fn every_second_changed<T: Copy, S: PartialEq + std::fmt::Debug>(
        home: &[MaybeUninit<T>],
        value: impl Fn(usize) -> T,
        shown: impl Fn(T) -> S,
    ) {
        for (lane, slot) in home.iter().enumerate() {
            let expected = if lane % 2 == 0 { value(lane + 100) } else { value(lane) };
            // SAFETY: every slot holds a value.
            assert_eq!(shown(unsafe { slot.assume_init() }), shown(expected));
        }
    }

    fn elements<E: Copy + PartialEq + std::fmt::Debug, const N: usize>(value: impl Fn(usize) -> E) {
        let mut home: [MaybeUninit<[E; N]>; 8] =
            std::array::from_fn(|lane| MaybeUninit::new(std::array::from_fn(|at| value(lane * N + at))));
        for (lane, at) in (0..8).flat_map(|lane| (0..N).map(move |at| (lane, at))) {
            assert_eq!(home.element(lane, at), value(lane * N + at));
            let mut local = Home::<[E; N], 8, true>(&mut home).open();
            assert_eq!(local.lanes().element(lane, at), value(lane * N + at));
        }
    }

    #[test]
    fn elements_are_found_where_they_lie() {
        elements::<f64, 4>(|n| n as f64);
        elements::<u8, 3>(|n| n as u8);
        elements::<u32, 16>(|n| n as u32);
        elements::<u32, 17>(|n| n as u32);
        elements::<[f64; 2], 3>(|n| [n as f64, 0.5]);
        elements::<u64, 1>(|n| n as u64);
    }

    #[test]
    fn values_come_back_whole() {
        there_and_back(|n| n as u8);
        there_and_back(|n| n as f64);
        there_and_back(|n| (n as u32, n as f32));
        there_and_back(|n| (n as f64, n as u8));
        there_and_back(|n| [n as f64, 2.0, 0.5 * n as f64]);
        there_and_back(|n| (n as u8, n as u32, n as u16, [n as i32; 5]));
        there_and_back(|n| [n; 8]);
        there_and_back(|n| [n; 9]);
        there_and_back(|n| [n as u16; 7]);
        there_and_back(|n| Some(n as u64).filter(|n| n % 3 > 0));
        there_and_back(|n| n as u128);
        assert!(split::<[f64; 3]>() && split::<(u8, u64)>() && split::<[f32; 16]>());
        assert!(!split::<f64>() && !split::<[u8; 8]>() && !split::<[f64; 9]>() && !split::<Box<[u8]>>());
    }
}
