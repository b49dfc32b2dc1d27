//! The schedule: which point a tile serves next.
//!
//! A new schedule is a variant of [`Schedule`] and an arm where it is matched: here, and in the `scheduler` of the wavefront.

use crate::api::options::Schedule;
use crate::native_stack::room;
use crate::simd::Level;
use crate::storage::pc_word::{self, PcWord};

/// How many lanes of a tile wait at each point: per strip, in total, and as a set of points.
pub(super) struct Waiting {
    points: usize,
    /// `[strip * points + point]`.
    counts: Vec<u32>,
    totals: Vec<u32>,
    /// The points with a total other than 0.
    set: Vec<u64>,
}

impl Waiting {
    pub(super) fn new(points: usize, strips: usize) -> Waiting {
        Waiting {
            points,
            counts: room::filled(0, strips * points),
            totals: vec![0; points],
            set: vec![0; points.div_ceil(64)],
        }
    }

    /// Whether there is memory for so many strips.
    pub(super) fn has_room(&mut self, strips: usize) -> bool {
        room::has_all(&mut self.counts, strips * self.points)
    }

    /// The tile has more strips.
    pub(super) fn widen(&mut self, strips: usize) {
        self.counts.resize(strips * self.points, 0);
    }

    /// All lanes at `from` go to `to`, or to no point.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn shift(&mut self, from: u32, to: Option<u32>) {
        let mut moved = 0;
        for counts in self.counts.chunks_exact_mut(self.points) {
            let count = std::mem::take(&mut counts[from as usize]);
            moved += count;
            if let Some(to) = to {
                counts[to as usize] += count;
            }
        }
        self.add(from, 0, moved);
        if let Some(to) = to {
            self.add(to, moved, 0);
        }
    }

    /// A lane of `strip` comes to `point`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn enter(&mut self, strip: usize, point: u32) {
        self.counts[strip * self.points + point as usize] += 1;
        self.add(point, 1, 0);
    }

    /// [`Waiting::enter`] for a lane of each of `strips`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn enter_all(&mut self, strips: impl Iterator<Item = usize>, point: u32) {
        let mut all = 0;
        for strip in strips {
            self.counts[strip * self.points + point as usize] += 1;
            all += 1;
        }
        self.add(point, all, 0);
    }

    /// A lane of `strip` leaves `point`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn leave(&mut self, strip: usize, point: u32) {
        self.counts[strip * self.points + point as usize] -= 1;
        self.add(point, 0, 1);
    }

    /// Counts the lanes of `strip` that are at `point` anew.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn recount<P: PcWord>(&mut self, strip: usize, words: &[P], point: u32, level: Level) {
        let new = pc_word::count(words, point, level) as u32;
        let old = std::mem::replace(&mut self.counts[strip * self.points + point as usize], new);
        self.add(point, new, old);
    }

    #[cfg_attr(optimised, inline(always))]
    fn add(&mut self, point: u32, more: u32, less: u32) {
        let point = point as usize;
        let total = self.totals[point] + more - less;
        self.totals[point] = total;
        let bit = 1 << (point % 64);
        let word = &mut self.set[point / 64];
        *word = if total > 0 { *word | bit } else { *word & !bit };
    }

    /// Whether a lane is at `point`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_at(&self, point: u32) -> bool {
        self.totals[point as usize] > 0
    }

    /// The lanes of `strip` at `point`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn at(&self, strip: usize, point: u32) -> u32 {
        self.counts[strip * self.points + point as usize]
    }

    /// The first point from `from` on where a lane waits.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn first(&self, from: u32) -> Option<u32> {
        let mut at = from as usize / 64;
        let mut word = self.set.get(at)? & (!0 << (from % 64));
        while word == 0 {
            at += 1;
            word = *self.set.get(at)?;
        }
        Some(64 * at as u32 + word.trailing_zeros())
    }

    /// The block to run; lanes wait at blocks only (points below `blocks`). Those from `primitives` on call
    /// primitives: where lanes wait elsewhere, they may join the call.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn pick(&self, schedule: Schedule, primitives: u32, blocks: u32) -> Option<u32> {
        let first = self.first(0).filter(|&point| point < blocks)?;
        let blocks = if first < primitives { primitives } else { blocks };
        match schedule {
            Schedule::EarliestBlock => Some(first),
            Schedule::MostLanes => {
                let rest = &self.totals[first as usize..blocks as usize];
                let (mut best, mut most) = (first, 0);
                for (point, &total) in (first..).zip(rest) {
                    if total > most {
                        (best, most) = (point, total);
                    }
                }
                Some(best)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;

    #[test]
    fn more_than_64_points() {
        let level = Level::new(Isa::Baseline);
        let mut waiting = Waiting::new(200, 2);
        assert_eq!(waiting.first(0), None);
        for point in [3, 70, 70, 199] {
            waiting.enter(point as usize % 2, point);
        }
        assert_eq!((waiting.first(0), waiting.first(4), waiting.first(71)), (Some(3), Some(70), Some(199)));
        assert_eq!(waiting.pick(Schedule::EarliestBlock, 150, 150), Some(3));
        assert_eq!(waiting.pick(Schedule::MostLanes, 150, 150), Some(70));
        for schedule in [Schedule::EarliestBlock, Schedule::MostLanes] {
            assert_eq!(waiting.pick(schedule, 70, 150), Some(3), "lanes at a primitive wait for others");
        }
        assert_eq!(waiting.pick(Schedule::MostLanes, 3, 150), Some(70));
        waiting.leave(1, 3);
        assert_eq!((waiting.first(0), waiting.at(0, 70), waiting.totals[70]), (Some(70), 2, 2));
        waiting.recount(0, &[5u32, 70, 6], 70, level);
        assert_eq!(waiting.totals[70], 1);
        waiting.recount(0, &[5u32, 5, 6], 70, level);
        assert_eq!((waiting.first(0), waiting.pick(Schedule::MostLanes, 150, 150)), (Some(199), None));
        waiting.shift(199, Some(65));
        assert_eq!((waiting.first(0), waiting.at(1, 65), waiting.totals[65]), (Some(65), 1, 1));
        waiting.shift(65, None);
        assert_eq!(waiting.first(0), None);
    }
}
