//! Members as scalar code on fibers, as far as they reach primitives.

use std::cell::RefCell;

use super::crowd::Crowd;
use super::launcher::{Launch, PRIMITIVE_LANES};
use super::phase::{Ledger, Parts, Took};
use super::scalar::PIECE;
use super::ways::Code;
use crate::api::fault::FaultList;
use crate::batch::Queue;
use crate::fiber::{Reach, Worker, WorkerRules};
use crate::native_stack::coroutine::KEPT;
use crate::native_stack::turn;

/// The same on fibers where there are so many threads that not all of their stacks are kept.
const FIBER_LANES: usize = 256;
/// Members of a thread that find out whether a program reaches a primitive, at most.
const FIRST: usize = 256;
/// Fibers of a thread and of all threads, at most.
const FIBERS: [usize; 2] = [4096, 12 << 10];

/// Runs members without fibers, given what is to be called when one has had its time, if anything is.
type Without<'w> = dyn Fn(&Worker<'_>, Option<&dyn Fn()>, &mut FaultList) + Sync + 'w;

impl Launch<'_> {
    /// How members run on fibers.
    pub(super) fn rules(&self) -> WorkerRules {
        let kept = (KEPT / self.threads).clamp(FIBER_LANES, PRIMITIVE_LANES);
        let lanes = self.lanes(kept).min(self.share());
        WorkerRules {
            lanes,
            fibers: FIBERS[0].min(FIBERS[1] / self.threads).max(lanes),
            refill: !self.options.no_refill,
            schedule: self.schedule(),
            max_depth: self.max_depth(),
            max_steps: self.max_steps(),
        }
    }

    /// Scalar code on each member, on fibers as far as members reach primitives.
    pub(super) fn fibers(&self, parts: Parts, threads: usize, code: &dyn Code, ledger: &Ledger) -> Took {
        let queue = Queue::of(parts, threads);
        let took = self.fiber_workers(&queue, threads, code, ledger, &|worker, relief, faults| {
            let Some(relief) = relief else {
                return self.scalar_worker(&queue, PIECE, Some(worker), code, faults);
            };
            let _here = worker.without_fiber();
            let found = RefCell::default();
            self.relieved(&queue, relief, Some(worker), code, &found);
            faults.append(&mut found.into_inner());
        });
        self.end_waiting(&queue, ledger);
        took
    }

    /// Runs the first members on fibers to see whether the program reaches a primitive, and all of them if it does; how many it has run.
    pub(super) fn find_out(&self, code: &dyn Code, ledger: &Ledger) -> usize {
        let queue = Queue::of(self.all(), self.threads);
        self.fiber_workers(&queue, self.threads, code, ledger, &|_, _, _| ());
        Reach::of(self.program).not_found();
        self.members - queue.waiting()
    }

    /// A worker on each thread for fibers; `without` as in [`Worker::run_queue`]. If the run may be ended from outside, others run when a member has
    /// had its time: not those that wait beside it on the same thread.
    fn fiber_workers(
        &self,
        queue: &Queue,
        threads: usize,
        code: &dyn Code,
        ledger: &Ledger,
        without: &Without<'_>,
    ) -> Took {
        let reached = Reach::of(self.program);
        let rules = self.rules();
        let member = |member, depth| self.scalar_member(member, depth, code);
        let has_result = |member| code.is_set(member);
        let work = |relief: Option<&dyn Fn()>| {
            let mut faults = FaultList::default();
            let worker = Worker::new(rules, self, reached, &member, &has_result);
            let first = if reached.is_unknown() { rules.lanes.min(FIRST) } else { 0 };
            worker.run_queue(queue, first, &mut faults, &|faults| without(&worker, relief, faults));
            drop(worker);
            ledger.add(faults);
        };
        let relieved = |relief: &dyn Fn()| turn::relieved(relief, || work(Some(relief)));
        let crowd = Crowd::new(self, queue, &relieved);
        self.spread(threads, &|| match self.ends() && self.counts {
            true => crowd.run(),
            false => work(None),
        })
    }
}
