//! Rooms: how programs that only compute run under the program-counter executor. For generated code only.
//!
//! A member has one *record* at a time: the values that are live where it is, and a place on the stack. At
//! each program point records wait in a [`Room`], side by side, whatever their depth and call site: a strip of
//! them is as full as there are records. A step takes the strips of one room, runs what stands there, and has
//! the records enter the rooms where they go, compressed. A call saves what is live behind it on the member's
//! stack ([`Saved`]), a return fetches that. So a call moves memory only, and no lane ever waits for the path of
//! another.
//!
//! A record's *place* is a number: the call site it has come from, its depth, and its lane (a member's number in the
//! [`Hall`]), side by side in bits. Depth and lane are the index of a frame on the [`Stack`], which has one for each lane
//! at every depth, as far as members have come.
//!
//! As for nested frames a panic drops everything that is under way: members without a result run again as scalar
//! code, which finds out who fails and why. So do those that go too deep.
//!
//! These functions are safe to call because generated code contains no `unsafe`; they are sound under the
//! protocol that records enter a room with all its columns, and that what is saved by a call is fetched by its
//! return.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::resume_unwind;
use std::ptr;

use crate::depth::{Depth, TooDeep};
use crate::isa::{self, Level};
use crate::machine::mask;
use crate::nest::{Arena, Members, Nest};
use crate::options::Schedule;
use crate::strip::Aligned;
pub use crate::strip::Strip;

/// Records at a time, by default: many for steps of several strips, not so many that the frames they are about to
/// return to leave the second cache.
pub(crate) const LANES: Range<usize> = 128..2048;
const FRAMES: usize = 32 << 10;
const MOST_LANES: usize = 1 << 16;
/// The depth for which there is room at first.
const DEPTH: usize = 16;
/// Bits for depth and lane.
const INDEX_BITS: u32 = 24;
/// What the stacks of one thread may take. Beyond that members run as scalar code.
const LARGEST: usize = 64 << 20;
/// New members are loaded when this part of the lanes is free.
const FREE: usize = 4;
/// The call site of a member's first activation.
const ROOT: u8 = 0;

#[inline(always)]
fn strip<T, const W: usize>(column: &[T], first: usize) -> &[T; W] {
    column[first..].first_chunk().expect("columns have room for whole strips")
}

/// The bits of a lane's value.
#[inline(always)]
pub fn bits<T>(slot: &MaybeUninit<T>) -> MaybeUninit<T> {
    // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
    unsafe { ptr::read(slot) }
}

/// Records of a room put down a variable behind those that are there: the lanes `here` of a strip.
#[inline(always)]
pub fn put<T, const W: usize>(
    column: &mut [MaybeUninit<T>],
    room: &Room<'_>,
    strip: &[MaybeUninit<T>; W],
    here: u64,
    level: Level,
) {
    isa::append(&mut column[room.len..], strip, here, level);
}

/// A record puts down a variable.
#[inline(always)]
pub fn put_one<T>(column: &mut [MaybeUninit<T>], at: usize, value: MaybeUninit<T>) {
    debug_assert!(at < column.len());
    // SAFETY: a room has a slot for each lane, and a lane has one record.
    *unsafe { column.get_unchecked_mut(at) } = value;
}

/// The places of a strip of records.
pub struct Places<const W: usize>(Aligned<[u32; W]>);

impl<const W: usize> Places<W> {
    /// (`map` of arrays is not always inlined.)
    #[inline(always)]
    fn each(&self, f: impl Fn(u32) -> u32) -> Self {
        let mut all = Aligned([0; W]);
        all.0.iter_mut().zip(&self.0.0).for_each(|(new, place)| *new = f(*place));
        Places(all)
    }

    /// Those of the activations that `site` calls.
    #[inline(always)]
    #[must_use]
    pub fn up(&self, hall: &Hall<'_, '_>, site: u8) -> Self {
        let up = (u32::from(site) << INDEX_BITS) + (1 << hall.lane_bits);
        self.each(|place| index(place) as u32 + up)
    }

    /// Where their frames begin, for frames of so many slots.
    #[inline(always)]
    fn slots(&self, size: usize) -> Self {
        let size = size as u32;
        self.each(|place| index(place) as u32 * size)
    }

    #[inline(always)]
    fn strip(&self) -> &[MaybeUninit<u32>; W] {
        // SAFETY: a `MaybeUninit` has the layout of its value.
        unsafe { &*ptr::from_ref(&self.0.0).cast() }
    }

    /// The call sites that their activations have been called from.
    #[inline(always)]
    pub fn sites(&self) -> Sites<W> {
        Sites(self.each(|place| place >> INDEX_BITS).0)
    }
}

