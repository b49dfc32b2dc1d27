//! The members that nobody has taken yet.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The members of a batch that nobody has taken yet; shared by all workers.
#[derive(Debug)]
pub struct Queue {
    parts: [Range<usize>; 2],
    /// How many have been taken.
    taken: AtomicUsize,
    workers: usize,
}

impl Queue {
    /// Hands out `members` to `workers` cores.
    pub fn new(members: Range<usize>, workers: usize) -> Queue {
        Queue::of([members, 0..0], workers)
    }

    /// Hands out the members of two ranges.
    pub fn of(parts: [Range<usize>; 2], workers: usize) -> Queue {
        Queue { parts, taken: AtomicUsize::new(0), workers: workers.max(1) }
    }

    fn len(&self) -> usize {
        self.parts[0].len() + self.parts[1].len()
    }

    /// How many members wait.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.len() - self.taken.load(Ordering::Relaxed)
    }

    /// Takes up to `max` neighbouring members, leaving the other workers a share while there is enough.
    pub fn take(&self, max: usize) -> Range<usize> {
        self.take_tile(1, max)
    }

    /// The same, but at least `min` members if there are so many.
    pub fn take_tile(&self, min: usize, max: usize) -> Range<usize> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let left = self.len() - taken;
            let share = if self.workers == 1 { left } else { left / (2 * self.workers) };
            let [first, second] = &self.parts;
            let (start, neighbours) = match taken < first.len() {
                true => (first.start + taken, first.len() - taken),
                false => (second.start + (taken - first.len()), left),
            };
            let size = neighbours.min(max).min(share.max(min).max(1));
            if size == 0 {
                return start..start;
            }
            match self.taken.compare_exchange_weak(taken, taken + size, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return start..start + size,
                Err(now) => taken = now,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_taken_once() {
        for workers in [1, 3] {
            let queue = Queue::new(5..1005, workers);
            let (tx, rx) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                for max in [1, 7, 64] {
                    let (tx, queue) = (tx.clone(), &queue);
                    scope.spawn(move || {
                        loop {
                            let taken = queue.take(max);
                            if taken.is_empty() {
                                break;
                            }
                            assert!(taken.len() <= max);
                            taken.for_each(|member| tx.send(member).unwrap());
                        }
                    });
                }
            });
            drop(tx);
            let mut all: Vec<usize> = rx.iter().collect();
            all.sort_unstable();
            assert_eq!(all, (5..1005).collect::<Vec<_>>());
            assert_eq!(queue.waiting(), 0);
        }
    }

    #[test]
    fn two_parts_are_one_after_the_other() {
        let queue = Queue::of([3..6, 10..20], 2);
        let taken: Vec<_> =
            std::iter::repeat_with(|| queue.take_tile(2, 4)).take_while(|t| !t.is_empty()).collect();
        assert_eq!(taken[0], 3..6);
        assert_eq!(taken.into_iter().flatten().collect::<Vec<_>>(), (3..6).chain(10..20).collect::<Vec<_>>());
        assert_eq!(queue.waiting(), 0);
        assert_eq!(Queue::of([3..3, 7..9], 1).take(9), 7..9);
    }

    #[test]
    fn others_get_a_share() {
        assert_eq!(Queue::new(0..100, 2).take(64).len(), 25);
        assert_eq!(Queue::new(0..100, 1).take(64).len(), 64);
        assert_eq!(Queue::new(0..1, 2).take(64).len(), 1);
        assert_eq!(Queue::new(0..10, 2).take(0).len(), 0);
    }
}
