//! What is kept of earlier runs.

use crate::api::options::Executor;
use crate::api::report::Measured;

/// How much more a whole run is believed to cost each time that it does.
const AGING: f64 = 1.05;
/// The part of a whole run's cost that another's must be below.
const BETTER: f64 = 0.95;

/// What earlier runs have found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) executor: Executor,
    /// Nanoseconds per member by executor.
    pub(super) costs: [Option<Cost>; 3],
    /// Nanoseconds of all runs, and those lost in trials.
    pub(super) time: f64,
    pub(super) lost: f64,
    /// How far the trials of each executor have come.
    pub(super) trials: [Progress; 3],
    /// Runs since a trial, and after how many the next is due.
    pub(super) runs: u32,
    pub(super) again: u32,
    /// Whether a search has come to its end.
    pub(super) searched: bool,
}

/// What a member costs when an executor runs the whole batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) nanoseconds: f64,
    /// Of whole runs, the better of the last; not of a trial.
    pub(super) sure: bool,
}

/// How far the trials of an executor have come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// The trial that comes next, and how many times more than the rival a member has cost in the one before.
    pub(super) next: usize,
    pub(super) ratio: f64,
    /// How many times more a whole run has cost than the trials said.
    pub(super) bias: f64,
    /// How many times in a row it was behind, and how often trials are still left out for that.
    pub(super) behind: u32,
    pub(super) wait: u32,
}

impl Record {
    pub(super) const NEW: Record = Record {
        executor: Executor::Scalar,
        costs: [None; 3],
        time: 0.0,
        lost: 0.0,
        trials: [Progress::NONE; 3],
        runs: 0,
        again: 0,
        searched: false,
    };

    /// Notes what a whole run has cost. One that was slow may have been in the way of other programs.
    pub(super) fn note(&mut self, executor: Executor, cost: f64) {
        let known = self.costs[index(executor)].filter(|known| known.sure);
        let nanoseconds = known.map_or(cost, |known| cost.min(AGING * known.nanoseconds));
        self.costs[index(executor)] = Some(Cost { nanoseconds, sure: true });
    }

    /// Notes what a trial says that a whole run of the executor would cost which has lost it. Whole runs that have cost less were of other data.
    pub(super) fn correct(&mut self, executor: Executor, nanoseconds: f64) {
        self.guess(executor, nanoseconds);
        if let Some(cost) = &mut self.costs[index(executor)] {
            cost.nanoseconds = cost.nanoseconds.max(nanoseconds);
        }
    }

    /// Notes what a trial says that a whole run would cost.
    pub(super) fn guess(&mut self, executor: Executor, nanoseconds: f64) {
        let known = &mut self.costs[index(executor)];
        if !known.is_some_and(|known| known.sure) {
            *known = Some(Cost { nanoseconds, sure: false });
        }
    }

    pub(super) fn cost(&self, executor: Executor) -> Option<f64> {
        self.costs[index(executor)].map(|cost| cost.nanoseconds)
    }

    /// The times of all executors that have run members. One that has lost its trials has cost so many times what the best costs.
    pub(super) fn measured(&self) -> Vec<Measured> {
        let best = self.cost(self.executor);
        let of = |executor: Executor| {
            let ratio = self.trials[index(executor)].ratio;
            let trial = best.filter(|_| ratio > 0.0).map(|best| ratio * best);
            let nanoseconds = self.cost(executor).or(trial)?;
            Some(Measured { executor, nanoseconds, whole: self.is_sure(executor) })
        };
        EXECUTORS.into_iter().filter_map(of).collect()
    }

    /// The machine that whole runs have shown to be so many times as fast as scalar code, or that.
    pub(super) fn ahead_of_scalar(&self, times: f64) -> Executor {
        match (self.cost(self.executor), self.cost(Executor::Scalar)) {
            (Some(best), Some(scalar)) if self.is_sure(self.executor) && times * best < scalar => {
                self.executor
            }
            _ => Executor::Scalar,
        }
    }

    /// Whether the search has ended with scalar code.
    pub(super) fn is_scalar_for_certain(&self) -> bool {
        self.executor == Executor::Scalar && self.searched && self.is_sure(Executor::Scalar)
    }

    /// Whether whole runs have told what an executor costs.
    pub(super) fn is_sure(&self, executor: Executor) -> bool {
        self.costs[index(executor)].is_some_and(|cost| cost.sure)
    }

    /// Whether an executor has run no member yet.
    pub(super) fn is_untried(&self, executor: Executor) -> bool {
        let Progress { next, ratio, .. } = self.trials[index(executor)];
        next == 0 && ratio == 0.0 && self.cost(executor).is_none()
    }

    /// Takes another executor if whole runs of it have cost less.
    pub(super) fn compare(&mut self) {
        for other in EXECUTORS {
            if let (Some(now), Some(then)) = (self.cost(self.executor), self.cost(other))
                && then < BETTER * now
            {
                self.executor = other;
            }
        }
    }
}

impl Progress {
    pub(super) const NONE: Progress = Progress { next: 0, ratio: 0.0, bias: 1.0, behind: 0, wait: 0 };
}

pub(super) const EXECUTORS: [Executor; 3] = [Executor::Scalar, Executor::Masked, Executor::ProgramCounter];

pub(super) fn index(executor: Executor) -> usize {
    match executor {
        Executor::ProgramCounter => 2,
        Executor::Masked => 1,
        _ => 0,
    }
}
