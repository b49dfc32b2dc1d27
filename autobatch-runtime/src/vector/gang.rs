//! Gangs: lanes that agree recurse together, natively, in registers.
//!
//! Lanes that are not on are copies of one that is, so all lanes may compute. A panic in a gang unwinds out of its tile
//! ([`super::tile`]); the tile's members run again, one by one, as scalar code, which finds out whose fault it is.

use std::cell::Cell;
use std::marker::PhantomData;

use super::arena::Arena;
use super::columns::copy_slot;
use super::lane_set::spread;
use super::loops::Points;
use super::task_blocks::TaskBlocks;
use crate::batch::Pulse;
use crate::native_stack::depth::Depth;
use crate::simd::Level;
use crate::storage::pc_word::{SECOND, in_first};
use crate::storage::{PcWord, Strip};

/// Gangs are worth it while so much of their lanes is on: task blocks run full strips, at a part of their speed.
const ON: usize = 3;
const OF: usize = 4;
/// The credit that a gang begins with: lanes that are on add to it, lanes that run take from it.
const CREDIT: isize = 64;
/// With so much of it gangs are begun everywhere, with less from this depth on: whose gang does not agree runs lane by lane.
const TRIAL: isize = 1024;
const DEEP: usize = 2;
/// Activations of a gang that are counted at once.
const COUNTED: usize = 64;

/// Some lanes of a gang, a bit each.
#[derive(Clone, Copy)]
pub struct GangMask<const G: usize> {
    bits: u64,
    /// So many are in the first vector; the bits of the others begin at [`SECOND`].
    in_first: usize,
}

impl<const G: usize> GangMask<G> {
    /// Those that are noted.
    #[cfg_attr(optimised, inline(always))]
    pub fn noted<P: PcWord>(words: &Points<P, G>, level: Level) -> Self {
        GangMask { bits: words.noted(level), in_first: in_first::<P>(G, level) }
    }

    /// All of them.
    #[cfg_attr(optimised, inline(always))]
    fn full<P: PcWord>(level: Level) -> Self {
        let in_first = in_first::<P>(G, level);
        GangMask { bits: Self::all(in_first), in_first }
    }

    #[cfg_attr(optimised, inline(always))]
    fn all(in_first: usize) -> u64 {
        ((1 << in_first) - 1) | (((1 << (G - in_first)) - 1) << SECOND)
    }

    /// Whether a lane is one of them.
    #[cfg_attr(optimised, inline(always))]
    fn is_set(self, lane: usize) -> bool {
        self.row() >> lane & 1 != 0
    }

    /// The bits side by side.
    #[cfg_attr(optimised, inline(always))]
    fn row(self) -> u64 {
        (self.bits & ((1 << SECOND) - 1)) | ((self.bits >> SECOND) << self.in_first)
    }

    /// Those that are among others too.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    fn and(self, others: Self) -> Self {
        GangMask { bits: self.bits & others.bits, ..self }
    }

    /// Whether there is one.
    #[cfg_attr(optimised, inline(always))]
    pub fn any(self) -> bool {
        self.bits != 0
    }

    /// Whether that is all.
    #[cfg_attr(optimised, inline(always))]
    fn is_full(self) -> bool {
        self.bits == Self::all(self.in_first)
    }

    /// How many there are.
    #[cfg_attr(optimised, inline(always))]
    fn count(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// The first of them; there is one.
    fn first(self) -> usize {
        self.row().trailing_zeros() as usize
    }
}

/// The strips of some variables: pairs of one and the others, which end in `()`.
pub trait Columns<const G: usize> {
    /// References to them.
    type Refs<'a>: Copy
    where
        Self: 'a;

    /// References to them.
    fn refs(&self) -> Self::Refs<'_>;

    /// Room for them.
    fn new() -> Self;

    /// They become copies of others, in which lanes that are not set in `on` are copies of `lane`.
    fn fill<P: PcWord>(&mut self, from: Self::Refs<'_>, on: &[P; G], lane: usize);
}

impl<const G: usize> Columns<G> for () {
    type Refs<'a> = ();

    #[cfg_attr(optimised, inline(always))]
    fn refs(&self) {}

    #[cfg_attr(optimised, inline(always))]
    fn new() {}

