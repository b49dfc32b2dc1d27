//! Compaction: from a frame to a dense one and back.
//!
//! [`gather`] moves the slots of the lanes that are kept together, in their order; [`scatter`] puts the results of the dense frame back
//! into these lanes; [`squeeze`] does the same with a set of lanes.
//!
//! **Invariant:** compaction copies bits, and drops nothing. That is sound because values of such frames are plain, because the slots of
//! other lanes are not read from the dense frame, and because a frame that has been filled has a value, or a pad, in each slot of a live
//! variable. Generated code upholds the first by `is_plain`, and the last by the order in which it fills columns.

use std::mem::MaybeUninit;
use std::ptr;

use super::arena::Arena;
use super::columns::pad;
use super::lane_set::LaneSet;
use crate::simd::{self, Level};

/// The column in the dense frame of `lanes` for the `count` lanes of `kept`.
#[inline(always)]
pub fn gather<'a, T>(
    arena: &mut Arena<'a>,
    from: &[MaybeUninit<T>],
    kept: &LaneSet<'_>,
    lanes: usize,
    count: usize,
) -> &'a mut [MaybeUninit<T>] {
    let column = arena.column(lanes);
    simd::compress(column, from, kept.words(), arena.level);
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
pub fn scatter<T>(
    to: &mut [MaybeUninit<T>],
    dense: &[MaybeUninit<T>],
    kept: &LaneSet<'_>,
    arena: &Arena<'_>,
) {
    simd::expand(to, dense, kept.words(), arena.level);
    pad(to, kept.count());
}

/// The lanes of `set` in the dense frame of `lanes` to which those in `kept` go, `count` of them.
#[inline(always)]
pub fn squeeze<'a>(
    arena: &mut Arena<'a>,
    set: &LaneSet<'_>,
    kept: &LaneSet<'_>,
    lanes: usize,
    count: usize,
) -> LaneSet<'a> {
    let mut dense = arena.set(lanes, count);
    if !set.any() {
        return dense;
    }
    let mut at = 0;
    for (&bits, &kept) in set.words.iter().zip(&*kept.words) {
        if kept == 0 {
            continue;
        }
        let (len, bits) = (kept.count_ones() as usize, extract(bits, kept, arena.level));
        dense.words[at / 64] |= bits << (at % 64);
        if at % 64 + len > 64 {
            dense.words[at / 64 + 1] |= bits >> (64 - at % 64);
        }
        at += len;
    }
    // Pads go with the last member.
    let last = count - 1;
    if dense.words[last / 64] >> (last % 64) & 1 == 1 {
        (count..lanes).for_each(|lane| dense.words[lane / 64] |= 1 << (lane % 64));
    }
    dense.any = simd::count(dense.words) as u64;
    dense
}

/// The bits that are set in `mask`, side by side.
#[inline(always)]
fn extract(bits: u64, mask: u64, level: Level) -> u64 {
    if bits & mask == mask {
        return if mask == !0 { !0 } else { (1u64 << mask.count_ones()) - 1 };
    }
    simd::extract(bits, mask, level)
}
