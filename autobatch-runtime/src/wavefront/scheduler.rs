//! The scheduler of a wavefront: which queue is next, who is loaded, how high the stack is.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::resume_unwind;

use super::frame_stack::{FrameStack, Slot, each};
use super::key::{INDEX_BITS, Keys, index};
use super::queue::ContinuationQueue;
use crate::api::column::Source;
use crate::api::options::Schedule;
use crate::batch::{Numbering, Pulse};
use crate::native_stack::depth::{Depth, TooDeep};
use crate::vector::{Arena, Members, Tile, WavefrontRules};

/// Records at a time, by default: many for steps of several strips, not so many that the frames they are about to
/// return to leave the second cache.
pub(crate) const LANES: Range<usize> = 128..2048;
const FRAMES: usize = 32 << 10;
const MOST_LANES: usize = 1 << 16;
/// The depth for which there is room at first.
const DEPTH: usize = 16;
/// What the stacks of one thread may take. Beyond that members run as scalar code.
const LARGEST: usize = 64 << 20;
/// New members are loaded when this part of the lanes is free.
const FREE: usize = 4;
/// Rounds of a loop that a record runs in a step at most, as the compiler has it; other regions run twice, a caller's and its callee's entry.
const STEPS: u64 = 16;
/// Records that count as a strip.
const STRIP: u64 = 16;
/// The call site of a member's first activation.
pub(super) const ROOT: u8 = 0;

/// Ends the tile, without the panic hook.
#[cold]
#[inline(never)]
fn too_deep() -> ! {
    resume_unwind(Box::new(TooDeep))
}

/// What a tile is run with.
#[derive(Clone, Copy)]
pub struct Begin<'r> {
    members: Members<'r>,
    depth: Depth,
    rules: WavefrontRules<'r>,
}

impl<'r> Tile<'r> {
    /// What a wavefront needs to know, if the tile runs as one.
    #[cfg_attr(optimised, inline(always))]
    pub fn begin(&self) -> Option<Begin<'r>> {
        self.rules.map(|rules| Begin { members: self.members(), depth: self.depth, rules })
    }
}

/// Members that are to be loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load<'r> {
    pub(super) numbering: Numbering<'r>,
    /// The first member.
    pub(super) member: usize,
    /// Where their parameters begin in the queue's columns.
    pub(super) first: usize,
    /// How many.
    pub(super) len: usize,
}

impl Load<'_> {
    /// Where their parameters go in a queue's column.
    #[cfg_attr(optimised, inline(always))]
    pub fn slots<'c, T>(&self, column: &'c mut [MaybeUninit<T>]) -> &'c mut [MaybeUninit<T>] {
        &mut column[self.first..][..self.len]
    }

    /// Puts the values of a parameter there.
    #[cfg_attr(optimised, inline(always))]
    pub fn fill<T>(&self, source: &impl Source<T>, column: &mut [MaybeUninit<T>]) {
        let slots = self.slots(column);
        if self.numbering.is_whole() {
            return source.fill(self.member, slots);
        }
        for (member, slot) in (self.member..).zip(slots) {
            slot.write(source.get(self.numbering.place(member)));
        }
    }
}

/// What all queues share: lanes, call sites, members that wait.
pub struct Wavefront<'a, 'r> {
    rules: WavefrontRules<'r>,
    depth: Depth,
    lanes: usize,
    lane_bits: u32,
    /// Records from this index on must not call, or the stack has to grow when they have.
    low: u32,
    is_low: bool,
    /// The member of each lane, counted from the first.
    members: &'a mut [MaybeUninit<u32>],
    /// Lanes without a member.
    free: Vec<u32>,
    first: usize,
    waiting: Range<usize>,
    numbering: Numbering<'r>,
    /// What counts, if the run has limits.
    pulse: Option<&'a Pulse<'a>>,
}

impl<const W: usize> Keys<W> {
    /// Those of the activations that `site` calls.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn callee(&self, wavefront: &Wavefront<'_, '_>, site: u8) -> Self {
        let up = (u32::from(site) << INDEX_BITS) + (1 << wavefront.lane_bits);
        self.each(|key| index(key) as u32 + up)
    }
}

impl<'a, 'r> Wavefront<'a, 'r> {
    /// For the members of a tile, whose frames take so many slots.
    pub fn new(arena: &mut Arena<'a>, begin: Begin<'r>, size: usize) -> Wavefront<'a, 'r> {
        let Begin { members, depth, rules } = begin;
        let (waiting, numbering) = (members.range(), members.numbering());
        let fit = (FRAMES / (size.max(1) * size_of::<Slot>())).clamp(LANES.start, LANES.end);
        let lanes = rules.lanes.unwrap_or(fit).clamp(1, MOST_LANES).min(waiting.len().max(1));
        let first = waiting.start;
        rules.loaded.set(first);
        let (members, free) = (arena.column(lanes), (0..lanes as u32).rev().collect());
        let lane_bits = lanes.next_power_of_two().ilog2();
        let pulse = arena.pulse;
        Wavefront {
            rules,
            depth,
            lanes,
            lane_bits,
            low: 0,
            is_low: false,
            members,
            free,
            first,
            waiting,
            numbering,
            pulse,
        }
    }

