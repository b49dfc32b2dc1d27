//! From a frame to a dense one and back.

use std::mem::MaybeUninit;
use std::ptr;

use super::arena::Arena;
use super::set::Set;
use super::{isa, pad};

/// The column in the dense frame of `lanes` for the `count` lanes of `kept`.
#[inline(always)]
pub fn gather<'a, T>(
    arena: &mut Arena<'a>,
    from: &[MaybeUninit<T>],
    kept: &Set<'_>,
    lanes: usize,
    count: usize,
) -> &'a mut [MaybeUninit<T>] {
    let column = arena.column(lanes);
    isa::compress(column, from, kept.words(), arena.level);
    pad(column, count);
    column
}

/// A column with the same bits.
#[inline(always)]
pub fn copied<'a, T>(arena: &mut Arena<'a>, from: &[MaybeUninit<T>]) -> &'a mut [MaybeUninit<T>] {
    let column = arena.column(from.len());
    // SAFETY: both have the same length and lie apart; any bits are a `MaybeUninit`.
    unsafe { ptr::copy_nonoverlapping(from.as_ptr(), column.as_mut_ptr(), from.len()) };
    column
}

/// The results of a dense frame, to the lanes it was made for.
#[inline(always)]
pub fn scatter<T>(to: &mut [MaybeUninit<T>], dense: &[MaybeUninit<T>], kept: &Set<'_>, arena: &Arena<'_>) {
    isa::expand(to, dense, kept.words(), arena.level);
    pad(to, kept.count());
}
