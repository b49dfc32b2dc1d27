//! The region loop: running lane code on a strip, once or until its lanes have left.
//!
//! **Invariant:** lanes that have been executed stay executed, also while unwinding: words are written back whenever a strip is left.

use std::cell::Cell;
use std::mem::forget;

use super::core::Core;
use super::step::{STALE, Step};
use crate::storage::{Aligned, LaneMask, Next, PcWord};

/// The words of a strip, copied to the native stack for the time that its lane code runs and written
/// back at the end, on the normal path as well as while unwinding: lanes that have been executed stay
/// executed.
pub struct LaneWords<'c, P: PcWord, const W: usize> {
    copy: Aligned<[P; W]>,
    home: &'c mut [P; W],
    /// Says which lane has unwound.
    cell: &'c Cell<u32>,
    /// Takes the lowest point among the words.
    lowest: &'c mut u32,
    rounds: u32,
    /// Where the steps of lanes are counted that stay at the point, if they are.
    spent: Option<&'c mut [u64; W]>,
}

impl<P: PcWord, const W: usize> Drop for LaneWords<'_, P, W> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        *self.home = self.copy.0;
    }
}

/// Counts the rounds after which lanes have stayed, if steps are counted, also while unwinding.
struct Stayed<'c, P: PcWord, const W: usize> {
    times: Aligned<[P; W]>,
    spent: Option<&'c mut [u64; W]>,
}

impl<'c, P: PcWord, const W: usize> Stayed<'c, P, W> {
    #[cfg_attr(optimised, inline(always))]
    fn new(spent: Option<&'c mut [u64; W]>) -> Self {
        Stayed { times: Aligned([P::of(0); W]), spent }
    }

    /// The rounds after which lanes are counted. Nothing may stand between rounds where they are not: it would cost a tenth of the time.
    #[cfg_attr(optimised, inline(always))]
    fn rounds_at_once(&self, rounds: u32) -> u32 {
        if self.spent.is_some() { 1 } else { rounds }
    }

    /// 1 for each lane that has stayed, 0 for others.
    #[cfg_attr(optimised, inline(always))]
    fn count(&mut self, has_stayed: impl Fn(usize) -> P) {
        if self.spent.is_some() {
            for (at, times) in self.times.0.iter_mut().enumerate() {
                *times = times.plus(has_stayed(at));
            }
        }
    }
}

impl<P: PcWord, const W: usize> Drop for Stayed<'_, P, W> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        if let Some(spent) = &mut self.spent {
            let times = spent.iter_mut().zip(&self.times.0);
            times.for_each(|(spent, times)| *spent += times.number() as u64);
        }
    }
}

/// Gives the lanes that have left a loop their word, also while unwinding.
struct Unfinished<'s, P: PcWord, const W: usize> {
    words: &'s mut [P; W],
    on: &'s mut [P; W],
    was: &'s [P; W],
    exit: P,
}

impl<P: PcWord, const W: usize> Drop for Unfinished<'_, P, W> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        for at in 0..W {
            let left = self.was[at].is_set() & !self.on[at].is_set();
            self.words[at] = if left { self.exit } else { self.words[at] };
        }
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
    #[cfg_attr(optimised, inline(always))]
    pub fn strips(&self) -> usize {
        self.stage.strips.len()
    }

    /// The first slot of the `nth` such strip.
    #[cfg_attr(optimised, inline(always))]
    pub fn strip(&self, nth: usize) -> usize {
        self.stage.slots + self.stage.strips[nth] as usize
    }

    /// The words of the `nth` such strip.
    #[cfg_attr(optimised, inline(always))]
    pub fn open<P: PcWord, const W: usize>(&mut self, nth: usize) -> LaneWords<'_, P, W> {
        debug_assert!(matches!(self.step, Step::Block(_)) && W == self.members.program.strip);
        self.strip = self.stage.strips[nth];
        let lowest = &mut self.stage.lowest[nth];
        *lowest = STALE;
        let first = self.stage.words + self.strip as usize;
        let words = &mut P::arena_mut(&mut self.words)[first..first + W];
        let home: &mut [P; W] = words.try_into().expect("the range has W words");
        let spent = self.members.steps_of.strip(first);
        LaneWords { copy: Aligned(*home), home, cell: &self.lane, lowest, rounds: self.stage.rounds, spent }
    }
}