    #[cfg_attr(optimised, inline(always))]
    fn fill<P: PcWord>(&mut self, (): (), _: &[P; G], _: usize) {}
}

impl<T, R: Columns<G>, const G: usize> Columns<G> for (Strip<T, G>, R) {
    type Refs<'a>
        = (&'a Strip<T, G>, R::Refs<'a>)
    where
        Self: 'a;

    #[cfg_attr(optimised, inline(always))]
    fn refs(&self) -> Self::Refs<'_> {
        (&self.0, self.1.refs())
    }

    #[cfg_attr(optimised, inline(always))]
    fn new() -> Self {
        (Strip::new(), R::new())
    }

    #[cfg_attr(optimised, inline(always))]
    fn fill<P: PcWord>(&mut self, (from, others): Self::Refs<'_>, on: &[P; G], lane: usize) {
        fill(&mut self.0, from, on, lane);
        self.1.fill(others, on, lane);
    }
}

/// The lanes of a gang that count. The others are copies of some of these.
pub struct CountedLanes<const G: usize> {
    lanes: GangMask<G>,
    /// What each activation adds to the gang's credit.
    gain: isize,
}

impl<const G: usize> CountedLanes<G> {
    #[cfg_attr(optimised, inline(always))]
    fn new(lanes: GangMask<G>) -> Self {
        CountedLanes { gain: (OF * lanes.count()) as isize - (ON * G) as isize, lanes }
    }

    /// The lanes in `up` that count.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn and(&self, up: GangMask<G>) -> GangMask<G> {
        up.and(self.lanes)
    }
}

/// What runs an activation of each lane behind its entry region: given the columns that are passed on and those that are its own,
/// which lanes count, and the depth of its calls; the results.
type Body<'f, L, S, T, const G: usize> =
    dyn for<'a> Fn(&Gang<'_, L, S, T, G>, &Refs<'a, L, G>, &S, &CountedLanes<G>, Depth) -> Strip<T, G> + 'f;

/// What does so for a part of the lanes; the others keep the results that they have.
type Part<'f, L, S, T, const G: usize> =
    dyn for<'a> Fn(&Gang<'_, L, S, T, G>, &Refs<'a, L, G>, &S, &Partly<'_, T, G>, Depth) -> Strip<T, G> + 'f;

type Refs<'a, L, const G: usize> = <L as Columns<G>>::Refs<'a>;

/// The lanes that are called, those of them that count, and the results that there are.
pub struct Partly<'r, T, const G: usize> {
    up: GangMask<G>,
    here: CountedLanes<G>,
    results: &'r Strip<T, G>,
}

/// A function that gangs run, and how well its lanes agree.
pub struct Gang<'f, L: Columns<G> + 'static, S, T, const G: usize> {
    body: &'f Body<'f, L, S, T, G>,
    part: &'f Part<'f, L, S, T, G>,
    full: GangMask<G>,
    /// How well.
    credit: Cell<isize>,
    /// What counts, if the run has limits; the activations that it has not been told of, and the steps of one of a lane.
    pulse: Option<&'f Pulse<'f>>,
    uncounted: Cell<usize>,
    steps: usize,
}

/// The types of what would be made.
#[cfg_attr(optimised, inline(always))]
pub fn kind<K>(_: impl FnOnce() -> K) -> PhantomData<K> {
    PhantomData
}

/// Tells rustc what a body is called with, before it sees the body.
#[cfg_attr(optimised, inline(always))]
pub fn body<L, S, T, const G: usize, F>(_: PhantomData<(L, S)>, body: F) -> F
where
    L: Columns<G> + 'static,
    F: for<'a> Fn(&Gang<'_, L, S, T, G>, &Refs<'a, L, G>, &S, &CountedLanes<G>, Depth) -> Strip<T, G>,
{
    body
}

/// The same for what runs a part of the lanes.
#[cfg_attr(optimised, inline(always))]
pub fn part<L, S, T, const G: usize, F>(_: PhantomData<(L, S)>, part: F) -> F
where
    L: Columns<G> + 'static,
    F: for<'a> Fn(&Gang<'_, L, S, T, G>, &Refs<'a, L, G>, &S, &Partly<'_, T, G>, Depth) -> Strip<T, G>,
{
    part
}

