//! Loops of vector frames: lanes run in columns that lose those that have left (see [`super::loop_columns`]).
//!
//! **Invariant:** strips have bits for lanes with a number only.

use std::mem::MaybeUninit;

use super::arena::Arena;
use super::lane_set::{LaneSet, spread};
use crate::batch::Pulse;
use crate::simd::{self, Isa, Level};
use crate::storage::pc_word::{choose, equal, equal_apart, mask};
use crate::storage::{Aligned, Next, PcWord};

/// Rounds before lanes that have left are looked for: a part of those that the loop has run already, so that
/// lanes wait a part of their own time in vain, within bounds.
const ROUNDS_PART: usize = 4;
const LEAST_ROUNDS: usize = 8;
const MOST_ROUNDS: usize = 64;
/// Columns close their gaps when this part of the lanes has left.
const GAPS: usize = 8;

/// The lanes of a frame that run a loop, side by side.
pub struct LoopLanes<'a> {
    /// The lane of the frame that each has come from.
    numbers: &'a mut [MaybeUninit<u32>],
    /// Whether they are all lanes of the frame, each in its place.
    in_place: bool,
    /// Those that have not left.
    on: LaneSet<'a>,
    pub(super) len: usize,
    left: usize,
    /// Lanes left since gaps were closed.
    gaps: usize,
    /// The rounds that those that have not left have run.
    age: usize,
    /// Counts them, if the run has limits.
    pulse: Option<&'a Pulse<'a>>,
}

