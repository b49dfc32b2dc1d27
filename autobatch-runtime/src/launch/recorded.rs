//! Members whose way through the blocks is recorded.
//!
//! Where the machine runs the batch it records as it goes. A program that only computes may run some members again, and of others the first
//! members run by themselves.

use std::collections::BTreeSet;
use std::ops::Range;

use super::counted::enter;
use super::launcher::Launch;
use super::machine::Blocks;
use super::phase::{Ledger, Left, Parts, members_in};
use super::ways::Code;
use crate::api::options::Executor;
use crate::api::trace::{STEPS, Trace};
use crate::batch::Queue;
use crate::fiber::CurrentWorker;
use crate::machine::{Core, Settings};
use crate::storage::Store;

impl Launch<'_> {
    /// The members that are recorded while the batch runs: the first ones, where the blocks of all are counted.
    pub(super) fn recorded(&self) -> Parts {
        let recorded = if self.counts_all() { self.options.trace.min(self.members) } else { 0 };
        [0..recorded, 0..0]
    }

    /// Runs the first members by themselves, of a program that does more than compute; how many.
    pub(super) fn record_front(&self, code: &dyn Code, ledger: &Ledger) -> usize {
        let count = self.options.trace.min(self.members);
        let settings = self.recording(self.executor(), [0..count, 0..0]);
        self.machine_with(settings, [0..count, 0..0], 1, code, ledger);
        count
    }

    /// The settings for members that run in order to be recorded.
    fn recording(&self, executor: Executor, members: Parts) -> Settings {
        let executor = match executor {
            Executor::ProgramCounter => executor,
            _ => Executor::Masked,
        };
        let lanes = self.lanes(members_in(&members).div_ceil(2));
        Settings { report: true, lanes, trace: members, ..self.settings(executor) }
    }

    /// Runs some members again, of a program that only computes; how many.
    pub(super) fn record_again(&self, executor: Executor, code: &dyn Code, ledger: &Ledger) -> usize {
        // Who was ended or has panicked has no result, and must not get one.
        let run = |from: usize, most: usize| -> Range<usize> {
            let begin = (from..self.members).find(|member| code.is_set(*member)).unwrap_or(self.members);
            let all = (begin..self.members).take(most);
            begin..begin + all.take_while(|member| code.is_set(*member)).count()
        };
        let most = self.options.trace;
        let all = most >= self.members;
        let first = run(0, if all { most } else { most.div_ceil(2) });
        let second = run(if all { first.end } else { (self.members / 2).max(first.end) }, most - first.len());
        let members = [first, second];
        let queue = Queue::of(members.clone(), 1);
        let settings = Settings { max_steps: u64::MAX, fair: 0, ..self.recording(executor, members) };
        let mut core = Core::new(self.program, settings, &queue, &Blocks);
        core.end_when_recorded();
        let _nobody = CurrentWorker::nobody();
        enter(&mut core, &Store::new(), code);
        let complete = !core.is_paused();
        let finished = core.finish();
        ledger.add_trace(finished.trace, complete);
        finished.members
    }

    /// The recording of a run: where several workers have one, the longest.
    pub(super) fn trace(&self, executor: Executor, left: &Left) -> Option<Trace> {
        let worker = left.finished.iter().map(|worker| &worker.trace).max_by_key(|steps| steps.len());
        let (mut steps, complete) = match worker.filter(|steps| !steps.is_empty()) {
            Some(steps) => (steps.clone(), steps.len() < STEPS),
            None => left.trace.clone(),
        };
        for visit in steps.iter_mut().flat_map(|step| &mut step.visits) {
            visit.member = self.numbering.shown(visit.member);
        }
        if steps.is_empty() {
            return None;
        }
        let members: BTreeSet<usize> =
            steps.iter().flat_map(|step| &step.visits).map(|visit| visit.member).collect();
        let executor = if executor == Executor::Scalar { Executor::Masked } else { executor };
        Some(Trace {
            members: members.into_iter().collect(),
            steps,
            complete,
            executor,
            program: self.program,
        })
    }
}
