//! Step counts: how many calls and turns of loops each member has made, for the limit of steps.
//!
//! A count for each lane lies beside its word. Where a call or a turn begins, a step is counted for all lanes at the point before it runs, and
//! taken back for those that are there still. The region loop counts for those that stay in a loop. So that lanes at their limit are not
//! looked for at each step, the machine remembers how many steps every lane of the tile, or of the top frame, may make at least.
//!
//! **Invariant:** a lane that waits at a point has made no more steps than it may, and may make at least `left` more.

use std::ops::Range;

use crate::api::program::Block;
use crate::native_stack::room;
use crate::simd::{self, Level};
use crate::storage::PcWord;

/// The counts. Empty if there is no limit.
pub(super) struct StepCounts {
    spent: Vec<u64>,
    most: u64,
    points: &'static [Block],
    /// No lane of the tile or the top frame may make fewer.
    left: u64,
}

impl StepCounts {
    pub(super) fn new(most: u64, points: &'static [Block]) -> StepCounts {
        StepCounts { spent: Vec::new(), most, points, left: 0 }
    }

    /// Whether steps are counted.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn are_counted(&self) -> bool {
        self.most != u64::MAX
    }

    /// Whether they are at this point.
    #[cfg_attr(optimised, inline(always))]
    fn count(&self, point: u32) -> bool {
        self.are_counted() && self.points[point as usize].step
    }

    /// Whether there is memory for so many words.
    pub(super) fn has_room(&mut self, words: usize) -> bool {
        !self.are_counted() || room::has_all(&mut self.spent, words)
    }

    /// Lanes at their limit are looked for at the next step.
    pub(super) fn look_again(&mut self) {
        self.left = 0;
    }

    /// There are so many words now.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn resize(&mut self, words: usize) {
        if self.are_counted() {
            self.spent.resize(words, 0);
        }
    }

    /// The counts of the strip whose words begin at `first`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn strip<const W: usize>(&mut self, first: usize) -> Option<&mut [u64; W]> {
        match self.are_counted() {
            true => Some((&mut self.spent[first..first + W]).try_into().expect("the range has W counts")),
            false => None,
        }
    }

    /// New members sit on these lanes.
    pub(super) fn begin(&mut self, lanes: Range<usize>) {
        if self.are_counted() {
            self.spent[lanes].fill(0);
            self.left = 0;
        }
    }

    /// How many of `rounds` steps the lanes at `point` may make, of those whose words these are: they begin at `first`. They will make no
    /// more.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn allow<P: PcWord>(&mut self, words: &[P], first: usize, point: u32, rounds: u32) -> u32 {
        if !self.count(point) {
            return rounds;
        }
        let rounds = match self.left < u64::from(rounds) {
            true => self.look(words, first, P::of(point), rounds),
            false => rounds,
        };
        self.left = self.left.saturating_sub(u64::from(rounds));
        rounds
    }

    #[inline(never)]
    fn look<P: PcWord>(&mut self, words: &[P], first: usize, point: P, rounds: u32) -> u32 {
        let (mut all, mut here) = (u64::MAX, u64::from(rounds));
        for (word, spent) in words.iter().zip(&self.spent[first..]) {
            let left = self.most.saturating_sub(*spent);
            all = all.min(if *word == P::IDLE { u64::MAX } else { left });
            here = here.min(if *word == point { left } else { u64::MAX });
        }
        self.left = all;
        here as u32
    }

    /// Lanes at `point` make a step, of those strips of `size` lanes whose words begin at `first`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn advance<P: PcWord>(
        &mut self,
        words: &[P],
        first: usize,
        strips: &[u32],
        size: usize,
        point: u32,
    ) {
        if self.count(point) {
            self.add(words, first, strips, size, P::of(point), 1);
        }
    }

    /// The step has ended: those that are there still have not made it.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn take_back<P: PcWord>(
        &mut self,
        words: &[P],
        first: usize,
        strips: &[u32],
        size: usize,
        point: u32,
    ) {
        if self.count(point) {
            self.add(words, first, strips, size, P::of(point), u64::MAX);
        }
    }

    /// A lane that has unwound has not made a step, and those of its strip before it have made one that has not been counted.
    pub(super) fn unwound<P: PcWord>(&mut self, words: &[P], first: usize, lane: usize, point: u32) {
        if self.count(point) {
            let lanes = self.spent[first..first + lane].iter_mut().zip(&words[first..]);
            lanes.for_each(|(spent, word)| *spent += u64::from(*word == P::of(point)));
        }
    }

    /// Adds for lanes at `point`, wrapping around.
    #[cfg_attr(optimised, inline(always))]
    fn add<P: PcWord>(
        &mut self,
        words: &[P],
        first: usize,
        strips: &[u32],
        size: usize,
        point: P,
        steps: u64,
    ) {
        for strip in strips {
            let lanes = first + *strip as usize..first + *strip as usize + size;
            for (spent, word) in self.spent[lanes.clone()].iter_mut().zip(&words[lanes]) {
                *spent = spent.wrapping_add(if *word == point { steps } else { 0 });
            }
        }
    }

    /// Whether the lane may make no step.
    pub(super) fn is_over(&self, lane: usize) -> bool {
        self.spent[lane] >= self.most
    }

    /// How many steps every lane may make at least.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Lanes of a caller's frame, the mask's, begin a frame without gaps.
    pub(super) fn compress(&mut self, dense: usize, wide: usize, mask: &[u64], level: Level) {
        if self.are_counted() {
            let (callers, callees) = self.spent.split_at_mut(dense);
            simd::compress_words(callees, &callers[wide..], mask, level);
        }
    }

    /// All lanes of a caller's frame begin one, `len` of them.
    pub(super) fn copy(&mut self, dense: usize, wide: usize, len: usize) {
        if self.are_counted() {
            self.spent.copy_within(wide..wide + len, dense);
        }
    }

    /// The frame ends, whose caller's lanes may make `left` steps.
    pub(super) fn expand(&mut self, wide: usize, dense: usize, mask: &[u64], left: u64, level: Level) {
        if self.are_counted() {
            let (callers, callees) = self.spent.split_at_mut(dense);
            simd::expand_words(&mut callers[wide..], callees, mask, level);
            self.left = self.left.min(left);
        }
    }

    /// The same where the frame has all lanes of the caller's. Those that did not call have made no step.
    pub(super) fn copy_back(&mut self, wide: usize, dense: usize, len: usize, left: u64) {
        if self.are_counted() {
            self.spent.copy_within(dense..dense + len, wide);
            self.left = self.left.min(left);
        }
    }

    /// The steps of the lane with this word.
    pub(super) fn of(&self, word: usize) -> u64 {
        if self.are_counted() { self.spent[word] } else { 0 }
    }

    /// Lanes have made so many, whatever they had.
    pub(super) fn settle(&mut self, lanes: impl Iterator<Item = (usize, u64)>) {
        if self.are_counted() {
            lanes.for_each(|(lane, spent)| self.spent[lane] = spent);
            self.left = 0;
        }
    }

    /// The lanes in `mask` move to the front.
    pub(super) fn compact(&mut self, reach: usize, mask: &[u64], level: Level) {
        if self.are_counted() {
            simd::compact_words(&mut self.spent[..reach], mask, level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::expansion::harness::block;
    use crate::storage::pc_word::IDLE;

    static POINTS: &[Block] = &[const { block(&[]) }; 8];

    #[test]
    fn lanes_make_no_more_steps_than_they_may() {
        let mut counts = StepCounts::new(100, POINTS);
        counts.resize(8);
        counts.begin(0..3);
        let words = [4u32, 5, 4, IDLE, IDLE, IDLE, IDLE, IDLE];
        assert_eq!(counts.allow(&words, 0, 4, 32), 32);
        counts.strip::<8>(0).unwrap()[..3].copy_from_slice(&[32, 0, 90]);
        counts.strip::<8>(0).unwrap()[7] = 1000;
        assert_eq!((counts.left(), counts.allow(&words, 0, 5, 32)), (68, 32));
        counts.left = 0;
        assert_eq!((counts.allow(&words, 0, 4, 32), counts.left()), (10, 0));
        counts.spent[2] = 100;
        assert_eq!((counts.allow(&words, 0, 4, 32), counts.is_over(2), counts.is_over(0)), (0, true, false));
        assert_eq!(counts.allow(&words, 0, 5, 32), 32);
        assert_eq!(StepCounts::new(u64::MAX, POINTS).allow(&words, 0, 4, 128), 128);
    }

    #[test]
    fn steps_are_those_that_were_made() {
        let mut counts = StepCounts::new(100, POINTS);
        counts.resize(8);
        let (before, after) = ([4u32, 4, 5, 4, 4, 4, 4, IDLE], [6u32, 4, 5, 7, 4, 4, 4, IDLE]);
        counts.advance(&before, 0, &[0], 8, 4);
        assert_eq!(counts.spent, [1, 1, 0, 1, 1, 1, 1, 0]);
        // Lane 4 has unwound: the first two have run, and one of them is there still.
        counts.unwound(&after, 0, 4, 4);
        counts.take_back(&after, 0, &[0], 8, 4);
        assert_eq!(counts.spent, [1, 1, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn counts_travel_with_their_lanes() {
        let level = Level::new(crate::simd::Isa::Avx512);
        let mut counts = StepCounts::new(1000, POINTS);
        counts.resize(16);
        (0..8).for_each(|lane| counts.spent[lane] = lane as u64);
        counts.compress(8, 0, &[0b1010_0110], level);
        assert_eq!(counts.spent[8..12], [1, 2, 5, 7]);
        counts.spent[8..12].iter_mut().for_each(|spent| *spent += 100);
        counts.expand(0, 8, &[0b1010_0110], 7, level);
        assert_eq!(counts.spent[..8], [0, 101, 102, 3, 4, 105, 6, 107]);
        counts.copy(8, 0, 8);
        counts.spent[8] += 1;
        counts.copy_back(0, 8, 8, 7);
        assert_eq!(counts.spent[..8], [1, 101, 102, 3, 4, 105, 6, 107]);
        counts.compact(8, &[0b1000_0001], level);
        assert_eq!(counts.spent[..2], [1, 107]);
    }
}
