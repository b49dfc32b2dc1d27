//! What lane code does to the slots of a strip. For generated code only.
//!
//! A *slot* is one lane of one variable. Values of small types without drop glue are *selected*: the
//! lane code reads the slot before the branch on "is the lane here" and stores it after the branch,
//! unconditionally, which is what vectorises. All other values are moved out of and into the slot
//! inside the branch. Which of the two applies is a constant per type, so generated code is the same
//! for both.
//!
//! These functions are safe to call because generated code contains no `unsafe`; they are sound
//! under the protocol in [`crate::machine`]: a value is taken only at points where the variable is
//! live, and once.

use std::mem::{MaybeUninit, needs_drop};
use std::ptr;

/// Whether values of `T` are merged by select.
const fn select<T>() -> bool {
    !needs_drop::<T>() && size_of::<T>() <= 16
}

/// The slot's bits, if `T` is selected. They may be junk.
#[inline(always)]
pub fn bits<T>(slot: &MaybeUninit<T>) -> MaybeUninit<T> {
    if select::<T>() {
        // SAFETY: any bit pattern is a `MaybeUninit`, and `T` has no drop glue, so that a second
        // copy of a value is harmless unless it is used, which the protocol excludes.
        unsafe { ptr::read(slot) }
    } else {
        MaybeUninit::uninit()
    }
}

/// Moves the value of a live variable out. `old` is what [`bits`] returned for the slot.
#[inline(always)]
pub fn take<T>(slot: &MaybeUninit<T>, old: &MaybeUninit<T>) -> T {
    let from = if select::<T>() { old } else { slot };
    // SAFETY: the variable is live here, so the slot holds a value; it is taken once.
    unsafe { from.assume_init_read() }
}

/// Leaves a value for later regions; the result is for [`settle`].
#[inline(always)]
pub fn leave<T>(slot: &mut MaybeUninit<T>, value: T) -> MaybeUninit<T> {
    if select::<T>() {
        MaybeUninit::new(value)
    } else {
        slot.write(value);
        MaybeUninit::uninit()
    }
}

/// Puts a value back that was taken and not assigned.
#[inline(always)]
pub fn keep<T>(slot: &mut MaybeUninit<T>, value: T) {
    if !select::<T>() {
        slot.write(value);
    }
}

/// Stores the merged bits of a selected value.
#[inline(always)]
pub fn settle<T>(slot: &mut MaybeUninit<T>, merged: MaybeUninit<T>) {
    if select::<T>() {
        *slot = merged;
    }
}

/// The lanes of one column that a block works on: a copy on the native stack if `T` is selected (a
/// local array aliases nothing), else the column itself. `BACK`: the copy is written back when this
/// is dropped, on the normal path as well as while unwinding from a lane.
pub struct Local<'c, T, const W: usize, const BACK: bool> {
    home: &'c mut [MaybeUninit<T>; W],
    copy: MaybeUninit<[MaybeUninit<T>; W]>,
}

impl<'c, T, const W: usize, const BACK: bool> Local<'c, T, W, BACK> {
    #[inline(always)]
    pub(crate) fn new(home: &'c mut [MaybeUninit<T>; W]) -> Self {
        let copy = if select::<T>() {
            // SAFETY: an array of `MaybeUninit` may hold any bits.
            MaybeUninit::new(unsafe { ptr::read(home) })
        } else {
            MaybeUninit::uninit()
        };
        Local { home, copy }
    }

    /// The lanes.
    #[inline(always)]
    pub fn lanes(&mut self) -> &mut [MaybeUninit<T>; W] {
        if select::<T>() {
            // SAFETY: `new` has filled the copy.
            unsafe { self.copy.assume_init_mut() }
        } else {
            self.home
        }
    }
}

impl<T, const W: usize, const BACK: bool> Drop for Local<'_, T, W, BACK> {
    #[inline(always)]
    fn drop(&mut self) {
        if BACK && select::<T>() {
            // SAFETY: `new` has filled the copy, which lies apart from the column.
            unsafe { ptr::copy_nonoverlapping(self.copy.as_ptr(), self.home, 1) };
        }
    }
}