impl<'a> LoopLanes<'a> {
    /// For the lanes of `set`, which has no pads.
    #[cfg_attr(optimised, inline(always))]
    pub fn new<const W: usize>(arena: &mut Arena<'a>, set: &LaneSet<'_>) -> LoopLanes<'a> {
        let len = simd::count(set.words());
        let lanes = len.next_multiple_of(W);
        let numbers = arena.column::<u32>(lanes);
        let mut at = 0;
        for (block, &word) in set.words().iter().enumerate() {
            let first = 64 * block as u32;
            if word == !0 {
                let slots = numbers[at..at + 64].iter_mut();
                slots.zip(first..).for_each(|(slot, lane)| _ = slot.write(lane));
                at += 64;
                continue;
            }
            let mut rest = word;
            while rest != 0 {
                numbers[at].write(first + rest.trailing_zeros());
                rest &= rest - 1;
                at += 1;
            }
        }
        let mut on = arena.set(lanes, len);
        on.fill(len);
        let in_place = set.is_whole(len, lanes);
        LoopLanes { numbers, in_place, on, len, left: len, gaps: 0, age: 0, pulse: arena.pulse }
    }

    /// Whether they are where they are in the frame: until gaps are closed for the first time, if all lanes of the frame run the loop.
    #[cfg_attr(optimised, inline(always))]
    pub fn are_in_place(&self) -> bool {
        self.in_place
    }

    /// How many slots their columns have.
    pub(super) fn room(&self) -> usize {
        self.numbers.len()
    }

    /// Those that have not left, as words.
    pub(super) fn on(&self) -> &[u64] {
        self.on.words()
    }

    /// Whether a lane is left.
    #[cfg_attr(optimised, inline(always))]
    pub fn any(&self) -> bool {
        self.left > 0
    }

    /// The number of strips.
    #[cfg_attr(optimised, inline(always))]
    pub fn strips<const W: usize>(&self) -> usize {
        self.len.div_ceil(W)
    }

    /// How many rounds a strip runs now, before it is the next one's turn. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn rounds<const W: usize>(&mut self) -> usize {
        let rounds = (self.age / ROUNDS_PART).clamp(LEAST_ROUNDS, MOST_ROUNDS);
        let rounds = self.pulse.map_or(rounds, |pulse| pulse.rounds(rounds, self.strips::<W>()));
        self.age += rounds;
        if let Some(pulse) = self.pulse {
            pulse.side_by_side(rounds as u64, (rounds * self.strips::<W>()) as u64);
        }
        rounds
    }

    /// The lanes of a strip that have not left.
    #[cfg_attr(optimised, inline(always))]
    pub fn strip<const W: usize>(&self, strip: usize) -> u64 {
        self.on.strip::<W>(strip)
    }

    /// Lanes of a strip leave.
    #[cfg_attr(optimised, inline(always))]
    pub fn leave<const W: usize>(&mut self, strip: usize, gone: u64) {
        self.on.remove::<W>(strip, gone);
        let gone = gone.count_ones() as usize;
        (self.left, self.gaps) = (self.left - gone, self.gaps + gone);
    }

    /// For each of the lanes `gone` of a strip where it is in the loop's columns, and in the frame's.
    #[cfg_attr(optimised, inline(always))]
    pub fn each<const W: usize>(&self, strip: usize, gone: u64, mut leave: impl FnMut(usize, usize)) {
        let mut rest = gone;
        while rest != 0 {
            let at = strip * W + rest.trailing_zeros() as usize;
            leave(at, self.number(at));
            rest &= rest - 1;
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn number(&self, at: usize) -> usize {
        // SAFETY: by the invariant it has one.
        unsafe { self.numbers[at].assume_init() as usize }
    }

    /// Whether the gaps are worth closing.
    #[cfg_attr(optimised, inline(always))]
    pub fn sparse(&self) -> bool {
        self.left > 0 && GAPS * self.gaps >= self.len
    }

    /// Closes its own gaps; all columns have.
    #[cfg_attr(optimised, inline(always))]
    pub fn close(&mut self, arena: &Arena<'_>) {
        simd::compact(self.numbers, self.on.words(), arena.level);
        (self.len, self.gaps, self.in_place) = (self.left, 0, false);
        if let Some(pulse) = self.pulse {
            pulse.compacted();
        }
        self.on.clear();
        self.on.fill(self.len);
    }
}

/// Whether a lane of a strip stays in a loop.
struct Again<P> {
    /// Whether the instruction set has registers for masks. LLVM keeps those of the lanes there from round to round if nothing
    /// but the lanes' words is made of them; elsewhere words are all there is.
    masks: bool,
    any: bool,
    words: P,
}

impl<P: PcWord> Again<P> {
    #[cfg_attr(optimised, inline(always))]
    fn new(level: Level) -> Self {
        Again { masks: level.isa() == Isa::Avx512, any: false, words: P::of(0) }
    }

    /// A lane stays or not; `word` is set if it does.
    #[cfg_attr(optimised, inline(always))]
    fn or(&mut self, stays: bool, word: P) {
        if self.masks {
            self.any |= stays;
        } else {
            self.words = self.words.or(word);
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn any(&self) -> bool {
        self.any || self.words != P::of(0)
    }
}

/// Runs the lanes `here` of a strip round by round until all have come to `exit`, or for so many `rounds`;
/// those that have not. `lane` is called with a lane, whether it is here, and `exit`; it returns where it goes.
#[cfg_attr(optimised, inline(always))]
pub fn repeat<P: PcWord, const W: usize>(
    here: u64,
    exit: u32,
    level: Level,
    rounds: usize,
    mut lane: impl FnMut(usize, bool, P) -> Next<P>,
) -> u64 {
    let exit = P::of(exit);
    let mut on = Aligned(spread::<P, W>(here, level));
    let on = &mut on.0;
    for _ in 0..rounds {
        let mut again = Again::new(level);
        for (at, on) in on.iter_mut().enumerate() {
            let stays = lane(at, on.is_set(), exit).0 != exit;
            *on = P::set(stays);
            again.or(stays, *on);
        }
        if !again.any() {
            return 0;
        }
    }
    here & !mask(on, 0, level)
}

/// The program point that each lane of a strip has gone to.
pub struct Points<P, const W: usize>(Aligned<[P; W]>);

impl<P: PcWord, const W: usize> Points<P, W> {
    /// Nowhere.
    #[cfg_attr(optimised, inline(always))]
    pub fn new() -> Self {
        Points(Aligned([P::IDLE; W]))
    }

    /// A lane has gone to `point`.
    #[cfg_attr(optimised, inline(always))]
    pub fn put(&mut self, lane: usize, point: P) {
        self.0.0[lane] = point;
    }

    /// The lanes that are at `point`.
    #[cfg_attr(optimised, inline(always))]
    pub fn at(&self, point: u32, level: Level) -> u64 {
        mask(&self.0.0, point, level)
    }

    /// Notes whether a lane is at `point`.
    #[cfg_attr(optimised, inline(always))]
    pub fn note(&mut self, lane: usize, at: P, point: u32) {
        self.0.0[lane] = P::set(at == P::of(point));
    }

    /// The lanes of which it is noted.
    #[cfg_attr(optimised, inline(always))]
    pub fn all_noted(&self, level: Level) -> u64 {
        equal(&self.0.0, P::set(true), level)
    }

    /// The same, as [`equal_apart`] has them.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn noted(&self, level: Level) -> u64 {
        equal_apart(&self.0.0, P::set(true), level)
    }
}

impl<P: PcWord, const W: usize> Default for Points<P, W> {
    fn default() -> Self {
        Points::new()
    }
}

/// Which of two ways each lane of a strip goes. A byte each: of words as wide as the data LLVM would put vectors
/// together one by one, where it has unrolled the loop over the lanes.
pub struct Flags<const W: usize>(Aligned<[u8; W]>);

impl<const W: usize> Flags<W> {
    /// All the one way.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Flags(Aligned([0; W]))
    }

    /// A lane goes to `point`; the other way is to `other`.
    #[cfg_attr(optimised, inline(always))]
    pub fn put<P: PcWord>(&mut self, lane: usize, point: P, other: u32) {
        self.0.0[lane] = u8::from(point == P::of(other)).wrapping_neg();
    }

    /// The lanes that go the other way.
    #[cfg_attr(optimised, inline(always))]
    pub fn set(&self, level: Level) -> u64 {
        simd::signs(&self.0.0, level)
    }

    /// The same, read in parts: a vector that is wider than what has just been stored has to wait for it.
    #[cfg_attr(optimised, inline(always))]
    pub fn set_by_parts(&self, level: Level) -> u64 {
        let parts = self.0.0.as_chunks::<8>().0.iter().rev();
        parts.fold(0, |mask, part| {
            mask << 8 | simd::extract(u64::from_le_bytes(*part), 0x8080_8080_8080_8080, level)
        })
    }
}

/// The same for a loop with several ways out: as long as a lane stays at `point`. `words` are where each
/// lane of `here` is then.
#[cfg_attr(optimised, inline(always))]
pub fn repeat_exits<P: PcWord, const W: usize>(
    here: u64,
    point: u32,
    words: &mut Points<P, W>,
    level: Level,
    rounds: usize,
    mut lane: impl FnMut(usize, bool, P) -> Next<P>,
) {
    let point = P::of(point);
    let words = &mut words.0.0;
    choose(words, here, point, P::IDLE, level);
    for _ in 0..rounds {
        let mut again = Again::new(level);
        for (at, word) in words.iter_mut().enumerate() {
            *word = lane(at, *word == point, *word).0;
            again.or(*word == point, word.same(point));
        }
        if !again.any() {
            return;
        }
    }
}
