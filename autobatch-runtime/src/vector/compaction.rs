//! Compaction: from a frame to a dense one and back.
//!
//! [`gather`] moves the slots of the lanes that are kept together, in their order; [`scatter`] puts the results of the dense frame back
//! into these lanes; [`squeeze`] does the same with a set of lanes. [`Moved`] is for a frame that gets dense while it runs.
//!
//! **Invariant:** compaction copies bits, and drops nothing. That is sound because values of such frames are plain, because the slots of
//! other lanes are not read from the dense frame, and because a frame that has been filled has a value, or a pad, in each slot of a live
//! variable. Generated code upholds the first by `is_plain`, and the last by the order in which it fills columns.

use std::mem::MaybeUninit;
use std::ptr;

use super::arena::Arena;
use super::columns::{copy_slot, pad, value};
use super::lane_set::LaneSet;
use crate::simd::{self, Level};

/// The column in the dense frame of `lanes` for the `count` lanes of `kept`.
#[cfg_attr(optimised, inline(always))]
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
#[cfg_attr(optimised, inline(always))]
pub fn copied<'a, T>(arena: &mut Arena<'a>, from: &[MaybeUninit<T>]) -> &'a mut [MaybeUninit<T>] {
    let column = arena.column(from.len());
    // SAFETY: both have the same length and lie apart; any bits are a `MaybeUninit`.
    unsafe { ptr::copy_nonoverlapping(from.as_ptr(), column.as_mut_ptr(), from.len()) };
    column
}

/// The results of a dense frame, to the lanes it was made for.
#[cfg_attr(optimised, inline(always))]
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
#[cfg_attr(optimised, inline(always))]
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

/// Results of lanes that had left a frame when the others moved together.
pub struct Moved<'r, R> {
    /// Those of all lanes, as they stood when the frame began.
    results: &'r mut [MaybeUninit<R>],
    /// Where each lane stood then.
    origins: &'r [MaybeUninit<u32>],
}

impl<'r, R> Moved<'r, R> {
    /// The lanes of `kept` are about to move together, into a frame of `lanes`; all others have their `results`.
    pub fn together<'a: 'r>(
        moved: &mut Option<Self>,
        arena: &mut Arena<'a>,
        results: &'r mut [MaybeUninit<R>],
        kept: &LaneSet<'_>,
        lanes: usize,
    ) {
        if let Some(pulse) = arena.pulse {
            pulse.compacted();
        }
        let origins = arena.column(lanes);
        *moved = Some(match moved.take() {
            None => {
                kept.lanes().zip(&mut *origins).for_each(|(lane, origin)| _ = origin.write(lane as u32));
                Moved { results, origins }
            }
            Some(mut before) => {
                let has_left = |lane: &usize| kept.words()[lane / 64] >> (lane % 64) & 1 == 0;
                before.hand_out(results, (0..kept.count()).filter(has_left));
                simd::compress(origins, before.origins, kept.words(), arena.level);
                Moved { results: before.results, origins }
            }
        });
    }

    /// The frame has run: its `count` members get their results where they stood when it began.
    pub fn apart(moved: Option<Self>, results: &[MaybeUninit<R>], count: usize) {
        if let Some(mut moved) = moved {
            moved.hand_out(results, 0..count);
        }
    }

    fn hand_out(&mut self, results: &[MaybeUninit<R>], lanes: impl Iterator<Item = usize>) {
        for lane in lanes {
            self.results[value(self.origins, lane) as usize] = copy_slot(&results[lane]);
        }
    }
}

/// The bits that are set in `mask`, side by side.
#[cfg_attr(optimised, inline(always))]
fn extract(bits: u64, mask: u64, level: Level) -> u64 {
    if bits & mask == mask {
        return if mask == !0 { !0 } else { (1u64 << mask.count_ones()) - 1 };
    }
    simd::extract(bits, mask, level)
}

#[cfg(test)]
mod tests {
    use super::super::arena::Memory;
    use super::super::columns::give;
    use super::super::lane_set::full;
    use super::*;
    use crate::simd::Isa;

    #[test]
    fn lanes_that_move_together_give_their_results_to_where_they_stood() {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let mut memory = Memory::default();
            let mut arena = memory.arena(Level::new(isa));
            let (members, mut lanes) = (150, 192);
            let mut own = arena.column::<u64>(lanes);
            own.iter_mut().enumerate().for_each(|(lane, slot)| _ = slot.write(lane.min(members - 1) as u64));
            let first: &mut [MaybeUninit<u64>] = arena.column(lanes);
            let (mut results, mut moved, mut count) = (&mut *first, None, members);
            for part in [3, 2, 5] {
                let mut here = full(&mut arena, lanes, count);
                here.clear();
                for lane in 0..count {
                    let number = value(own, lane);
                    if number % part == 0 { here.insert(lane) } else { give(results, lane, number * 10) }
                }
                count = here.trim();
                lanes = count.next_multiple_of(64);
                Moved::together(&mut moved, &mut arena, results, &here, lanes);
                results = arena.column(lanes);
                own = gather(&mut arena, own, &here, lanes, count);
            }
            (0..count).for_each(|lane| give(results, lane, value(own, lane) * 10));
            Moved::apart(moved, results, count);
            (0..members).for_each(|lane| assert_eq!(value(first, lane), lane as u64 * 10, "{isa:?}"));
        }
    }
}
