//! Interchanged loops: running them for all lanes of a strip (see [`crate::lane_interchange`]).
//!
//! ```text
//! Step::Block(4) => for i in 0..core.strips() {
//!     …                                                   // the strips of the columns, as for `once`
//!     let here = if plain(&x_) { core.begin_interchange::<u32, W>(i, 4) } else { None };
//!     if let Some(here) = here {
//!         let mut x = spread(&x_, &here);                 // copies: the columns stay as they are
//!         for k in 0..n { for l in 0..W { … } }
//!         merge(&mut x_, &x, &here);                      // nothing unwinds from here on
//!         core.arrive::<u32, W>(i, 4, 5);                 // all of them go on at point 5
//!     } else {
//!         core.once::<u32, W>(i, 4, …);                   // lane by lane
//!     }
//! },
//! ```
//!
//! A panic in between is no member's fault yet: neither columns nor words have changed, so the block runs
//! again, lane by lane, and the members that are to blame fail there, each on its own.

use super::core::{Core, INTERCHANGED};
use super::step::{NONE, Step};
use crate::batch::voice::Voice;
use crate::lane_interchange::{ActiveLanes, Remaining};
use crate::storage::PcWord;

impl Core<'_> {
    /// The lanes of the `nth` strip that are at `point`, if its loops may run for all of them.
    #[cfg_attr(optimised, inline(always))]
    pub fn begin_interchange<P: PcWord, const W: usize>(
        &mut self,
        nth: usize,
        point: u32,
    ) -> Option<ActiveLanes<P, W>> {
        debug_assert_eq!((self.step, W), (Step::Block(point), self.members.program.strip));
        if self.apart == Some(point) {
            return None;
        }
        let here = ActiveLanes::new(self.words::<P, W>(nth), P::of(point))?;
        self.lane.set(INTERCHANGED);
        // Who panics will run again, lane by lane.
        self.voice = Voice::Silent.replace();
        Some(here)
    }

    /// The lanes of the `nth` strip that are at `point` have run and go on at `next`.
    #[cfg_attr(optimised, inline(always))]
    pub fn arrive<P: PcWord, const W: usize>(&mut self, nth: usize, point: u32, next: u32) {
        let (point, next) = (P::of(point), P::of(next));
        let words = self.words::<P, W>(nth);
        words.iter_mut().for_each(|word| *word = if *word == point { next } else { *word });
        self.arrived::<P, W>(nth);
    }

    /// The same; those that have returned from the function go on at `exit`.
    #[cfg_attr(optimised, inline(always))]
    pub fn arrive_or_return<P: PcWord, const W: usize>(
        &mut self,
        nth: usize,
        point: u32,
        next: u32,
        exit: u32,
        unreturned: &Remaining<P, W>,
    ) {
        let (point, next, exit) = (P::of(point), P::of(next), P::of(exit));
        let words = self.words::<P, W>(nth);
        for (lane, word) in words.iter_mut().enumerate() {
            let to = if unreturned.has_left(lane) { exit } else { next };
            *word = if *word == point { to } else { *word };
        }
        self.arrived::<P, W>(nth);
    }

    /// Nobody of the strip is in interchanged loops any more.
    #[cfg_attr(optimised, inline(always))]
    fn arrived<P: PcWord, const W: usize>(&mut self, nth: usize) {
        let lowest = self.words::<P, W>(nth).iter().fold(P::IDLE, |a, &b| a.least(b));
        self.stage.lowest[nth] = lowest.point();
        if self.lane.replace(NONE) == INTERCHANGED {
            self.voice.replace();
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn words<P: PcWord, const W: usize>(&mut self, nth: usize) -> &mut [P; W] {
        let first = self.stage.words + self.stage.strips[nth] as usize;
        let words = &mut P::arena_mut(&mut self.words)[first..first + W];
        words.try_into().expect("the range has W words")
    }
}
