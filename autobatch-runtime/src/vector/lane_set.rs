//! Sets of lanes: which lanes of a frame are at a program point.

use super::arena::Arena;
use crate::simd::{self, Level};
use crate::storage::PcWord;
use crate::storage::pc_word::choose;

/// Lanes of a frame, one bit each.
///
/// A frame has whole strips; lanes behind its last member, *pads*, hold copies of that member's values, and
/// are in a set only with it, so that its last strip can be as full as the others.
pub struct LaneSet<'a> {
    pub(super) words: &'a mut [u64],
    /// The lanes of the frame.
    lanes: usize,
    /// Those with a member.
    count: usize,
    /// Not 0 if a lane is in it. A word: of flags of several sets LLVM 22 makes a vector of bits, and with AVX-512 takes one of
    /// them for 0xff where it is set and asks elsewhere whether it is 1.
    pub(super) any: u64,
}

/// The bits of a strip.
const fn all<const W: usize>() -> u64 {
    if W >= 64 { !0 } else { (1 << W) - 1 }
}

impl<'a> LaneSet<'a> {
    fn new(words: &'a mut [u64], lanes: usize, count: usize) -> Self {
        LaneSet { words, lanes, count, any: 0 }
    }

    /// Whether a lane is in it.
    #[cfg_attr(optimised, inline(always))]
    pub fn any(&self) -> bool {
        self.any != 0
    }

    /// The lanes of the frame that have members.
    #[cfg_attr(optimised, inline(always))]
    pub fn count(&self) -> usize {
        self.count
    }

    pub(super) fn words(&self) -> &[u64] {
        self.words
    }

    /// The number of strips.
    #[cfg_attr(optimised, inline(always))]
    pub fn strips<const W: usize>(&self) -> usize {
        self.lanes / W
    }

    /// The bits of a strip.
    #[cfg_attr(optimised, inline(always))]
    pub fn strip<const W: usize>(&self, strip: usize) -> u64 {
        const { assert!(64 % W == 0) };
        (self.words[strip * W / 64] >> (strip * W % 64)) & all::<W>()
    }

    /// Whether bits of a strip are all of them.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_full<const W: usize>(bits: u64) -> bool {
        bits == all::<W>()
    }

    /// Adds bits of a strip.
    #[cfg_attr(optimised, inline(always))]
    pub fn add<const W: usize>(&mut self, strip: usize, bits: u64) {
        self.words[strip * W / 64] |= bits << (strip * W % 64);
        self.any |= bits;
    }

    /// Removes bits of a strip. ([`LaneSet::any`] stays as it is.)
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn remove<const W: usize>(&mut self, strip: usize, bits: u64) {
        self.words[strip * W / 64] &= !(bits << (strip * W % 64));
    }

    /// Adds a lane.
    #[cfg_attr(optimised, inline(always))]
    pub fn insert(&mut self, lane: usize) {
        self.words[lane / 64] |= 1 << (lane % 64);
        self.any = 1;
    }

    /// Empties the set.
    #[cfg_attr(optimised, inline(always))]
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.any = 0;
    }

    /// Takes over the lanes of another.
    #[cfg_attr(optimised, inline(always))]
    pub fn absorb(&mut self, other: &mut LaneSet<'_>) {
        for (to, from) in self.words.iter_mut().zip(&mut *other.words) {
            *to |= std::mem::take(from);
        }
        self.any |= std::mem::take(&mut other.any);
    }

    /// Adds the lanes of another.
    #[cfg_attr(optimised, inline(always))]
    pub fn include(&mut self, other: &LaneSet<'_>) {
        for (to, from) in self.words.iter_mut().zip(&*other.words) {
            *to |= *from;
        }
        self.any |= other.any;
    }

    /// Removes pads; the number of lanes that are left.
    #[cfg_attr(optimised, inline(always))]
    pub fn trim(&mut self) -> usize {
        let (whole, rest) = (self.count / 64, self.count % 64);
        if let Some(pads) = self.words.get_mut(whole..) {
            for (nth, word) in pads.iter_mut().enumerate() {
                *word &= if nth == 0 { (1 << rest) - 1 } else { 0 };
            }
        }
        let len = simd::count(self.words);
        self.any = len as u64;
        len
    }

    /// Whether the `len` lanes of a set without pads are all members of the frame, which has `room` lanes.
    pub(super) fn is_whole(&self, len: usize, room: usize) -> bool {
        len == self.count && room <= self.lanes
    }

    /// Whether half of the frame's lanes are missing, and strips would be saved without them.
    #[cfg_attr(optimised, inline(always))]
    pub fn has_gaps<const W: usize>(&self) -> bool {
        self.lanes >= 2 * W && 2 * simd::count(self.words) <= self.lanes
    }

    /// The lanes, ascending.
    pub fn lanes(&self) -> impl Iterator<Item = usize> {
        simd::lanes(self.words)
    }

    /// All lanes of the frame, pads included.
    pub(super) fn fill(&mut self, lanes: usize) {
        for (at, word) in self.words.iter_mut().enumerate() {
            *word = match lanes.saturating_sub(64 * at) {
                64.. => !0,
                rest => (1 << rest) - 1,
            };
        }
        self.any = lanes as u64;
    }
}

