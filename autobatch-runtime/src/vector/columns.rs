//! What generated code does to columns: strips of them, single slots, pads.
//!
//! **Invariant:** slots are read as values only where the protocol says that there is one; copies of values that only compute are harmless.

use std::mem::MaybeUninit;
use std::ptr;

use crate::storage::Home;

/// Gives the lanes behind the first `count` the bits of the last of these.
#[cfg_attr(optimised, inline(always))]
pub fn pad<T>(column: &mut [MaybeUninit<T>], count: usize) {
    let (members, pads) = column.split_at_mut(count);
    if let Some(last) = members.last() {
        // SAFETY: any bits are a `MaybeUninit`; copies of values that only compute are harmless.
        pads.iter_mut().for_each(|pad| *pad = unsafe { ptr::read(last) });
    }
}

/// The first `strips` strips of a column, to be read.
#[cfg_attr(optimised, inline(always))]
pub fn strips<T, const W: usize>(column: &[MaybeUninit<T>], strips: usize) -> &[[MaybeUninit<T>; W]] {
    &column.as_chunks().0[..strips]
}

/// The same, to be written.
#[cfg_attr(optimised, inline(always))]
pub fn strips_mut<T, const W: usize>(
    column: &mut [MaybeUninit<T>],
    strips: usize,
) -> &mut [[MaybeUninit<T>; W]] {
    &mut column.as_chunks_mut().0[..strips]
}

/// The lanes of a strip, to work on in a copy that goes back in the end.
#[cfg_attr(optimised, inline(always))]
pub fn open<T, const W: usize>(strip: &mut [MaybeUninit<T>; W]) -> Home<'_, T, W, true> {
    Home(strip)
}

/// The same for lanes that are only read.
#[cfg_attr(optimised, inline(always))]
pub fn open_to_read<T, const W: usize>(strip: &mut [MaybeUninit<T>; W]) -> Home<'_, T, W, false> {
    Home(strip)
}

/// The value of a lane.
#[cfg_attr(optimised, inline(always))]
pub fn value<T>(column: &[MaybeUninit<T>], lane: usize) -> T {
    // SAFETY: by the protocol the slot holds a value, which only computes, so that it may be copied.
    unsafe { column[lane].assume_init_read() }
}

/// Gives a lane its value.
#[cfg_attr(optimised, inline(always))]
pub fn give<T>(column: &mut [MaybeUninit<T>], lane: usize, value: T) {
    column[lane].write(value);
}

/// A lane leaves a value behind.
#[cfg_attr(optimised, inline(always))]
pub fn put<T>(to: &mut [MaybeUninit<T>], lane: usize, from: &[MaybeUninit<T>], at: usize) {
    // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
    to[lane] = unsafe { ptr::read(&from[at]) };
}

/// The first lanes of `to` get the values of a strip.
#[cfg_attr(optimised, inline(always))]
pub fn append_strip<T, const W: usize>(to: &mut [MaybeUninit<T>], strip: &[MaybeUninit<T>; W]) {
    // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
    *to.first_chunk_mut().expect("there is room for a strip") = unsafe { ptr::read(strip) };
}

/// A copy of the bits of a lane's value.
#[cfg_attr(optimised, inline(always))]
pub fn copy_slot<T>(slot: &MaybeUninit<T>) -> MaybeUninit<T> {
    // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
    unsafe { ptr::read(slot) }
}