impl<'f, L: Columns<G> + 'static, S: Columns<G>, T, const G: usize> Gang<'f, L, S, T, G> {
    /// For a function.
    #[cfg_attr(optimised, inline(always))]
    pub fn new<P: PcWord>(
        arena: &Arena<'f>,
        calls: usize,
        body: &'f Body<'f, L, S, T, G>,
        part: &'f Part<'f, L, S, T, G>,
        level: Level,
    ) -> Self {
        Gang {
            body,
            part,
            full: GangMask::full::<P>(level),
            credit: Cell::new(CREDIT),
            pulse: arena.pulse,
            uncounted: Cell::new(0),
            // As in task blocks.
            steps: 2 * calls,
        }
    }

    /// Whether lanes agree enough to go on together. Those of a run with limits do in any case: scalar code keeps none.
    #[cfg_attr(optimised, inline(always))]
    pub fn agrees(&self) -> bool {
        self.credit.get() >= 0 || self.pulse.is_some_and(|pulse| pulse.limits)
    }

    /// Whether a gang shall be begun in a block.
    #[cfg_attr(optimised, inline(always))]
    pub fn begins(&self, blocks: &TaskBlocks<'_>) -> bool {
        let credit = self.credit.get();
        credit >= TRIAL || (credit >= 0 && blocks.current() >= DEEP)
    }

    /// Begins one, with all lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn begin(&self, (passed, own): &(L, S), depth: Depth) -> Strip<T, G> {
        self.run(&passed.refs(), own, &CountedLanes::new(self.full), depth)
    }

    /// Calls the lanes in `up`, and has their results. A path of its own for a part of the lanes: that all are called is by far
    /// the most frequent case.
    #[cfg_attr(optimised, inline(always))]
    pub fn call(
        &self,
        passed: Refs<'_, L, G>,
        own: &S,
        up: GangMask<G>,
        here: &CountedLanes<G>,
        depth: Depth,
        results: &mut Strip<T, G>,
    ) {
        *results = if up.is_full() {
            self.run(&passed, own, here, depth)
        } else {
            // What stays in registers has no address.
            let results = Strip::copied(results.lanes());
            let partly = Partly { up, here: CountedLanes::new(here.and(up)), results: &results };
            (self.part)(self, &passed, own, &partly, depth)
        };
    }

    /// Runs a part of the lanes. The others become copies of one of them.
    #[cfg_attr(optimised, inline(always))]
    pub fn filled<P: PcWord>(
        &self,
        passed: &Refs<'_, L, G>,
        own: &S,
        partly: &Partly<'_, T, G>,
        depth: Depth,
        level: Level,
    ) -> Strip<T, G> {
        let Partly { up, here, results } = partly;
        let (on, lane): ([P; G], usize) = (spread(up.row(), level), here.lanes.first());
        let mut room = (L::new(), S::new());
        room.0.fill(*passed, &on, lane);
        room.1.fill(own.refs(), &on, lane);
        let below = self.run(&room.0.refs(), &room.1, here, depth);
        let mut merged = Strip::copied(results.lanes());
        merge_where(&mut merged, &below, |lane| on[lane].is_set());
        merged
    }

    #[cfg_attr(optimised, inline(always))]
    fn run(&self, passed: &Refs<'_, L, G>, own: &S, here: &CountedLanes<G>, depth: Depth) -> Strip<T, G> {
        self.credit.set(self.credit.get() + here.gain);
        if let Some(pulse) = self.pulse {
            self.count(pulse);
        }
        let below = depth.next();
        if below.stops() {
            return below.elsewhere(|below| (self.body)(self, passed, own, here, below));
        }
        (self.body)(self, passed, own, here, below)
    }

    /// Counts an activation of all lanes. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    fn count(&self, pulse: &Pulse<'_>) {
        let uncounted = self.uncounted.get() + 1;
        self.uncounted.set(if uncounted == COUNTED { 0 } else { uncounted });
        if uncounted == COUNTED {
            pulse.together((COUNTED * G * self.steps) as u64, (COUNTED * self.steps) as u64);
        }
    }

    /// Room for what a call has of its own.
    #[cfg_attr(optimised, inline(always))]
    pub fn own(&self) -> S {
        S::new()
    }
}

impl<L: Columns<G> + 'static, S, T, const G: usize> Drop for Gang<'_, L, S, T, G> {
    /// Counts the last activations. The tile looks at the sum before it hands out results.
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        if let Some(pulse) = self.pulse {
            pulse.note((self.uncounted.get() * G * self.steps) as u64);
        }
    }
}

