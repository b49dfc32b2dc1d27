//! Where frames live: memory handed out by splitting, so that a frame's columns live as long as its call.
//!
//! **Invariant:** a column is borrowed from the memory by its frame alone: memory is split, never shared, and a callee's is given back when
//! the callee returns.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::slice;

use crate::batch::{self as limits, Pulse};
use crate::native_stack::{budget, room};
use crate::simd::Level;

/// A cache line, the alignment of columns.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line {
    _bytes: [u8; 64],
}

type Lines = [MaybeUninit<Line>];

/// Lines of the smallest chunk: 64 KiB.
const CHUNK: usize = 1024;
/// Lanes that count as a strip where the width of strips is not known.
const STRIP: u64 = 16;
/// Lines that are worth keeping: 4 MiB.
const KEPT: usize = 64 * CHUNK;

/// Memory of frames, kept from tile to tile.
#[derive(Default)]
pub(crate) struct Memory {
    first: Option<Box<Chunk>>,
}

struct Chunk {
    /// Without elements: what is used is its room.
    lines: Vec<Line>,
    next: Option<Box<Chunk>>,
}

/// What is left of the memory for the frames to come.
pub struct Arena<'a> {
    free: &'a mut Lines,
    /// Where it goes on when `free` is too short.
    next: Option<&'a mut Option<Box<Chunk>>>,
    pub(super) level: Level,
    /// What counts, if the run has limits.
    pub(crate) pulse: Option<&'a Pulse<'a>>,
}

/// Has the native frame aligned to cache lines: LLVM aligns the vectors that it spills only if something else
/// there is aligned as they are.
#[cfg_attr(optimised, inline(always))]
pub fn align() {
    black_box(&MaybeUninit::<Line>::uninit());
}

impl Memory {
    /// Whether it is small enough to be kept from run to run.
    pub(crate) fn is_small(&self) -> bool {
        let chunks = std::iter::successors(self.first.as_deref(), |chunk| chunk.next.as_deref());
        chunks.map(|chunk| chunk.lines.capacity()).sum::<usize>() <= KEPT
    }

    /// For frames without limits.
    #[cfg(test)]
    pub(crate) fn arena(&mut self, level: Level) -> Arena<'_> {
        self.counted(level, None)
    }

    /// For frames whose steps are counted.
    pub(crate) fn counted<'a>(&'a mut self, level: Level, pulse: Option<&'a Pulse<'a>>) -> Arena<'a> {
        Arena { free: &mut [], next: Some(&mut self.first), level, pulse }
    }
}

impl<'a> Arena<'a> {
    /// The memory for a callee, which gives it back when it returns.
    #[cfg_attr(optimised, inline(always))]
    pub fn sub(&mut self) -> Arena<'_> {
        Arena { free: &mut *self.free, next: self.next.as_deref_mut(), level: self.level, pulse: self.pulse }
    }

    /// The same, with the level that the code is compiled for: a constant, where it is asked.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn at(self, level: Level) -> Arena<'a> {
        align();
        Arena { level, ..self }
    }

    /// The lanes of a frame are about to make one step. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn step(&self, lanes: usize) {
        if let Some(pulse) = self.pulse {
            pulse.side_by_side(1, lanes as u64 / STRIP);
        }
    }

    /// Whether the run has limits, so that scalar code has to count.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_limited(&self) -> bool {
        self.pulse.is_some_and(|pulse| pulse.limits)
    }

    /// Scalar code has run for few lanes. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn few_have_run(&self, blocks: u64) {
        if let Some(pulse) = self.pulse
            && pulse.limits
        {
            pulse.together(limits::ticks() * blocks, limits::ticks() / STRIP);
        }
    }

    /// A column without values, of so many lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn column<T>(&mut self, lanes: usize) -> &'a mut [MaybeUninit<T>] {
        // Not a constant: code for programs with other types exists, and is never run.
        assert!(align_of::<T>() <= align_of::<Line>(), "plain values are aligned as lines are");
        let lines = self.take((lanes * size_of::<T>()).div_ceil(size_of::<Line>()));
        // SAFETY: the lines are borrowed for 'a by this alone, large enough and aligned (a slice of none is
        // aligned like its elements); any bits are a `MaybeUninit`.
        unsafe { slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lanes) }
    }

    #[cfg_attr(optimised, inline(always))]
    fn take(&mut self, lines: usize) -> &'a mut Lines {
        if lines > self.free.len() {
            self.grow(lines);
        }
        let (taken, free) = std::mem::take(&mut self.free).split_at_mut(lines);
        self.free = free;
        taken
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, lines: usize) {
        let Some(next) = self.next.take() else {
            unreachable!("a chunk is followed by a place for the next")
        };
        if next.as_ref().is_none_or(|chunk| chunk.lines.capacity() < lines) {
            let (most, mut lines) = (lines.max(CHUNK), Vec::new());
            // Chunks last as long as the run.
            budget::ask(most * size_of::<Line>());
            if lines.try_reserve_exact(most).is_err() {
                budget::give(most * size_of::<Line>());
                room::refused();
            }
            *next = Some(Box::new(Chunk { lines, next: None }));
        }
        let Some(chunk) = next else { unreachable!("there is one now") };
        let Chunk { lines, next } = &mut **chunk;
        (self.free, self.next) = (lines.spare_capacity_mut(), Some(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;

    #[test]
    fn callees_reuse_what_callees_had() {
        let mut memory = Memory::default();
        let level = Level::new(Isa::Baseline);
        for _ in 0..2 {
            let mut arena = memory.arena(level);
            let mine = arena.column::<u64>(40);
            mine.iter_mut().for_each(|slot| _ = slot.write(1));
            let mut places = Vec::new();
            for large in [10, 100_000, 10] {
                let mut callee = arena.sub();
                let column = callee.column::<u64>(large);
                places.push(column.as_ptr().addr());
                assert_eq!((column.as_ptr().addr() % 64, column.len()), (0, large));
                column.iter_mut().for_each(|slot| _ = slot.write(2));
                let set = callee.set(large, large);
                assert!(!set.any());
                let nothing = callee.column::<()>(large);
                assert_eq!(nothing.len(), large);
            }
            assert_eq!(places[0], places[2]);
            // SAFETY: all slots have been written.
            assert!(mine.iter().all(|slot| unsafe { slot.assume_init() } == 1));
        }
    }

    #[test]
    fn chunks_that_are_too_small_are_replaced() {
        let mut memory = Memory::default();
        for lanes in [1, 1 << 20, 1 << 22] {
            let mut arena = memory.arena(Level::new(Isa::Baseline));
            assert_eq!(arena.column::<u8>(lanes).len(), lanes);
            assert_eq!(arena.column::<u8>(lanes).len(), lanes);
        }
    }
}
