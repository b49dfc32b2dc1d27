//! The pulse of a tile on vectors: how far its members may be, and how often somebody looks whether they shall go on.
//!
//! Vector code counts for the whole tile: a lane is at no more steps than the tile. A tile that has made more steps than one member may is
//! given up, and its members run where each is counted.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use super::limits::Stopped;
use crate::api::fault::FaultKind;

/// Strips that run a region between two beats: at first, at most, and how long they should take.
const BEAT: u64 = 4096;
const LONGEST: u64 = 1 << 16;
const TIME: Duration = Duration::from_micros(500);

/// Counts what a tile does, and calls a function now and then.
pub(crate) struct Pulse<'r> {
    /// Strips until the next beat, those from one to the next, and when the last one was.
    left: Cell<u64>,
    beats: Cell<u64>,
    last: Cell<Instant>,
    /// The steps that a member has made at most, and those of them that are a sum over members.
    steps: Cell<u64>,
    sum: Cell<u64>,
    /// How often lanes have moved together.
    compactions: Cell<u64>,
    max_steps: u64,
    /// Whether there are limits, which scalar code keeps if it counts, and whether few lanes may run as such.
    pub(crate) limits: bool,
    pub(crate) few: bool,
    beat: &'r dyn Fn(),
}

impl<'r> Pulse<'r> {
    /// `beat` may unwind.
    pub(crate) fn new(max_steps: u64, limits: bool, few: bool, beat: &'r dyn Fn()) -> Self {
        let (beats, last) = (Cell::new(BEAT), Cell::new(Instant::now()));
        Pulse {
            left: Cell::new(BEAT),
            beats,
            last,
            steps: Cell::new(0),
            sum: Cell::new(0),
            compactions: Cell::new(0),
            max_steps,
            limits,
            few,
            beat,
        }
    }

    /// Members have made so many steps side by side, each no more than that, and so many strips have run.
    #[inline]
    pub(crate) fn side_by_side(&self, steps: u64, strips: u64) {
        self.steps.set(self.steps.get().saturating_add(steps));
        self.work(strips);
    }

    /// Members have made so many steps, all of them together.
    #[inline]
    pub(crate) fn together(&self, steps: u64, strips: u64) {
        self.note(steps);
        self.work(strips);
    }

    /// Some members have made so many steps more than are counted, and go on.
    pub(crate) fn under_way(&self, steps: u64, strips: u64) {
        if self.steps.get().saturating_add(steps) > self.max_steps {
            resume_unwind(Box::new(Stopped(FaultKind::StepsExceeded)));
        }
        self.work(strips);
    }

    /// The same, but nobody looks yet.
    pub(crate) fn note(&self, steps: u64) {
        self.sum.set(self.sum.get().saturating_add(steps));
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    /// Lanes have moved together.
    pub(crate) fn compacted(&self) {
        self.compactions.set(self.compactions.get() + 1);
    }

    #[inline]
    fn work(&self, strips: u64) {
        let left = self.left.get();
        if left > strips && self.steps.get() <= self.max_steps {
            self.left.set(left - strips);
        } else {
            self.beat();
        }
    }

    #[cold]
    #[inline(never)]
    fn beat(&self) {
        let now = Instant::now();
        let took = now.duration_since(self.last.replace(now));
        let beats = self.beats.get();
        let fit = (beats as f64 * TIME.as_secs_f64() / took.as_secs_f64().max(1e-9)) as u64;
        self.beats.set(fit.clamp(beats / 4, 4 * beats).clamp(1, LONGEST));
        self.left.set(self.beats.get());
        if self.steps.get() > self.max_steps {
            resume_unwind(Box::new(Stopped(FaultKind::StepsExceeded)));
        }
        (self.beat)();
    }

    /// How many rounds of so many strips may run at once, of `rounds` that should.
    #[inline]
    pub(crate) fn rounds(&self, rounds: usize, strips: usize) -> usize {
        rounds.min((self.beats.get() as usize / strips.max(1)).max(1))
    }

    /// How often lanes have moved together.
    pub(crate) fn compactions(&self) -> u64 {
        self.compactions.get()
    }

    /// All steps.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// The steps that are a sum over members.
    pub(crate) fn sum(&self) -> u64 {
        self.sum.get()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn the_tile_ends_when_a_member_may_have() {
        let beats = Cell::new(0);
        let count = || beats.set(beats.get() + 1);
        let pulse = Pulse::new(100, true, true, &count);
        assert_eq!((pulse.rounds(8, 2), pulse.rounds(8, 1 << 20)), (8, 1));
        pulse.side_by_side(40, 3 * BEAT);
        pulse.together(60, 1);
        assert_eq!((beats.get(), pulse.sum()), (1, 60));
        let payload = catch_unwind(AssertUnwindSafe(|| pulse.side_by_side(1, 1))).unwrap_err();
        assert_eq!(payload.downcast::<Stopped>().unwrap().0, FaultKind::StepsExceeded);
    }
}
