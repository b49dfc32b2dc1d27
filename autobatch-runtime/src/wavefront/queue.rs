//! Continuation queues: the records that wait at a program point, and the waves that are taken of them.

use std::mem::MaybeUninit;
use std::ptr;

use super::key::Keys;
use crate::simd::{self, Level};
use crate::storage::Aligned;
use crate::vector::pad;

#[cfg_attr(optimised, inline(always))]
fn strip<T, const W: usize>(column: &[T], first: usize) -> &[T; W] {
    column[first..].first_chunk().expect("columns have room for whole strips")
}

/// Records that wait at a program point.
pub struct ContinuationQueue<'a> {
    pub(super) keys: &'a mut [MaybeUninit<u32>],
    pub(super) len: usize,
}

/// The records of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wave {
    pub(super) first: usize,
    pub(super) len: usize,
}

impl Wave {
    /// The number of strips.
    #[cfg_attr(optimised, inline(always))]
    pub fn strips<const W: usize>(self) -> usize {
        self.len.div_ceil(W)
    }

    /// Where a strip begins.
    #[cfg_attr(optimised, inline(always))]
    pub fn first<const W: usize>(self, strip: usize) -> usize {
        self.first + W * strip
    }

    /// The lanes of a strip that are records.
    #[cfg_attr(optimised, inline(always))]
    pub fn bits<const W: usize>(self, strip: usize) -> u64 {
        match self.len - W * strip {
            left if left < W => (1 << left) - 1,
            _ => !0 >> (64 - W),
        }
    }

    /// How many lanes of a strip run.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes<const W: usize>(self, strip: usize) -> usize {
        match self.len - W * strip {
            // Nobody waits for an unoptimised program's pads.
            few if cfg!(debug_assertions) && few < W / 4 => few,
            _ => W,
        }
    }

    /// Whether there is but one strip, which is not full: its columns get copies of the last record behind it.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_short<const W: usize>(self) -> bool {
        self.len < W
    }

    /// Gives the lanes of a short strip without a record the bits of the last one.
    #[cfg_attr(optimised, inline(always))]
    pub fn pad<T, const W: usize>(self, column: &mut [MaybeUninit<T>]) {
        pad(&mut column[..W], self.len);
    }
}

impl ContinuationQueue<'_> {
    /// The records that wait.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The whole strips at the end, or all records if there is none.
    #[cfg_attr(optimised, inline(always))]
    pub fn take<const W: usize>(&mut self) -> Wave {
        let rest = if self.len < W { 0 } else { self.len % W };
        let step = Wave { first: rest, len: self.len - rest };
        self.len = rest;
        if step.is_short::<W>() {
            step.pad::<_, W>(self.keys);
        }
        step
    }

    /// The keys of a strip.
    #[cfg_attr(optimised, inline(always))]
    pub fn keys<const W: usize>(&self, first: usize) -> Keys<W> {
        let keys: &[MaybeUninit<u32>; W] = strip(self.keys, first);
        // SAFETY: records have a key, and so have the lanes behind them in a short strip (`take`).
        Keys(Aligned(unsafe { ptr::read(ptr::from_ref(keys).cast()) }))
    }

    /// The lanes `here` of a strip enter; their variables have been put down.
    #[cfg_attr(optimised, inline(always))]
    pub fn enter<const W: usize>(&mut self, keys: &Keys<W>, here: u64, level: Level) {
        simd::append(&mut self.keys[self.len..], keys.strip(), here, level);
        self.len += here.count_ones() as usize;
    }
}
