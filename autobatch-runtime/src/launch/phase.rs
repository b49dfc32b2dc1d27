//! Phases: an executor that runs some members, how long it takes, and what its workers leave behind.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::api::fault::Fault;
use crate::api::options::Executor;
use crate::machine::Finished;

/// Members of two places of the batch.
pub(super) type Parts = [Range<usize>; 2];

pub(super) fn members_in(parts: &Parts) -> usize {
    parts[0].len() + parts[1].len()
}

/// Runs a phase, an executor on some members with so many threads.
pub(super) type Phase<'a> = dyn Fn(Executor, Parts, usize) -> Took + Sync + 'a;

/// How long a phase has taken: its threads' work, and all of it, in which they are also woken and waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    pub(super) work: Duration,
    pub(super) wall: Duration,
}

/// What the workers of a run leave behind.
#[derive(Default)]
pub(super) struct Ledger(Mutex<(Vec<Fault>, Vec<Finished>)>);

impl Ledger {
    /// Adds the faults of a worker.
    pub(super) fn add(&self, mut faults: Vec<Fault>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.append(&mut faults);
    }

    /// Adds the faults and the counts of a worker that has run the machine.
    pub(super) fn add_finished(&self, mut finished: Finished) {
        let mut ledger = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.0.append(&mut finished.faults);
        ledger.1.push(finished);
    }

    /// All faults, in no order, and the counts.
    pub(super) fn into_parts(self) -> (Vec<Fault>, Vec<Finished>) {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
