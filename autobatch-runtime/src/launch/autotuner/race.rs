//! Trials on one thread while the others run the batch.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::phase::{Parts, Phase, members_in};
use crate::api::options::Executor;

/// The places in the batch where members are taken for trials: neighbours often take alike.
pub(super) const PLACES: usize = 4;
/// How many times longer another thread runs at a time later.
pub(super) const LONGER: usize = 8;
/// A piece that takes less is too short: to begin and end it takes as long.
const SHORT_PIECE: Duration = Duration::from_micros(40);
/// The members of a trial that may be the last where it is clear.
pub(super) const ENOUGH: usize = 64;

/// The members that no trial has taken: two parts, taken from at both ends, so that members of four
/// places are tried and few ranges are left.
pub(super) struct Rest {
    pub(super) parts: Parts,
    pub(super) turn: usize,
    /// Nanoseconds that the phases have taken.
    pub(super) wall: f64,
}

impl Rest {
    pub(super) fn new(members: Range<usize>) -> Rest {
        let middle = members.start.midpoint(members.end);
        Rest { parts: [members.start..middle, middle..members.end], turn: 0, wall: 0.0 }
    }

    /// Up to `len` members of the next place that has any.
    pub(super) fn take(&mut self, len: usize) -> Range<usize> {
        for _ in 0..PLACES {
            let (part, front) = (&mut self.parts[self.turn % 2], self.turn % PLACES < 2);
            self.turn += 1;
            let len = len.min(part.len());
            if len > 0 {
                let cut = if front { part.start + len } else { part.end - len };
                let halves = (part.start..cut, cut..part.end);
                let (taken, left) = if front { halves } else { (halves.1, halves.0) };
                *part = left;
                return taken;
            }
        }
        0..0
    }

    /// Up to `len` members of two places.
    pub(super) fn take_two(&mut self, len: usize) -> Parts {
        [self.take(len - len / 2), self.take(len / 2)]
    }

    /// Runs a phase; its time in nanoseconds.
    pub(super) fn time(
        &mut self,
        phase: &Phase<'_>,
        executor: Executor,
        parts: Parts,
        threads: usize,
    ) -> f64 {
        let members = members_in(&parts);
        if members == 0 {
            return 0.0;
        }
        let wall = phase(executor, parts, threads.min(members)).wall.as_nanos() as f64;
        self.wall += wall;
        wall
    }
}

/// The batch while trials are made on one thread and the others run its members.
pub(super) struct Race {
    pub(super) rest: Mutex<Rest>,
    /// The best so far, which they run.
    pub(super) rival: Executor,
    /// Whether they shall go on.
    going: AtomicBool,
    /// Members they have run, and the nanoseconds that took.
    ran: AtomicUsize,
    time: AtomicU64,
    /// When the trials were over, and how many members were left then.
    over: Mutex<Option<(Instant, usize)>>,
}

impl Race {
    pub(super) fn new(rest: Rest, rival: Executor) -> Race {
        Race {
            rest: Mutex::new(rest),
            rival,
            going: AtomicBool::new(true),
            ran: AtomicUsize::new(0),
            time: AtomicU64::new(0),
            over: Mutex::new(None),
        }
    }

    pub(super) fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs pieces, of at first so many members, while it is worth it.
    ///
    /// How many members a piece has at last is by its time: what was expected of a member may be far from what it costs.
    pub(super) fn help(&self, mut piece: usize, threads: usize, phase: &Phase<'_>) {
        let most = LONGER * piece.max(1);
        while self.going.load(Ordering::Relaxed) {
            let parts = {
                let mut rest = self.rest();
                let share = members_in(&rest.parts) / (2 * threads);
                rest.take_two(piece.min(share).max(1))
            };
            let members = members_in(&parts);
            if members == 0 {
                return;
            }
            let took = phase(self.rival, parts, 1).wall;
            self.ran.fetch_add(members, Ordering::Relaxed);
            self.time.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
            if piece < most || took < SHORT_PIECE {
                piece *= 2;
            }
        }
    }

    /// The trials are over; the others go on if they run the best.
    pub(super) fn decided(&self, best: Executor) {
        let left = members_in(&self.rest().parts);
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), left));
        self.going.store(best == self.rival, Ordering::Relaxed);
    }

    /// What is still to be run; how many members have been since the trials were over or still are, and how many
    /// nanoseconds that has taken.
    pub(super) fn end(self, best: Executor) -> (Rest, usize, f64) {
        let rest = self.rest.into_inner().unwrap_or_else(PoisonError::into_inner);
        match self.over.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((begin, left)) if best == self.rival => (rest, left, begin.elapsed().as_nanos() as f64),
            _ => {
                let left = members_in(&rest.parts);
                (rest, left, 0.0)
            }
        }
    }

    /// Runs `len` members by an executor, and as many by the best so far if no other thread does; what a member
    /// costs, in nanoseconds on one thread. That of the best is not known if both are few.
    pub(super) fn pair(
        &self,
        executor: Executor,
        len: usize,
        single_thread: bool,
        phase: &Phase<'_>,
    ) -> (f64, Option<f64>) {
        let so_far = || (self.ran.load(Ordering::Relaxed), self.time.load(Ordering::Relaxed) as f64);
        let take = || self.rest().take_two(len);
        let time = |executor, parts: Parts| {
            let members = members_in(&parts).max(1) as f64;
            match single_thread {
                true => self.rest().time(phase, executor, parts, 1) / members,
                // What is lost is seen from all threads' time.
                false => phase(executor, parts, 1).wall.as_nanos() as f64 / members,
            }
        };
        let before = so_far();
        let cost = time(executor, take());
        if single_thread {
            return (cost, Some(time(self.rival, take())));
        }
        let after = so_far();
        let rival = match after.0 - before.0 {
            members if members >= len.min(ENOUGH) => Some((after.1 - before.1) / members as f64),
            // The other threads are busy.
            _ if len >= ENOUGH => Some(time(self.rival, take())),
            _ => None,
        };
        (cost, rival)
    }
}
