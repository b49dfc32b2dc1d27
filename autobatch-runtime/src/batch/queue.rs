//! The members that nobody has taken yet.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The members of a batch that nobody has taken yet; shared by all workers.
#[derive(Debug)]
pub struct Queue {
    parts: [Range<usize>; 2],
    /// How many have been taken.
    taken: AtomicUsize,
    workers: usize,
    /// Members that have been taken and given back, and how many they are.
    returned: Mutex<Vec<Range<usize>>>,
    returns: AtomicUsize,
    /// The queue that members are taken from when there are no more here, and those that have been.
    behind: Option<Arc<Queue>>,
    borrowed: Mutex<Vec<Range<usize>>>,
}

impl Queue {
    /// Hands out `members` to `workers` cores.
    pub fn new(members: Range<usize>, workers: usize) -> Queue {
        Queue::of([members, 0..0], workers)
    }

    /// Hands out the members of two ranges.
    pub fn of(parts: [Range<usize>; 2], workers: usize) -> Queue {
        let (taken, borrowed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let (returned, returns) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        Queue { parts, taken, workers: workers.max(1), returned, returns, behind: None, borrowed }
    }

    /// Hands out `members` to one core, and then those of another queue.
    pub fn before(members: Range<usize>, behind: Arc<Queue>) -> Queue {
        Queue { behind: Some(behind), ..Queue::new(members, 1) }
    }

    /// The members that have been taken from the queue behind.
    pub fn borrowed(self) -> Vec<Range<usize>> {
        self.borrowed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        self.parts[0].len() + self.parts[1].len()
    }

    /// How many members wait.
    #[inline]
    pub fn waiting(&self) -> usize {
        let behind = self.behind.as_ref().map_or(0, |queue| queue.waiting());
        let returned = self.returns.load(Ordering::Relaxed);
        self.len() - self.taken.load(Ordering::Relaxed) + returned + behind
    }

    /// Takes up to `max` neighbouring members, leaving the other workers a share while there is enough.
    pub fn take(&self, max: usize) -> Range<usize> {
        self.take_tile(1, max)
    }

    /// The same, but at least `min` members if there are so many.
    pub fn take_tile(&self, min: usize, max: usize) -> Range<usize> {
        if self.returns.load(Ordering::Relaxed) > 0
            && let Some(members) = self.take_returned(max)
        {
            return members;
        }
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
                return self.borrow(min, max).unwrap_or(start..start);
            }
            match self.taken.compare_exchange_weak(taken, taken + size, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return start..start + size,
                Err(now) => taken = now,
            }
        }
    }
}

impl Queue {
    /// Members that have been taken and have not begun are for others.
    #[cold]
    pub fn give_back(&self, members: Range<usize>) {
        if !members.is_empty() {
            let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
            self.returns.fetch_add(members.len(), Ordering::Relaxed);
            returned.push(members);
        }
    }

    /// Takes some of those.
    #[cold]
    fn take_returned(&self, max: usize) -> Option<Range<usize>> {
        let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        let last = returned.last_mut()?;
        let members = last.start..last.start + last.len().min(max);
        last.start = members.end;
        if last.start == last.end {
            returned.pop();
        }
        self.returns.fetch_sub(members.len(), Ordering::Relaxed);
        Some(members).filter(|members| !members.is_empty())
    }

    /// Takes members from the queue behind.
    #[cold]
    fn borrow(&self, min: usize, max: usize) -> Option<Range<usize>> {
        let members = self.behind.as_ref()?.take_tile(min, max);
        if max > 0 && !members.is_empty() {
            self.borrowed.lock().unwrap_or_else(PoisonError::into_inner).push(members.clone());
        }
        Some(members)
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
    fn one_queue_is_behind_another() {
        let behind = Arc::new(Queue::new(10..14, 1));
        let queue = Queue::before(0..3, behind.clone());
        assert_eq!((queue.waiting(), queue.take(2), queue.take(2), queue.take(3)), (7, 0..2, 2..3, 10..13));
        assert_eq!((behind.take(9), queue.take(9).len(), queue.waiting()), (13..14, 0, 0));
        assert_eq!(queue.borrowed(), vec![10..13]);
    }

    #[test]
    fn members_that_are_given_back_are_taken_again() {
        let queue = Queue::new(0..10, 1);
        assert_eq!(queue.take(6), 0..6);
        queue.give_back(2..6);
        queue.give_back(0..0);
        assert_eq!((queue.waiting(), queue.take(0).len(), queue.take(3), queue.waiting()), (8, 0, 2..5, 5));
        assert_eq!((queue.take(3), queue.take(9), queue.take(1).len()), (5..6, 6..10, 0));
    }

    #[test]
    fn others_get_a_share() {
        assert_eq!(Queue::new(0..100, 2).take(64).len(), 25);
        assert_eq!(Queue::new(0..100, 1).take(64).len(), 64);
        assert_eq!(Queue::new(0..1, 2).take(64).len(), 1);
        assert_eq!(Queue::new(0..10, 2).take(0).len(), 0);
    }
}