/// The index of a place on the stack.
#[inline(always)]
fn index(place: u32) -> usize {
    (place & ((1 << INDEX_BITS) - 1)) as usize
}

/// The call sites of a strip's records.
pub struct Sites<const W: usize>(Aligned<[u32; W]>);

impl<const W: usize> Sites<W> {
    /// Those of the lanes `here` that `site` has called.
    #[inline(always)]
    pub fn of(&self, site: u8, here: u64, level: Level) -> u64 {
        here & mask(&self.0.0, u32::from(site), level)
    }
}

/// Records that wait at a program point.
pub struct Room<'a> {
    places: &'a mut [MaybeUninit<u32>],
    len: usize,
}

/// The records of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    first: usize,
    len: usize,
}

impl Step {
    /// The number of strips.
    #[inline(always)]
    pub fn strips<const W: usize>(self) -> usize {
        self.len.div_ceil(W)
    }

    /// Where a strip begins.
    #[inline(always)]
    pub fn first<const W: usize>(self, strip: usize) -> usize {
        self.first + W * strip
    }

    /// The lanes of a strip that are records.
    #[inline(always)]
    pub fn bits<const W: usize>(self, strip: usize) -> u64 {
        match self.len - W * strip {
            left if left < W => (1 << left) - 1,
            _ => !0 >> (64 - W),
        }
    }

    /// How many lanes of a strip run.
    #[inline(always)]
    pub fn lanes<const W: usize>(self, strip: usize) -> usize {
        match self.len - W * strip {
            // Nobody waits for an unoptimised program's pads.
            few if cfg!(debug_assertions) && few < W / 4 => few,
            _ => W,
        }
    }

    /// Whether there is but one strip, which is not full: its columns get copies of the last record behind it.
    #[inline(always)]
    pub fn is_short<const W: usize>(self) -> bool {
        self.len < W
    }

    /// Gives the lanes of a short strip without a record the bits of the last one.
    #[inline(always)]
    pub fn pad<T, const W: usize>(self, column: &mut [MaybeUninit<T>]) {
        crate::nest::pad(&mut column[..W], self.len);
    }
}

impl Room<'_> {
    /// The records that wait.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The whole strips at the end, or all records if there is none.
    #[inline(always)]
    pub fn take<const W: usize>(&mut self) -> Step {
        let rest = if self.len < W { 0 } else { self.len % W };
        let step = Step { first: rest, len: self.len - rest };
        self.len = rest;
        if step.is_short::<W>() {
            step.pad::<_, W>(self.places);
        }
        step
    }

    /// The places of a strip.
    #[inline(always)]
    pub fn places<const W: usize>(&self, first: usize) -> Places<W> {
        let places: &[MaybeUninit<u32>; W] = strip(self.places, first);
        // SAFETY: records have a place, and so have the lanes behind them in a short strip (`take`).
        Places(Aligned(unsafe { ptr::read(ptr::from_ref(places).cast()) }))
    }

    /// The lanes `here` of a strip enter; their variables have been put down.
    #[inline(always)]
    pub fn enter<const W: usize>(&mut self, places: &Places<W>, here: u64, level: Level) {
        isa::append(&mut self.places[self.len..], places.strip(), here, level);
        self.len += here.count_ones() as usize;
    }
}

/// The lanes set in `here`, and how many are set below each.
#[inline(always)]
fn each<const W: usize>(here: u64, mut f: impl FnMut(usize, usize)) {
    let (mut rest, mut nth) = (here, 0);
    while rest != 0 {
        f(nth, rest.trailing_zeros() as usize & (W - 1));
        rest &= rest - 1;
        nth += 1;
    }
}

/// A slot of the stack: frames of any type begin at one.
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Slot {
    _bytes: [u8; 16],
}

/// The frames of all lanes, one for each place, whichever call site it is of.
pub struct Stack<'a> {
    slots: &'a mut [MaybeUninit<Slot>],
    /// Slots for each frame.
    size: usize,
}

/// What calls of a call site save.
pub struct Saved<T>(PhantomData<fn(T) -> T>);

/// A frame: where the caller has been called from itself, and what is live behind the call.
struct Frame<T> {
    place: u32,
    values: T,
}

/// The slots of the largest frame. (Generated code has no prelude to take `max` from.)
#[inline(always)]
pub fn largest(sizes: &[usize]) -> usize {
    sizes.iter().fold(0, |largest, size| largest.max(*size))
}

