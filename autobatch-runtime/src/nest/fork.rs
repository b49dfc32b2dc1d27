//! Forks: the levels of activations that make all of their calls at once.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::ptr;

use crate::depth::{Depth, TooDeep};

use super::arena::Arena;

/// What the columns of a level may take: some levels shall stay in the caches.
const CACHE: usize = 32 << 10;
/// The members of a full level, by that.
const LEAST: usize = 128;
const MOST: usize = 1024;

/// What all levels may take. Beyond that the members run as scalar code.
const LARGEST: usize = 64 << 20;

/// The columns of a variable: one for each level.
pub struct Levels<'a, T> {
    columns: Vec<&'a mut [MaybeUninit<T>]>,
}

/// A level that needs columns, and of how many lanes.
#[derive(Clone, Copy)]
pub struct Grown {
    level: usize,
    lanes: usize,
}

impl<'a, T> Levels<'a, T> {
    /// Without levels.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Levels { columns: Vec::new() }
    }

    /// The bytes of a value.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        size_of::<T>()
    }

    /// The column of the first level.
    #[inline(always)]
    pub fn begin(&mut self, column: &'a mut [MaybeUninit<T>]) {
        self.columns.push(column);
    }

    /// A level gets a column, perhaps in place of a shorter one.
    #[inline(always)]
    pub fn grow(&mut self, arena: &mut Arena<'a>, grown: Grown) {
        let column = arena.column(grown.lanes);
        match self.columns.get_mut(grown.level) {
            Some(old) => *old = column,
            None => self.columns.push(column),
        }
    }

    /// The column of the level that is run.
    #[inline(always)]
    pub fn here(&mut self, tower: &Tower) -> &mut [MaybeUninit<T>] {
        self.columns[tower.level]
    }

    /// The same, and that of the level above.
    #[inline(always)]
    pub fn both(&mut self, tower: &Tower) -> (&mut [MaybeUninit<T>], &mut [MaybeUninit<T>]) {
        let [here, above] = &mut self.columns[tower.level..tower.level + 2] else { unreachable!("two") };
        (here, above)
    }

    /// That of the first level.
    #[inline(always)]
    pub fn first(&self) -> &[MaybeUninit<T>] {
        self.columns[0]
    }
}

/// The members of a level.
struct Floor {
    count: usize,
    /// The strips whose calls are under way.
    first: usize,
    next: usize,
    /// The lanes of its columns.
    lanes: usize,
}

/// Which levels there are, and what is to be done next.
pub struct Tower {
    floors: Vec<Floor>,
    level: usize,
    /// The depth of what the level calls.
    depth: Depth,
    /// The bytes of a lane, and those that levels have taken.
    bytes: usize,
    taken: usize,
    /// The lanes of a full level.
    room: usize,
    /// The lanes that may go up from one strip.
    step: usize,
    /// The lanes of a strip, as a number that LLVM does not know: it unrolls short loops before it makes vectors of them.
    wide: usize,
    /// Whether strips of the level are run next, or results fetched.
    descends: bool,
}

impl Tower {
    /// For `count` members at `depth` that make `calls` calls each; a level has columns of so many `bytes` each.
    #[inline(always)]
    pub fn new<const W: usize>(depth: Depth, count: usize, calls: usize, bytes: &[usize]) -> Tower {
        let bytes: usize = bytes.iter().sum();
        let step = W * calls;
        // Tests shall meet levels that are full.
        let room = if cfg!(debug_assertions) { 3 * W } else { (CACHE / bytes.max(1)).clamp(LEAST, MOST) };
        let room = room.max(step).next_multiple_of(W);
        let base = Floor { count, first: 0, next: 0, lanes: count.next_multiple_of(W) };
        Tower {
            floors: vec![base],
            level: 0,
            depth: below(depth),
            bytes,
            taken: 0,
            room,
            step,
            wide: black_box(W),
            descends: true,
        }
    }