    /// The slots of a queue's column: one for each lane, and a strip that `put` may overwrite.
    #[cfg_attr(optimised, inline(always))]
    pub fn column<T, const W: usize>(&self, arena: &mut Arena<'a>) -> &'a mut [MaybeUninit<T>] {
        arena.column(self.lanes + W)
    }

    /// A queue without records.
    #[cfg_attr(optimised, inline(always))]
    pub fn queue<const W: usize>(&self, arena: &mut Arena<'a>) -> ContinuationQueue<'a> {
        ContinuationQueue { keys: self.column::<_, W>(arena), len: 0 }
    }

    /// The stack for frames of so many slots.
    #[cfg_attr(optimised, inline(always))]
    pub fn stack(&mut self, arena: &mut Arena<'a>, size: usize) -> FrameStack<'a> {
        self.raise(DEPTH);
        FrameStack { slots: arena.column((DEPTH << self.lane_bits) * size), size }
    }

    /// The stack has frames for so many activations of each member.
    fn raise(&mut self, height: usize) {
        // The callee of such a record has the last frame.
        let depth = (height - 2).min(self.depth.allowed());
        (self.low, self.is_low) = ((depth << self.lane_bits) as u32, false);
    }

    /// The members that the next step of the queue where members begin shall include, if it is time for some: their
    /// parameters are to be put down, before anything else happens.
    #[cfg_attr(optimised, inline(always))]
    pub fn load(&mut self, queue: &mut ContinuationQueue<'_>) -> Option<Load<'r>> {
        let free = self.free.len();
        let enough = if self.rules.refill { FREE * free >= self.lanes } else { free == self.lanes };
        (enough && !self.waiting.is_empty()).then(|| self.seat(queue))
    }

    #[inline(never)]
    fn seat(&mut self, queue: &mut ContinuationQueue<'_>) -> Load<'r> {
        let len = self.free.len().min(self.waiting.len());
        let load = Load { numbering: self.numbering, member: self.waiting.start, first: queue.len, len };
        for nth in 0..len {
            let lane = self.free.pop().expect("a free lane for each");
            let key = u32::from(ROOT) << INDEX_BITS | lane;
            self.members[lane as usize].write((load.member + nth - self.first) as u32);
            queue.keys[queue.len + nth].write(key);
        }
        queue.len += len;
        self.waiting.start += len;
        self.rules.loaded.set(self.waiting.start);
        load
    }

    /// The queue that is next, of those with so many records; `None` when all are empty. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn next(&self, records: &[usize]) -> Option<usize> {
        let there = records.iter().enumerate().filter(|(_, records)| **records > 0);
        let (queue, records) = match self.rules.schedule {
            Schedule::EarliestBlock => there.min_by_key(|(queue, _)| *queue)?,
            _ => there.max_by_key(|(_, records)| **records)?,
        };
        if let Some(pulse) = self.pulse {
            pulse.side_by_side(STEPS, STEPS * *records as u64 / STRIP);
        }
        Some(queue)
    }

    /// Whether the next step may call deeper than the stacks are high: then they have to grow.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_low(&self) -> bool {
        self.is_low
    }

    /// Makes the stack higher, or gives up: the members under way are too deep.
    #[cold]
    #[inline(never)]
    pub fn grow(&mut self, arena: &mut Arena<'a>, stack: &mut FrameStack<'a>) {
        let size = stack.size.max(1);
        let frames = 2 * stack.slots.len() / size;
        if frames > (LARGEST / (size * size_of::<Slot>())).min(1 << INDEX_BITS) {
            too_deep();
        }
        let higher = arena.column(frames * size);
        higher[..stack.slots.len()].copy_from_slice(stack.slots);
        stack.slots = higher;
        self.raise(frames >> self.lane_bits);
    }

    /// The records of a strip are about to call.
    #[cfg_attr(optimised, inline(always))]
    pub fn check<const W: usize>(&mut self, keys: &Keys<W>) {
        if keys.0.0.iter().fold(false, |any, key| any | (index(*key) as u32 >= self.low)) {
            self.deep();
        }
    }

    #[cold]
    #[inline(never)]
    fn deep(&mut self) {
        if (self.low >> self.lane_bits) as usize == self.depth.allowed() {
            too_deep();
        }
        self.is_low = true;
    }

    /// The members in the lanes `here` of a strip have their results: `done` takes lane and place.
    #[cfg_attr(optimised, inline(always))]
    pub fn finish<const W: usize>(&mut self, keys: &Keys<W>, here: u64, mut done: impl FnMut(usize, usize)) {
        each::<W>(here, |_, at| {
            // At depth 0.
            let lane = index(keys.0.0[at]) as u32;
            // SAFETY: a lane with a record has a member.
            let member = unsafe { self.members[lane as usize].assume_init() };
            done(at, self.numbering.place(self.first + member as usize));
            self.free.push(lane);
        });
    }
}
