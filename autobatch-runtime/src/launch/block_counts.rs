//! Block counts of a report: of some members, so that the engine stays the same, and its speed.
//!
//! Only the machine counts blocks, and it takes several times as long then. A program that only computes may run twice: vector code runs
//! all members, and the machine the first ones again, for a part of the time. Of another program the machine runs the first members with
//! counts and the others without: no more than a part of them, unless that takes hardly any time.

use std::time::{Duration, Instant};

use super::counted::enter;
use super::launcher::Launch;
use super::machine::Blocks;
use super::phase::Ledger;
use super::ways::Code;
use crate::api::options::Executor;
use crate::batch::Queue;
use crate::fiber::CurrentWorker;
use crate::machine::{Core, Settings};
use crate::storage::Store;

/// The part of a run's time in which members run again, and the least time.
const PART: u32 = 8;
const LEAST: Duration = Duration::from_micros(if cfg!(debug_assertions) { 500_000 } else { 40 });
/// The members that run again first; then twice as many each time.
const FIRST: usize = 64;
/// The members that run with counts where none may run again, at most.
const FRONT: usize = 256;

impl Launch<'_> {
    /// Runs members at the front with counts, of a program that does more than compute; how many. Where scalar code may be chosen they are those
    /// that there is time for, since it may be much faster.
    pub(super) fn count_front(&self, code: &dyn Code, ledger: &Ledger) -> usize {
        let most = FRONT.min(self.members - self.begun);
        let (executor, mut size) = match self.executor() {
            Executor::Auto => (Executor::Masked, 1),
            executor => (executor, most.min(self.members.div_ceil(PART as usize))),
        };
        let settings = Settings { report: true, ..self.settings(executor) };
        let (begin, mut counted) = (Instant::now(), 0);
        while size > 0 {
            let first = self.begun + counted;
            self.machine_with(settings.clone(), [first..first + size, 0..0], self.threads, code, ledger);
            counted += size;
            // As many as there is time for, if they take as long as those before.
            let spent = begin.elapsed();
            let left = LEAST.saturating_sub(spent).as_secs_f64() / spent.as_secs_f64();
            size = ((counted as f64 * left) as usize).min(most - counted);
        }
        counted
    }

    /// Runs some members again, of a program that only computes and has taken so long; how many.
    pub(super) fn count_again(
        &self,
        executor: Executor,
        took: Duration,
        code: &dyn Code,
        ledger: &Ledger,
    ) -> usize {
        let until = Instant::now() + (took / PART).max(LEAST);
        let executor = if executor == Executor::Scalar { Executor::Masked } else { executor };
        let settings = Settings { report: true, max_steps: u64::MAX, fair: 0, ..self.settings(executor) };
        let (mut begin, mut size, mut counted) = (0, FIRST, 0);
        while begin < self.members && Instant::now() < until {
            // Who was ended or has panicked has no result, and must not get one.
            let is_set = code.is_set(begin);
            let all = begin..self.members.min(begin + size);
            let members = begin..begin + all.take_while(|member| code.is_set(*member) == is_set).count();
            begin = members.end;
            size = (2 * size).min(self.members);
            if is_set {
                let queue = Queue::new(members, 1);
                let mut core = Core::new(self.program, settings.clone(), &queue, &Blocks);
                core.go_on_until(until, 1);
                let _nobody = CurrentWorker::nobody();
                enter(&mut core, &Store::new(), code);
                let mut finished = core.finish();
                finished.faults.clear();
                counted += finished.members;
                ledger.add_finished(finished);
            }
        }
        counted
    }
}