impl<P: PcWord, const W: usize> LaneWords<'_, P, W> {
    /// Runs `lane` once for each lane of the strip, with the lane's index, whether it is at `point`, and
    /// its word, which it returns if it is not.
    #[cfg_attr(optimised, inline(always))]
    pub fn once(&mut self, point: u32, mut lane: impl FnMut(usize, bool, P) -> Next<P>) {
        self.round(P::of(point), &mut lane);
        self.end();
    }

    /// As [`LaneWords::once`], but again as long as a lane stays at `point`, within limits.
    #[cfg_attr(optimised, inline(always))]
    pub fn repeat(&mut self, point: u32, mut lane: impl FnMut(usize, bool, P) -> Next<P>) {
        let point = P::of(point);
        let mut stayed = Stayed::new(self.spent.take());
        let (mut again, each) = (true, stayed.rounds_at_once(self.rounds));
        while again && self.rounds > 0 {
            self.rounds -= each;
            for _ in 0..each {
                again = self.round(point, &mut lane);
                if !again {
                    break;
                }
            }
            stayed.count(|at| self.copy.0[at].same(point));
        }
        drop(stayed);
        self.end();
    }

    /// The lanes that are at `point`.
    #[cfg_attr(optimised, inline(always))]
    pub fn at(&self, point: u32) -> LaneMask<P, W> {
        let point = P::of(point);
        LaneMask(Aligned(self.copy.0.map(|word| P::set(word == point))))
    }

    /// As [`LaneWords::repeat`] for `was`, the lanes at the point, all of which go to `exit` in the end. Whether
    /// a lane goes on is kept as a mask, which is cheaper than its word.
    #[cfg_attr(optimised, inline(always))]
    pub fn repeat_until(
        &mut self,
        was: &LaneMask<P, W>,
        exit: u32,
        mut lane: impl FnMut(usize, bool, P) -> Next<P>,
    ) {
        let exit = P::of(exit);
        let mut stayed = Stayed::new(self.spent.take());
        let each = stayed.rounds_at_once(self.rounds);
        let mut on = Aligned(was.0.0);
        let was = Unfinished { words: &mut self.copy.0, on: &mut on.0, was: &was.0.0, exit };
        let mut again = true;
        while again && self.rounds > 0 {
            self.rounds -= each;
            for _ in 0..each {
                let mut any = P::of(0);
                for at in 0..W {
                    let mark = Mark { cell: self.cell, lane: at as u32 };
                    let next = lane(at, was.on[at].is_set(), exit).0;
                    forget(mark);
                    let on = P::set(next != exit);
                    was.on[at] = on;
                    any = any.or(on);
                }
                again = any != P::of(0);
                if !again {
                    break;
                }
            }
            stayed.count(|at| P::of(u32::from(was.on[at].is_set())));
        }
        drop(stayed);
        drop(was);
        self.end();
    }

    /// One round; whether a lane is still at `point`.
    #[cfg_attr(optimised, inline(always))]
    fn round(&mut self, point: P, lane: &mut impl FnMut(usize, bool, P) -> Next<P>) -> bool {
        let mut again = P::of(0);
        for at in 0..W {
            let stay = self.copy.0[at];
            let mark = Mark { cell: self.cell, lane: at as u32 };
            let next = lane(at, stay == point, stay).0;
            forget(mark);
            self.copy.0[at] = next;
            again = again.or(next.same(point));
        }
        again != P::of(0)
    }

    /// While the words are at hand, and the code is compiled for the instruction set.
    #[cfg_attr(optimised, inline(always))]
    fn end(&mut self) {
        *self.lowest = self.copy.0.iter().fold(P::IDLE, |a, &b| a.least(b)).point();
    }
}
