//! Running the call of a primitive: all lanes that wait at a block, as one (see `primitive`).
//!
//! ```text
//! Step::Block(7) => {
//!     let mut results = gradient::__batched(core.waiting::<u32, W>(7), |push| {
//!         for i in 0..core.strips() {
//!             …                                               // the strips of the columns, as for `once`
//!             for l in core.lanes::<u32, W>(i, 7) { … }       // takes, pushes and keeps; must not unwind
//!         }
//!     });
//!     for i in 0..core.strips() {
//!         for l in core.lanes::<u32, W>(i, 7) {
//!             match results.next() {
//!                 Ok(value) => …,                             // left in its column
//!                 Err(message) => core.fail(i, l, 7, &message),
//!             }
//!         }
//!         core.arrive::<u32, W>(i, 7, 8);                     // all of them go on at point 8
//!     }
//! },
//! ```
//!
//! A panic of the kernel is caught where it is called; it ends the members of that call. Such a member has
//! left its arguments behind and has no result: `UnwindPoint::Gathered`.

use super::core::Core;
use super::step::Step;
use super::unwinding::UnwindPoint;
use crate::api::fault::FaultKind;
use crate::storage::PcWord;

/// Lanes of a strip, lowest first.
pub struct Waiting(u64);

impl Iterator for Waiting {
    type Item = usize;
    #[cfg_attr(optimised, inline(always))]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}

impl Core<'_> {
    /// The number of lanes at `point`.
    pub fn waiting<P: PcWord, const W: usize>(&self, point: u32) -> usize {
        (0..self.strips()).map(|nth| self.lanes::<P, W>(nth, point).0.count_ones() as usize).sum()
    }

    /// The lanes of the `nth` strip that are at `point`.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes<P: PcWord, const W: usize>(&self, nth: usize, point: u32) -> Waiting {
        const { assert!(W <= 64, "one bit per lane") };
        debug_assert_eq!((self.step, W), (Step::Block(point), self.members.program.strip));
        let first = self.stage.words + self.stage.strips[nth] as usize;
        let words = &P::arena(&self.words)[first..first + W];
        let point = P::of(point);
        let bits = words.iter().enumerate().map(|(lane, word)| u64::from(*word == point) << lane);
        Waiting(bits.fold(0, |mask, bit| mask | bit))
    }

    /// The kernel has no result for lane `lane` of the `nth` strip.
    #[cold]
    pub fn fail(&mut self, nth: usize, lane: usize, point: u32, message: &str) {
        let lane = self.stage.strips[nth] as usize + lane;
        let (unwind_point, message) = (UnwindPoint::Gathered(point), message.to_owned());
        self.engine.unwound(lane, unwind_point, FaultKind::Panic, message);
    }
}
