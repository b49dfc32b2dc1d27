//! Running lane code on a strip.

use std::cell::Cell;
use std::mem::{forget, swap};

use super::{Core, STALE, Step, Word};

/// The words of a strip, copied to the native stack for the time that its lane code runs and written
/// back at the end, on the normal path as well as while unwinding: lanes that have been executed stay
/// executed.
struct Open<'c, P, const W: usize> {
    home: &'c mut [P; W],
    copy: [P; W],
}

impl<P, const W: usize> Drop for Open<'_, P, W> {
    #[inline(always)]
    fn drop(&mut self) {
        swap(self.home, &mut self.copy);
    }
}

/// Says which lane has unwound. Costs nothing where no lane can.
struct Mark<'c> {
    cell: &'c Cell<u32>,
    lane: u32,
}

impl Drop for Mark<'_> {
    #[cold]
    fn drop(&mut self) {
        self.cell.set(self.lane);
    }
}

impl Core<'_> {
    /// [`Step::Block`]: the number of strips that have a lane at the block.
    #[inline(always)]
    pub fn strips(&self) -> usize {
        self.stage.strips.len()
    }

    /// The first slot of the `nth` such strip.
    #[inline(always)]
    pub fn strip(&self, nth: usize) -> usize {
        self.stage.slots + self.stage.strips[nth] as usize
    }

    /// Runs `lane` once for each lane of the `nth` strip, with the lane's index, whether it is at
    /// `point`, and its word, which it returns if it is not.
    #[inline(always)]
    pub fn once<P: Word, const W: usize>(
        &mut self,
        nth: usize,
        point: u32,
        lane: impl FnMut(usize, bool, P) -> P,
    ) {
        self.rounds::<P, W>(nth, point, 1, lane);
    }

    /// As [`Core::once`], but again as long as a lane stays at `point`, within limits.
    #[inline(always)]
    pub fn repeat<P: Word, const W: usize>(
        &mut self,
        nth: usize,
        point: u32,
        lane: impl FnMut(usize, bool, P) -> P,
    ) {
        self.rounds::<P, W>(nth, point, self.stage.rounds, lane);
    }

    #[inline(always)]
    fn rounds<P: Word, const W: usize>(
        &mut self,
        nth: usize,
        point: u32,
        rounds: u32,
        mut lane: impl FnMut(usize, bool, P) -> P,
    ) {
        debug_assert_eq!((self.step, W), (Step::Block(point), self.members.program.strip));
        self.strip = self.stage.strips[nth];
        self.stage.lowest[nth] = STALE;
        let first = self.stage.words + self.strip as usize;
        let words = &mut P::arena_mut(&mut self.words)[first..first + W];
        let home: &mut [P; W] = words.try_into().expect("the range has W words");
        let mut open = Open { copy: *home, home };
        let (cell, point) = (&self.lane, P::of(point));
        for _ in 0..rounds {
            let mut again = P::of(0);
            for at in 0..W {
                let stay = open.copy[at];
                let mark = Mark { cell, lane: at as u32 };
                let next = lane(at, stay == point, stay);
                forget(mark);
                open.copy[at] = next;
                again = again.or(next.same(point));
            }
            if again == P::of(0) {
                break;
            }
        }
        // While the words are at hand, and the code is compiled for the instruction set.
        let lowest = open.copy.iter().fold(P::IDLE, |a, &b| a.least(b));
        self.stage.lowest[nth] = lowest.point();
    }
}