impl<T> Saved<T> {
    /// Nothing yet.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Saved(PhantomData)
    }

    /// The slots that a frame takes.
    #[inline(always)]
    pub fn size(&self) -> usize {
        // Not a constant: code for programs with other types exists, and is never run.
        assert!(align_of::<Frame<T>>() <= align_of::<Slot>(), "plain values are aligned as slots are");
        size_of::<Frame<T>>().div_ceil(size_of::<Slot>())
    }

    /// Makes a frame's place in the stack, as `Places::slots` says it, the frame. (Stores to frames do not make LLVM load the
    /// stack's address again.)
    #[inline(always)]
    fn frames<'s>(
        &self,
        stack: &'s mut Stack<'_>,
        size: usize,
    ) -> impl Fn(u32) -> &'s mut MaybeUninit<Frame<T>> + use<'s, T> {
        debug_assert!(size == stack.size && size >= self.size());
        let (slots, len) = (stack.slots.as_mut_ptr(), stack.slots.len());
        move |slot| {
            let slot = slot as usize;
            debug_assert!(slot + size <= len);
            // SAFETY: places are within the stack: it grows before a record is too deep (`Hall::check`). A frame takes no
            // more slots than there are for each, and is aligned as they are. Any bits are a `MaybeUninit`. Callers
            // use one frame at a time.
            unsafe { &mut *slots.add(slot).cast() }
        }
    }

    /// The lanes `here` of a strip, at `places`, save their frames for the callees at `up`. `size` is the stack's.
    #[inline(always)]
    pub fn save<const W: usize>(
        &self,
        stack: &mut Stack<'_>,
        size: usize,
        (places, up): (&Places<W>, &Places<W>),
        here: u64,
        mut values: impl FnMut(usize) -> T,
    ) {
        let (frame, slots) = (self.frames(stack, size), up.slots(size));
        each::<W>(here, |_, lane| {
            frame(slots.0.0[lane]).write(Frame { place: places.0.0[lane], values: values(lane) });
        });
    }

    /// Nothing but the types: the code behind a call may stand before the callee's, which fetches.
    #[inline(always)]
    pub fn restores(&self, _values: impl FnOnce(T)) {}

    /// The lanes `here` return from `places`: they enter a room, where `values` puts down what they have saved.
    #[inline(always)]
    pub fn fetch<const W: usize>(
        &self,
        stack: &mut Stack<'_>,
        size: usize,
        places: &Places<W>,
        here: u64,
        room: &mut Room<'_>,
        level: Level,
        mut values: impl FnMut(usize, T),
    ) {
        let (frame, first, count) = (self.frames(stack, size), room.len, here.count_ones() as usize);
        let mut back = Aligned([MaybeUninit::uninit(); W]);
        isa::append(&mut back.0, places.slots(size).strip(), here, level);
        for (nth, slot) in back.0[..count].iter().enumerate() {
            // SAFETY: `append` has put down so many. By the protocol the call has saved its frame there.
            let frame = unsafe { frame(slot.assume_init()).assume_init_read() };
            put_one(room.places, first + nth, MaybeUninit::new(frame.place));
            values(first + nth, frame.values);
        }
        room.len += count;
    }
}

/// How members run in rooms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'r> {
    /// Records at a time, if the user says so.
    pub(crate) lanes: Option<usize>,
    pub(crate) schedule: Schedule,
    /// Whether members are loaded while others are busy.
    pub(crate) refill: bool,
    /// Members before this one have been loaded.
    pub(crate) loaded: &'r Cell<usize>,
}

/// Ends the tile, without the panic hook.
#[cold]
#[inline(never)]
fn too_deep() -> ! {
    resume_unwind(Box::new(TooDeep))
}

/// What a tile is run with.
#[derive(Clone, Copy)]
pub struct Begin<'r> {
    members: Members,
    depth: Depth,
    rules: Rules<'r>,
}

impl<'r> Nest<'r> {
    /// What a hall needs to know, if the tile runs in rooms.
    #[inline(always)]
    pub fn begin(&self) -> Option<Begin<'r>> {
        self.rules.map(|rules| Begin { members: self.members(), depth: self.depth, rules })
    }
}

/// Members that are to be loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// The first member.
    pub member: usize,
    /// Where their parameters begin in the room's columns.
    pub first: usize,
    /// How many.
    pub len: usize,
}

/// What all rooms share: lanes, call sites, members that wait.
pub struct Hall<'a, 'r> {
    rules: Rules<'r>,
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
}

