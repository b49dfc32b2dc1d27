//! Lanes that return from the function while others go on.
//!
//! ```text
//! for i in 0..n {                         for i in 0..n {
//!     if a[i] > x { return i; }   ──▶         for each lane { if a[i] > x { returns(&mut has_returned, &mut result, i); } }
//! }                                           if unreturned.is_none() { break; }
//!                                         }
//! ```
//!
//! A lane that has returned computes on, which shows nowhere: values are plain, and its result stays as it was when it returned.
//! A result is made once and moved once, so it may be of any type without drop glue.

use std::mem::{MaybeUninit, needs_drop};

use crate::lane_interchange::strips::{ActiveLanes, Strip};
use crate::simd::Level;
use crate::storage::PcWord;
use crate::storage::pc_word::equal;

/// Which lanes have not returned: a word for each, as wide as the data mostly are.
pub struct Unreturned<P, const W: usize>([P; W]);

impl<P: PcWord, const W: usize> Unreturned<P, W> {
    /// All.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Unreturned([P::set(true); W])
    }

    /// Whether a lane has returned.
    #[inline(always)]
    pub fn has_returned(&self, lane: usize) -> bool {
        !self.0[lane].is_set()
    }

    /// Notes it.
    #[inline(always)]
    pub fn note(&mut self, lane: usize, has_returned: bool) {
        self.0[lane] = P::set(!has_returned);
    }

    /// The lanes that have not, a bit each.
    #[inline(always)]
    pub fn lanes(&self, level: Level) -> u64 {
        equal(&self.0, P::set(true), level)
    }

    /// Whether all have.
    #[inline(always)]
    pub fn is_none(&self) -> bool {
        self.0.iter().fold(P::of(0), |any, lane| any.or(*lane)) == P::of(0)
    }
}

/// Whether results may be forgotten: those of lanes without a member.
#[inline(always)]
pub fn needs_no_drop<T, const W: usize>(_: &Strip<T, W>) -> bool {
    !needs_drop::<T>()
}

/// What a lane has returned, if it has.
#[inline(always)]
pub fn held<T, const W: usize>(results: &Strip<T, W>, lane: usize) -> MaybeUninit<T> {
    // SAFETY: any bits are a `MaybeUninit`. The lane's slot gets them back, or others.
    unsafe { std::ptr::read(&results[lane]) }
}

/// The lane returns a value, unless it has returned before.
#[inline(always)]
pub fn returns<T>(has_returned: &mut bool, result: &mut MaybeUninit<T>, value: T) {
    if !*has_returned {
        *has_returned = true;
        *result = MaybeUninit::new(value);
    }
}

/// Moves the results of the lanes that are there and have returned to their column.
#[inline(always)]
pub fn merge_returned<T, P: PcWord, const W: usize>(
    slots: &mut [MaybeUninit<T>; W],
    results: Strip<T, W>,
    here: &ActiveLanes<P, W>,
    unreturned: &Unreturned<P, W>,
) {
    for (lane, (slot, result)) in slots.iter_mut().zip(results).enumerate() {
        if here.is_active(lane) & unreturned.has_returned(lane) {
            *slot = result;
        }
    }
}
