//! Records that put down their variables in the columns of a queue.

use std::mem::MaybeUninit;

use super::queue::ContinuationQueue;
use crate::simd::{self, Level};

/// Records of a queue put down a variable behind those that are there: the lanes `here` of a strip.
#[cfg_attr(optimised, inline(always))]
pub fn put<T, const W: usize>(
    column: &mut [MaybeUninit<T>],
    queue: &ContinuationQueue<'_>,
    strip: &[MaybeUninit<T>; W],
    here: u64,
    level: Level,
) {
    simd::append(&mut column[queue.len..], strip, here, level);
}

/// A record puts down a variable.
#[cfg_attr(optimised, inline(always))]
pub fn put_one<T>(column: &mut [MaybeUninit<T>], at: usize, value: MaybeUninit<T>) {
    debug_assert!(at < column.len());
    // SAFETY: a queue has a slot for each lane, and a lane has one record.
    *unsafe { column.get_unchecked_mut(at) } = value;
}
