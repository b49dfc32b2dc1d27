//! Which lanes are still in a function or a loop that each lane leaves when it has to.
//!
//! ```text
//! for i in 0..n {                       let mut remaining = Remaining::new();
//!     if a[i] > x { break; }    ──▶     for i in 0..n {
//!     sum += a[i];                          if remaining.is_none() { break; }
//! }                                         for each lane { … remaining.note(lane, a[i] > x[lane]); … }
//!                                       }
//! ```
//!
//! A lane that has left computes on, which shows nowhere.

use crate::simd::{Level, of_word};
use crate::storage::PcWord;
use crate::storage::pc_word::equal;

/// Which lanes have not left: a word for each, as wide as the data mostly are.
pub struct Remaining<P, const W: usize>([P; W]);

impl<P: PcWord, const W: usize> Remaining<P, W> {
    /// All.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Remaining([P::set(true); W])
    }

    /// Those of which it holds.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(is_in: impl Fn(usize) -> bool) -> Self {
        let mut remaining = Remaining::new();
        for lane in 0..W {
            remaining.note(lane, !is_in(lane));
        }
        remaining
    }

    /// Whether a lane has left.
    #[cfg_attr(optimised, inline(always))]
    pub fn has_left(&self, lane: usize) -> bool {
        !self.0[lane].is_set()
    }

    /// Notes it.
    #[cfg_attr(optimised, inline(always))]
    pub fn note(&mut self, lane: usize, has_left: bool) {
        self.0[lane] = P::set(!has_left);
    }

    /// The lanes that have not, a bit each.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes(&self, level: Level) -> u64 {
        equal(&self.0, P::set(true), level)
    }

    /// Whether all have.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_none(&self) -> bool {
        self.0.iter().fold(P::of(0), |any, lane| any.or(*lane)) == P::of(0)
    }
}

/// Whether so few lanes of a strip are in a branch that they are better run one by one than all as vectors.
#[cfg_attr(optimised, inline(always))]
pub fn are_few<const W: usize>(lanes: u64) -> bool {
    lanes.count_ones() as usize <= W / 8
}

/// These lanes of a strip, ascending.
#[cfg_attr(optimised, inline(always))]
pub fn each<const W: usize>(lanes: u64) -> impl Iterator<Item = usize> {
    const { assert!(W.is_power_of_two()) };
    // By the remainder LLVM knows that the lane is one of the strip.
    of_word(lanes).map(|lane| lane % W)
}