/// A strip becomes a copy of another, in which lanes that are not set in `on` are copies of `lane`.
#[cfg_attr(optimised, inline(always))]
fn fill<T, P: PcWord, const G: usize>(strip: &mut Strip<T, G>, from: &Strip<T, G>, on: &[P; G], lane: usize) {
    let value = copy_slot(&from.lanes()[lane]);
    let mut filled = Strip::copied(from.lanes());
    for (slot, on) in filled.lanes_mut().iter_mut().zip(on) {
        let (old, new) = (copy_slot(slot), copy_slot(&value));
        *slot = if on.is_set() { old } else { new };
    }
    *strip = filled;
}

/// The results of the lanes in `here`, each run as scalar code; the others get copies.
#[cold]
#[inline(never)]
pub fn lane_by_lane<A, T, const G: usize>(
    args: &A,
    here: GangMask<G>,
    mut run: impl FnMut(&A, usize) -> T,
) -> Strip<T, G> {
    let mut results = Strip::new();
    for lane in (0..G).filter(|lane| here.is_set(*lane)) {
        results.lanes_mut()[lane].write(run(args, lane));
    }
    for lane in (0..G).filter(|lane| !here.is_set(*lane)) {
        results.lanes_mut()[lane] = copy_slot(&results.lanes()[here.first()]);
    }
    results
}

/// The lanes in `on` get what `from` has. Bit by bit, of which LLVM does not make vectors: a body does this in rare cases only, and
/// with bytes for it that of a recursive quadrature took a twelfth longer, though it did not get there (measured).
#[cfg_attr(optimised, inline(always))]
pub fn merge<T, const G: usize>(strip: &mut Strip<T, G>, from: &Strip<T, G>, on: GangMask<G>) {
    merge_where(strip, from, |lane| on.is_set(lane));
}

#[cfg_attr(optimised, inline(always))]
fn merge_where<T, const G: usize>(
    strip: &mut Strip<T, G>,
    from: &Strip<T, G>,
    is_set: impl Fn(usize) -> bool,
) {
    for (lane, slot) in strip.lanes_mut().iter_mut().enumerate() {
        let (old, new) = (copy_slot(slot), copy_slot(&from.lanes()[lane]));
        *slot = if is_set(lane) { new } else { old };
    }
}

