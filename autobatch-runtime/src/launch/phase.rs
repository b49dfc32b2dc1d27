//! Phases: an executor that runs some members, how long it takes, and what its workers leave behind.

use std::ops::Range;
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

/// What the workers of one phase leave behind.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) faults: Vec<Fault>,
    pub(super) finished: Vec<Finished>,
}
