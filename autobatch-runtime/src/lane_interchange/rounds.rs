//! Loops whose number of rounds differs between lanes: all lanes run through the most, and what is not a lane's own round changes nothing.
//!
//! ```text
//! for j in 1..=n {                     let ends = Rounds::of(n, …);
//!     row[j] = f(row[j - 1]);   ──▶    for (round, j) in ends.steps(1..) {
//! }                                        for each lane { zero.choose(&mut row[j][lane], ends.has(lane, round), f(row[j - 1][lane])); }
//!                                      }
//! ```
//!
//! A round that some lane has evaluates nothing that the lane would not, as far as all lanes share it. What a lane computes beyond its own
//! rounds shows nowhere: values are plain, faults are not noted, and a panic sends the strip to the ordinary lane code.
//!
//! **Source.** Predicated execution: Allen and Kennedy, *Optimizing Compilers for Modern Architectures*, chapter 7 (if-conversion).

use std::ops::RangeFrom;

use crate::lane_interchange::strips::{Strip, get};

/// How many rounds a loop over a range has.
#[cfg_attr(optimised, inline(always))]
pub fn rounds(range: &impl Iterator) -> usize {
    range.size_hint().0
}

/// What a loop goes over, in the code of one lane; lanes that run together know from the number of rounds when each of them ends.
#[cfg_attr(optimised, inline(always))]
pub fn steps<R: Iterator>(range: R, _rounds: usize) -> R {
    range
}

/// What a loop goes over that lanes leave by `break` alone: a counter and what follows it, without end.
#[cfg_attr(optimised, inline(always))]
pub fn endless<T: Copy, F: Fn(T) -> T>(first: T, next: F) -> Endless<T, F> {
    Endless { at: first, next, has_begun: false }
}

/// See [`endless`]. What follows is computed when it is asked for: nobody may come so far.
pub struct Endless<T, F> {
    at: T,
    next: F,
    has_begun: bool,
}

impl<T: Copy, F: Fn(T) -> T> Iterator for Endless<T, F> {
    type Item = T;

    #[cfg_attr(optimised, inline(always))]
    fn next(&mut self) -> Option<T> {
        if self.has_begun {
            self.at = (self.next)(self.at);
        }
        self.has_begun = true;
        Some(self.at)
    }

    #[cfg_attr(optimised, inline(always))]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

/// How many rounds of a loop each lane has.
pub struct Rounds<const W: usize>([u32; W]);

impl<const W: usize> Rounds<W> {
    /// So many as are counted; none for lanes that are not in the loop around.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(counted: &Strip<usize, W>, is_in: impl Fn(usize) -> bool) -> Self {
        let mut rounds = [0; W];
        for (lane, to) in rounds.iter_mut().enumerate() {
            let count = u32::try_from(get(counted, lane)).unwrap_or(u32::MAX);
            *to = if is_in(lane) { count } else { 0 };
        }
        Rounds(rounds)
    }

    /// The most that a lane has.
    #[cfg_attr(optimised, inline(always))]
    fn most(&self) -> u32 {
        self.0.iter().fold(0, |most, rounds| most.max(*rounds))
    }

    /// Whether they could be counted.
    #[cfg_attr(optimised, inline(always))]
    pub fn fit(&self) -> bool {
        self.most() < u32::MAX
    }

    /// Whether a round is one of the lane's.
    #[cfg_attr(optimised, inline(always))]
    pub fn has(&self, lane: usize, round: u32) -> bool {
        round < self.0[lane]
    }

    /// The rounds of the lane that has most, each with what the loop's range yields then. `_end` is of the type that the range counts by.
    #[cfg_attr(optimised, inline(always))]
    pub fn steps<T>(&self, start: T, _end: &T) -> impl Iterator<Item = (u32, T)> + use<T, W>
    where
        RangeFrom<T>: Iterator<Item = T>,
    {
        (0..self.most()).zip(start..)
    }

    /// The same from the last to the first: a lane with fewer rounds comes in later. The range is that of the [`Rounds::longest`].
    #[cfg_attr(optimised, inline(always))]
    pub fn steps_back<I: DoubleEndedIterator>(
        &self,
        range: I,
    ) -> impl Iterator<Item = (u32, I::Item)> + use<I, W> {
        (0..self.most()).rev().zip(range.rev())
    }

    /// A lane with most rounds.
    #[cfg_attr(optimised, inline(always))]
    pub fn longest(&self) -> usize {
        self.0.iter().position(|rounds| *rounds == self.most()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane_interchange::strips::{set, strip};

    fn of(counts: [usize; 3], is_in: [bool; 3]) -> Rounds<3> {
        let mut counted = strip();
        counts.iter().enumerate().for_each(|(lane, n)| set(&mut counted, lane, *n));
        Rounds::of(&counted, |lane| is_in[lane])
    }

    #[test]
    fn all_lanes_run_as_often_as_the_longest() {
        let ends = of([2, 0, 3], [true; 3]);
        let steps: Vec<(u32, u8)> = ends.steps(7, &9).collect();
        assert_eq!(steps, [(0, 7), (1, 8), (2, 9)]);
        assert!(ends.has(0, 1) && !ends.has(0, 2) && !ends.has(1, 0) && ends.has(2, 2));
        let back: Vec<(u32, u8)> = of([2, 0, 3], [true; 3]).steps_back(253..=255).collect();
        assert_eq!((back, ends.longest()), (vec![(2, 255), (1, 254), (0, 253)], 2));
        assert_eq!(of([2, 0, 3], [false; 3]).steps_back(0..9).count(), 0);
        assert_eq!(of([2, 0, 3], [true, true, false]).steps(0i64, &0).count(), 2);
        assert_eq!(of([2, 5, 3], [false; 3]).steps(0i64, &0).count(), 0);
        assert!(ends.fit() && !of([1, usize::MAX, 0], [true; 3]).fit());
        assert!(of([1, usize::MAX, 0], [true, false, true]).fit());
    }

    #[test]
    fn ranges_are_counted() {
        assert_eq!(
            (rounds(&(1..=4)), rounds(&(3..3)), rounds(&(4u8..4)), rounds(&(0..=255u8))),
            (4, 0, 0, 256)
        );
        assert_eq!(steps(0..3, 3).sum::<i32>(), 3);
    }
}
