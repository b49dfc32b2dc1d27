//! The rounds of loops that lanes of a strip leave at different times, counted: each is a step of the lanes that are in the loop.
//!
//! ```text
//! let mut turns = Turns::of(&arena);
//! for each strip {
//!     let mut left = turns.begin_strip();
//!     for at in endless(0, |at| at + 1) { turns.next(&mut left); … }
//!     turns.end_strip(left);
//! }
//! turns.end();
//! ```
//!
//! A member of a strip has made no more rounds than its strip, so the tile has made as many steps as the strip with most. A loop of the strip may
//! have no end, so it looks at the limits itself.

use crate::batch::Pulse;
use crate::vector::arena::Arena;

/// The rounds from one look at the limits to the next.
const LOOK: u32 = 4096;

/// Counts for the strips of a region, one after the other.
pub struct Turns<'p> {
    pulse: Option<&'p Pulse<'p>>,
    /// What the strip had made at the last look.
    made: u64,
    /// What the strip with most has made.
    most: u64,
}

impl<'p> Turns<'p> {
    /// For the frames of an arena.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(arena: &Arena<'p>) -> Turns<'p> {
        Turns { pulse: arena.pulse, made: 0, most: 0 }
    }

    /// A strip begins: the rounds until it looks. They are a variable of the strip's, which stays in a register.
    #[cfg_attr(optimised, inline(always))]
    pub fn begin_strip(&mut self) -> u32 {
        self.made = 0;
        LOOK
    }

    /// A loop has come to its next round. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn next(&mut self, left: &mut u32) {
        *left -= 1;
        if *left == 0 {
            *left = LOOK;
            self.look();
        }
    }

    /// A strip has run.
    #[cfg_attr(optimised, inline(always))]
    pub fn end_strip(&mut self, left: u32) {
        self.most = self.most.max(self.made + u64::from(LOOK - left));
    }

    /// All strips have run. Unwinds if the tile is to end.
    #[cfg_attr(optimised, inline(always))]
    pub fn end(self) {
        if let Some(pulse) = self.pulse {
            pulse.side_by_side(self.most, 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        self.made += u64::from(LOOK);
        if let Some(pulse) = self.pulse {
            pulse.under_way(self.made, u64::from(LOOK));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::simd::{Isa, Level};
    use crate::vector::arena::Memory;

    /// The steps of a tile whose strips make so many rounds, and how often somebody has looked; `None` if it has ended.
    fn steps(strips: &[u64], max_steps: u64) -> Option<(u64, u64)> {
        let beats = Cell::new(0);
        let count = || beats.set(beats.get() + 1);
        let pulse = Pulse::new(max_steps, true, true, &count);
        let mut memory = Memory::default();
        let arena = memory.counted(Level::new(Isa::Baseline), Some(&pulse));
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let mut turns = Turns::of(&arena);
            for rounds in strips {
                let mut left = turns.begin_strip();
                (0..*rounds).for_each(|_| turns.next(&mut left));
                turns.end_strip(left);
            }
            turns.end();
        }));
        ran.ok().map(|()| (pulse.steps(), beats.get()))
    }

    #[test]
    fn the_strip_with_most_rounds_counts() {
        assert_eq!(steps(&[], 10), Some((0, 0)));
        assert_eq!(steps(&[3, 7, 0, 5], 7).map(|(steps, _)| steps), Some(7));
        assert_eq!(steps(&[3, 7, 0, 5], 6), None);
        assert_eq!(steps(&[20_000, 9000], 20_000).map(|(steps, _)| steps), Some(20_000));
    }

    #[test]
    fn a_loop_without_end_ends() {
        assert_eq!(steps(&[1, u64::MAX], 100_000), None);
        let (_, looks) = steps(&[1_000_000], u64::MAX).expect("it may go on");
        assert!(looks > 1, "{looks}");
    }
}