/// The bits of a part of a strip.
#[cfg_attr(optimised, inline(always))]
pub fn part_bits<const G: usize>(part: usize) -> u64 {
    (!0 >> (64 - G)) << (part * G)
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::super::arena::Memory;
    use super::*;
    use crate::simd::Isa;

    fn strip(values: [u64; 8]) -> Strip<u64, 8> {
        Strip::copied(&values.map(MaybeUninit::new))
    }

    fn values(strip: &Strip<u64, 8>) -> Vec<u64> {
        // SAFETY: the tests fill what they read.
        strip.lanes().iter().map(|slot| unsafe { slot.assume_init() }).collect()
    }

    fn lanes(on: [u32; 8]) -> GangMask<8> {
        let mut words = Points::<u32, 8>::new();
        on.iter().enumerate().for_each(|(lane, on)| words.note(lane, *on, 1));
        GangMask::noted(&words, Level::new(Isa::Avx512))
    }

    fn each(lanes: GangMask<8>) -> Vec<usize> {
        (0..8).filter(|lane| lanes.is_set(*lane)).collect()
    }

    fn words(lanes: GangMask<8>) -> [u64; 8] {
        spread(lanes.row(), Level::new(Isa::Avx512))
    }

    #[test]
    fn lanes_are_filled_merged_and_run_alone() {
        let here = lanes([0, 0, 1, 1, 0, 1, 0, 0]);
        assert_eq!((each(here), here.first(), here.any(), here.is_full()), (vec![2, 3, 5], 2, true, false));
        let mut filled = Strip::new();
        fill(&mut filled, &strip([0, 1, 2, 3, 4, 5, 6, 7]), &words(here), 3);
        assert_eq!(values(&filled), [3, 3, 2, 3, 3, 5, 3, 3]);
        merge(&mut filled, &strip([10, 11, 12, 13, 14, 15, 16, 17]), here);
        assert_eq!(values(&filled), [3, 3, 12, 13, 3, 15, 3, 3]);
        merge(&mut filled, &strip([9; 8]), GangMask::full::<u32>(Level::new(Isa::Avx512)));
        assert_eq!(values(&filled), [9; 8]);
        merge_where(&mut filled, &strip([1; 8]), |lane| words(here)[lane].is_set());
        assert_eq!(values(&filled), [9, 9, 1, 1, 9, 1, 9, 9]);
        let mut run = Vec::new();
        let results = lane_by_lane(&7, here, |seven, lane| {
            run.push(lane);
            seven * lane as u64
        });
        assert_eq!((values(&results), run), (vec![14, 14, 14, 21, 14, 35, 14, 14], vec![2, 3, 5]));
        let both = CountedLanes::new(here).and(lanes([1, 1, 0, 0, 1, 1, 1, 1]));
        assert_eq!((each(both), both.count()), (vec![5], 1));
    }

    #[test]
    fn columns_are_lent_and_filled() {
        let here = lanes([0, 1, 0, 0, 0, 0, 0, 1]);
        let columns = (strip([0, 1, 2, 3, 4, 5, 6, 7]), (strip([7, 6, 5, 4, 3, 2, 1, 0]), ()));
        let (up, (down, ())) = columns.refs();
        assert_eq!((values(up)[2], values(down)[2]), (2, 5));
        let mut room: (Strip<u64, 8>, (Strip<u64, 8>, ())) = Columns::new();
        room.fill(columns.refs(), &words(here), 1);
        assert_eq!(values(&room.0), [1, 1, 1, 1, 1, 1, 1, 7]);
        assert_eq!(values(&room.1.0), [6, 6, 6, 6, 6, 6, 6, 0]);
    }

    /// The calls that lanes `n` have below them, together and one by one; what a call adds is passed on.
    #[test]
    fn gangs_count_who_is_on() {
        type Passed = (Strip<u64, 8>, ());
        let kind = PhantomData::<(Passed, (Strip<u64, 8>, ()))>;
        let body = body(kind, |gang, &(one, ()), (n, ()), here, depth| {
            let up = lanes(values(n).try_into().map(|n: [u64; 8]| n.map(|n| u32::from(n > 0))).unwrap());
            let next = values(n).into_iter().map(|n| MaybeUninit::new(n.saturating_sub(1)));
            let next: [_; 8] = next.collect::<Vec<_>>().try_into().unwrap();
            let mut results = strip([0; 8]);
            if up.any() {
                gang.call((one, ()), &(Strip::copied(&next), ()), up, here, depth, &mut results);
                let sums = values(&results).into_iter().zip(values(one)).zip(values(n));
                let sums =
                    sums.map(|((below, one), n)| MaybeUninit::new(if n > 0 { below + one } else { 0 }));
                results = Strip::copied(sums.collect::<Vec<_>>().first_chunk().unwrap());
            }
            results
        });
        let part = part(kind, |gang, passed, own, partly, depth| {
            gang.filled::<u32>(passed, own, partly, depth, Level::new(Isa::Avx512))
        });
        let depth = Depth::root(1000);
        let mut memory = Memory::default();
        let arena = memory.arena(Level::new(Isa::Avx512));
        for (n, on, agrees) in [([40; 8], 8, true), ([300, 0, 0, 0, 0, 0, 0, 0], 1, false)] {
            let gang = Gang::new::<u32>(&arena, 2, &body, &part, Level::new(Isa::Avx512));
            assert!(gang.agrees());
            let columns = ((strip([1; 8]), ()), (strip(n), ()));
            assert_eq!(values(&gang.begin(&columns, depth)), n);
            assert_eq!(gang.agrees(), agrees);
            let below = n[0] as isize * (4 * on - 3 * 8);
            assert_eq!(gang.credit.get(), CREDIT + 8 + below);
        }
        let mut blocks = TaskBlocks::new::<32>(&arena, depth, 5, 2, &[8]);
        let gang = Gang::new::<u32>(&arena, 2, &body, &part, Level::new(Isa::Avx512));
        assert!(!gang.begins(&blocks));
        blocks.grows::<32>();
        blocks.enter(5);
        blocks.grows::<32>();
        blocks.enter(5);
        assert!(gang.begins(&blocks));
        gang.credit.set(-1);
        assert!(!gang.begins(&blocks));
        let blocks = TaskBlocks::new::<32>(&arena, depth, 5, 2, &[8]);
        gang.credit.set(TRIAL - 1);
        assert!(!gang.begins(&blocks));
        gang.credit.set(TRIAL);
        assert!(gang.begins(&blocks));
    }
}