    /// The first level.
    #[inline(always)]
    pub fn base(&self) -> Grown {
        Grown { level: 0, lanes: self.floors[0].lanes }
    }

    /// Whether strips of the level are to be run, before results are fetched.
    #[inline(always)]
    pub fn descends(&self) -> bool {
        self.descends
    }

    /// The level above, if it has no columns for what may come.
    #[inline(always)]
    pub fn grows<const W: usize>(&mut self) -> Option<Grown> {
        // Whole strips are run, pads included, and whole strips are written behind what goes up.
        let strips = self.floors[self.level].count.div_ceil(W);
        let lanes = (self.step * strips).min(self.room + self.step);
        let level = self.level + 1;
        match self.floors.get_mut(level) {
            Some(floor) if floor.lanes >= lanes => return None,
            Some(floor) => floor.lanes = lanes,
            None => self.floors.push(Floor { count: 0, first: 0, next: 0, lanes }),
        }
        self.taken += lanes * self.bytes;
        if self.taken > LARGEST {
            resume_unwind(Box::new(TooDeep));
        }
        Some(Grown { level, lanes })
    }

    /// The first strip that has not been run, and the number of strips.
    #[inline(always)]
    pub fn strips<const W: usize>(&self) -> (usize, usize) {
        let floor = &self.floors[self.level];
        (floor.next, floor.count.div_ceil(W))
    }

    /// Whether another strip may be run when so many have gone up.
    #[inline(always)]
    pub fn has_room<const W: usize>(&self, up: usize) -> bool {
        up + self.step <= self.room
    }

    /// The lanes of a strip that have a member.
    #[inline(always)]
    pub fn members<const W: usize>(&self, strip: usize) -> u64 {
        match self.floors[self.level].count - strip * W {
            count if count >= W => !0 >> (64 - W),
            count => (1 << count) - 1,
        }
    }

    /// The lanes of a strip.
    #[inline(always)]
    pub fn wide<const W: usize>(&self) -> usize {
        self.wide & W
    }

    /// The strips before `next` have been run.
    #[inline(always)]
    pub fn forked(&mut self, next: usize) {
        self.floors[self.level].next = next;
    }

    /// How many levels there are below.
    #[inline(always)]
    pub(super) fn level(&self) -> usize {
        self.level
    }

    /// The depth of what the level calls.
    #[inline(always)]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The level above is run, with `count` members.
    #[inline(always)]
    pub fn enter(&mut self, count: usize) {
        self.depth = below(self.depth);
        self.level += 1;
        let floor = &mut self.floors[self.level];
        (floor.count, floor.first, floor.next) = (count, 0, 0);
        self.descends = true;
    }

    /// The strips that get the results of their calls.
    #[inline(always)]
    pub fn joins(&self) -> (usize, usize) {
        let floor = &self.floors[self.level];
        (floor.first, floor.next)
    }

    /// These strips have theirs: goes on with the level's next ones, or below; whether there is anything left.
    #[inline(always)]
    pub fn leave<const W: usize>(&mut self) -> bool {
        let floor = &mut self.floors[self.level];
        floor.first = floor.next;
        self.descends = floor.next < floor.count.div_ceil(W);
        if self.descends {
            return true;
        }
        let Some(level) = self.level.checked_sub(1) else { return false };
        self.level = level;
        self.depth = self.depth.back();
        true
    }
}

/// The depth of what is called at `depth`; unwinds where that is not allowed.
#[inline(always)]
fn below(depth: Depth) -> Depth {
    let next = depth.next();
    if next.is_exceeded() {
        resume_unwind(Box::new(TooDeep));
    }
    next
}

/// The first lanes of `to` get the values of a strip.
#[inline(always)]
pub fn copy<T, const W: usize>(to: &mut [MaybeUninit<T>], strip: &[MaybeUninit<T>; W]) {
    // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
    *to.first_chunk_mut().expect("there is room for a strip") = unsafe { ptr::read(strip) };
}
