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

use crate::lane_interchange::remaining::Remaining;
use crate::lane_interchange::strips::{ActiveLanes, Strip};
use crate::storage::PcWord;

/// Whether results may be forgotten: those of lanes without a member.
#[cfg_attr(optimised, inline(always))]
pub fn needs_no_drop<T, const W: usize>(_: &Strip<T, W>) -> bool {
    !needs_drop::<T>()
}

/// What a lane has returned, if it has.
#[cfg_attr(optimised, inline(always))]
pub fn held<T, const W: usize>(results: &Strip<T, W>, lane: usize) -> MaybeUninit<T> {
    // SAFETY: any bits are a `MaybeUninit`. The lane's slot gets them back, or others.
    unsafe { std::ptr::read(&results[lane]) }
}

/// The lane returns a value, unless it has returned before.
#[cfg_attr(optimised, inline(always))]
pub fn returns<T>(has_returned: &mut bool, result: &mut MaybeUninit<T>, value: T) {
    if !*has_returned {
        *has_returned = true;
        *result = MaybeUninit::new(value);
    }
}

/// Moves the results of the lanes that are there and have returned to their column.
#[cfg_attr(optimised, inline(always))]
pub fn merge_returned<T, P: PcWord, const W: usize>(
    slots: &mut [MaybeUninit<T>; W],
    results: Strip<T, W>,
    here: &ActiveLanes<P, W>,
    unreturned: &Remaining<P, W>,
) {
    for (lane, (slot, result)) in slots.iter_mut().zip(results).enumerate() {
        if here.is_active(lane) & unreturned.has_left(lane) {
            *slot = result;
        }
    }
}