impl<'a> Arena<'a> {
    /// A set without lanes, for a frame of `lanes`, the first `count` of which have members.
    #[cfg_attr(optimised, inline(always))]
    pub fn set(&mut self, lanes: usize, count: usize) -> LaneSet<'a> {
        let words = self.column::<u64>(lanes.div_ceil(64));
        words.iter_mut().for_each(|word| _ = word.write(0));
        // SAFETY: all words have just been written.
        let words = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) };
        LaneSet::new(words, lanes, count)
    }
}

/// Every lane of a frame of `lanes`, `count` of which have members.
#[cfg_attr(optimised, inline(always))]
pub fn full<'a>(arena: &mut Arena<'a>, lanes: usize, count: usize) -> LaneSet<'a> {
    let mut set = arena.set(lanes, count);
    set.fill(lanes);
    set
}

/// Words of a strip, as wide as the data: zero for lanes that are not in `bits`.
#[cfg_attr(optimised, inline(always))]
pub fn spread<P: PcWord, const W: usize>(bits: u64, level: Level) -> [P; W] {
    let mut words = [P::of(0); W];
    choose(&mut words, bits, P::set(true), P::of(0), level);
    words
}

#[cfg(test)]
mod tests {
    use super::super::arena::Memory;
    use super::super::compaction::squeeze;
    use super::*;
    use crate::simd::Isa;

    #[test]
    fn pads_follow_the_last_member() {
        let mut memory = Memory::default();
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let mut arena = memory.arena(Level::new(isa));
            for (step, shift) in [(1, 0), (2, 0), (3, 1), (5, 2), (64, 63)] {
                let lanes = 192;
                let (mut kept, mut odd) = (arena.set(lanes, 150), arena.set(lanes, 150));
                for lane in (shift..150).step_by(step) {
                    kept.add::<64>(lane / 64, 1 << (lane % 64));
                    odd.add::<64>(lane / 64, (lane as u64 % 2) << (lane % 64));
                }
                let kept_lanes: Vec<usize> = kept.lanes().collect();
                let count = kept_lanes.len();
                let room = count.next_multiple_of(32);
                let dense = squeeze(&mut arena, &odd, &kept, room, count);
                let want: Vec<usize> =
                    (0..room).filter(|at| kept_lanes[(*at).min(count - 1)] % 2 == 1).collect();
                assert_eq!(dense.lanes().collect::<Vec<_>>(), want, "{step} {shift}");
                assert_eq!(dense.any(), !want.is_empty());
            }
        }
    }

    #[test]
    fn trimming_removes_pads() {
        let mut memory = Memory::default();
        let mut arena = memory.arena(Level::new(Isa::Baseline));
        for (lanes, count) in [(32, 1), (64, 64), (64, 33), (96, 64), (128, 65), (128, 128), (192, 63)] {
            let mut set = full(&mut arena, lanes, count);
            assert_eq!(set.lanes().count(), lanes);
            assert_eq!(set.trim(), count);
            assert_eq!(set.lanes().collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
            assert!(set.any());
            set.clear();
            assert_eq!((set.trim(), set.any()), (0, false));
        }
    }

    #[test]
    fn strips_are_parts_of_words() {
        let mut memory = Memory::default();
        let mut arena = memory.arena(Level::new(Isa::Baseline));
        let (mut set, mut other) = (arena.set(128, 128), arena.set(128, 128));
        set.add::<32>(1, 5);
        other.add::<32>(3, 9);
        assert_eq!((set.strip::<32>(1), set.strip::<32>(0), set.strip::<64>(0)), (5, 0, 5 << 32));
        set.absorb(&mut other);
        assert!(!other.any() && other.lanes().count() == 0);
        assert_eq!(set.lanes().collect::<Vec<_>>(), [32, 34, 96, 99]);
        assert!(LaneSet::is_full::<32>(0xffff_ffff) && !LaneSet::is_full::<64>(0xffff_ffff));
        let words: [u32; 32] = spread(5, Level::new(Isa::Avx512));
        assert_eq!((words[0], words[1], words[2]), (!0, 0, !0));
    }
}
