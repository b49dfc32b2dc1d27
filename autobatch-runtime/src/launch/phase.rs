//! Phases: an executor that runs some members, how long it takes, and what its workers leave behind.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::api::fault::FaultList;
use crate::api::options::Executor;
use crate::api::report::{PhaseReport, Purpose};
use crate::api::trace::TraceStep;
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

/// What tiles on vectors have done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TileCounts {
    pub(super) tiles: u64,
    pub(super) given_up: u64,
    pub(super) steps: u64,
    pub(super) compactions: u64,
}

/// What the workers of a run leave behind.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Left>);

/// Faults in no order, what machines have counted, and tiles.
#[derive(Default)]
pub(super) struct Left {
    pub(super) faults: FaultList,
    pub(super) finished: Vec<Finished>,
    pub(super) tiles: TileCounts,
    /// Who ran what for how long, if there is to be a report.
    pub(super) phases: Vec<PhaseReport>,
    /// The recording of members that have run again, and whether it is complete.
    pub(super) trace: (Vec<TraceStep>, bool),
}

impl Ledger {
    /// Adds the faults of a worker.
    pub(super) fn add(&self, mut faults: FaultList) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).faults.append(&mut faults);
    }

    /// Adds the faults and the counts of a worker that has run the machine.
    pub(super) fn add_finished(&self, mut finished: Finished) {
        let mut ledger = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.faults.append(&mut finished.faults);
        ledger.finished.push(finished);
    }

    /// Adds the recording of members that have run again.
    pub(super) fn add_trace(&self, steps: Vec<TraceStep>, complete: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).trace = (steps, complete);
    }

    /// Adds the tiles of a worker.
    pub(super) fn add_tiles(&self, tiles: &TileCounts) {
        let mut ledger = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.tiles.tiles += tiles.tiles;
        ledger.tiles.given_up += tiles.given_up;
        ledger.tiles.steps += tiles.steps;
        ledger.tiles.compactions += tiles.compactions;
    }

    /// Adds a phase. Those of one executor for one purpose are one.
    pub(super) fn add_phase(&self, purpose: Purpose, executor: Executor, members: usize, time: Duration) {
        let mut ledger = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut phases = ledger.phases.iter_mut();
        match phases.find(|phase| (phase.purpose, phase.executor) == (purpose, executor)) {
            Some(phase) => {
                phase.members += members;
                phase.time += time;
            }
            None => ledger.phases.push(PhaseReport { purpose, executor, members, time }),
        }
    }

    /// All of it.
    pub(super) fn into_parts(self) -> Left {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