impl<'a, 'r> Hall<'a, 'r> {
    /// For the members of a tile, whose frames take so many slots.
    pub fn new(arena: &mut Arena<'a>, begin: Begin<'r>, size: usize) -> Hall<'a, 'r> {
        let Begin { members, depth, rules } = begin;
        let waiting = members.range();
        let fit = (FRAMES / (size.max(1) * size_of::<Slot>())).clamp(LANES.start, LANES.end);
        let lanes = rules.lanes.unwrap_or(fit).clamp(1, MOST_LANES).min(waiting.len().max(1));
        let first = waiting.start;
        rules.loaded.set(first);
        let (members, free) = (arena.column(lanes), (0..lanes as u32).rev().collect());
        let lane_bits = lanes.next_power_of_two().ilog2();
        Hall { rules, depth, lanes, lane_bits, low: 0, is_low: false, members, free, first, waiting }
    }

    /// The slots of a room's column: one for each lane, and a strip that `put` may overwrite.
    #[inline(always)]
    pub fn column<T, const W: usize>(&self, arena: &mut Arena<'a>) -> &'a mut [MaybeUninit<T>] {
        arena.column(self.lanes + W)
    }

    /// A room without records.
    #[inline(always)]
    pub fn room<const W: usize>(&self, arena: &mut Arena<'a>) -> Room<'a> {
        Room { places: self.column::<_, W>(arena), len: 0 }
    }

    /// The stack for frames of so many slots.
    #[inline(always)]
    pub fn stack(&mut self, arena: &mut Arena<'a>, size: usize) -> Stack<'a> {
        self.raise(DEPTH);
        Stack { slots: arena.column((DEPTH << self.lane_bits) * size), size }
    }

    /// The stack has frames for so many activations of each member.
    fn raise(&mut self, height: usize) {
        // The callee of such a record has the last frame.
        let depth = (height - 2).min(self.depth.allowed());
        (self.low, self.is_low) = ((depth << self.lane_bits) as u32, false);
    }

    /// The members that the next step of the room where members begin shall include, if it is time for some: their
    /// parameters are to be put down, before anything else happens.
    #[inline(always)]
    pub fn load(&mut self, room: &mut Room<'_>) -> Option<Load> {
        let free = self.free.len();
        let enough = if self.rules.refill { FREE * free >= self.lanes } else { free == self.lanes };
        (enough && !self.waiting.is_empty()).then(|| self.seat(room))
    }

    #[inline(never)]
    fn seat(&mut self, room: &mut Room<'_>) -> Load {
        let len = self.free.len().min(self.waiting.len());
        let load = Load { member: self.waiting.start, first: room.len, len };
        for nth in 0..len {
            let lane = self.free.pop().expect("a free lane for each");
            let place = u32::from(ROOT) << INDEX_BITS | lane;
            self.members[lane as usize].write((load.member + nth - self.first) as u32);
            room.places[room.len + nth].write(place);
        }
        room.len += len;
        self.waiting.start += len;
        self.rules.loaded.set(self.waiting.start);
        load
    }

    /// The room that is next, of those with so many records; `None` when all are empty.
    #[inline(always)]
    pub fn next(&self, records: &[usize]) -> Option<usize> {
        let there = records.iter().enumerate().filter(|(_, records)| **records > 0);
        let (room, _) = match self.rules.schedule {
            Schedule::EarliestBlock => there.min_by_key(|(room, _)| *room)?,
            _ => there.max_by_key(|(_, records)| **records)?,
        };
        Some(room)
    }

    /// Whether the next step may call deeper than the stacks are high: then they have to grow.
    #[inline(always)]
    pub fn is_low(&self) -> bool {
        self.is_low
    }

    /// Makes the stack higher, or gives up: the members under way are too deep.
    #[cold]
    #[inline(never)]
    pub fn grow(&mut self, arena: &mut Arena<'a>, stack: &mut Stack<'a>) {
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
    #[inline(always)]
    pub fn check<const W: usize>(&mut self, places: &Places<W>) {
        if places.0.0.iter().fold(false, |any, place| any | (index(*place) as u32 >= self.low)) {
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

    /// The members in the lanes `here` of a strip have their results: `done` takes lane and member.
    #[inline(always)]
    pub fn finish<const W: usize>(
        &mut self,
        places: &Places<W>,
        here: u64,
        mut done: impl FnMut(usize, usize),
    ) {
        each::<W>(here, |_, at| {
            // At depth 0.
            let lane = index(places.0.0[at]) as u32;
            // SAFETY: a lane with a record has a member.
            let member = unsafe { self.members[lane as usize].assume_init() };
            done(at, self.first + member as usize);
            self.free.push(lane);
        });
    }
}

#[cfg(test)]
mod tests;
