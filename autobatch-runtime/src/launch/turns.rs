//! Members as scalar code that looks at the limits of the run, in turns: one that takes long keeps no other from running.
//!
//! A member of a program in blocks is suspended: its locals may wait at calls and loops while others run on its thread. One of another function
//! waits on its own thread ([`super::crowd`]).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use super::crowd::Crowd;
use super::launcher::Launch;
use super::machine::Blocks;
use super::phase::{Ledger, Parts, Took};
use super::scalar::{PIECE, SLICE_OF_THREAD};
use super::ways::Code;
use crate::api::fault::{Fault, FaultList, ended};
use crate::batch::{Queue, Running, Taken, Watch, begin_slices, reason, slice_used, voice};
use crate::fiber::{Reach, Worker, WorkerRules};
use crate::native_stack::coroutine::Stack;
use crate::native_stack::depth::Depth;
use crate::native_stack::turn::{self, Turn};

/// How long a member runs until it is suspended, at least.
const SLICE: Duration = Duration::from_micros(500);
/// And at most.
const LONGEST: Duration = Duration::from_millis(8);
/// How many times as long as the members before it one runs until it is suspended for the first time.
const LONGER: u32 = 4;
/// Short members between two looks whether the run is over: the clock takes as long as some of them.
const UNASKED: u32 = 16;
/// Members of a worker that are suspended at a time, at most.
const SUSPENDED: usize = 2048;

/// The members of a worker.
struct Members<'a> {
    queue: &'a Queue,
    /// Those that it has taken from the queue and that have not begun.
    taken: Taken,
    /// The slice of a member that begins.
    slice: Cell<Duration>,
    /// Whether a member goes on that was suspended: then no other begins on its stack.
    again: Cell<bool>,
    /// Whether no more members are to begin here.
    stops: &'a dyn Fn() -> bool,
}

impl<'a> Members<'a> {
    /// Members that have so much time at a time.
    fn new(queue: &'a Queue, slice: Duration, stops: &'a dyn Fn() -> bool) -> Members<'a> {
        let (taken, slice, again) = (Taken::default(), Cell::new(slice), Cell::new(false));
        Members { queue, taken, slice, again, stops }
    }

    /// Whether a member is left that may begin.
    fn has_next(&self) -> bool {
        if (self.stops)() {
            self.give_back();
            return false;
        }
        if self.taken.is_empty() {
            self.taken.put(self.queue.take(PIECE));
        }
        !self.taken.is_empty()
    }

    fn are_left(&self) -> bool {
        !self.taken.is_empty() || self.queue.waiting() > 0
    }

    /// Others begin what this worker has taken.
    fn give_back(&self) {
        self.queue.give_back(self.taken.give());
    }
}

impl Launch<'_> {
    /// Scalar code on each member of a run whose limits are looked at inside of members.
    pub(super) fn in_turns(&self, parts: Parts, threads: usize, code: &dyn Code, ledger: &Ledger) -> Took {
        let queue = Queue::of(parts, threads);
        let reached = Reach::of(self.program);
        let worker = |turns: &dyn Fn(&RefCell<FaultList>)| {
            // Primitives that are reached call their kernels for one row.
            let (member, has_result) = (|_, _| unreachable!("members run without a fiber"), |_| false);
            let rules = WorkerRules { max_steps: u64::MAX, ..self.rules() };
            let worker = Worker::new(rules, &Blocks, reached, &member, &has_result);
            let _here = worker.without_fiber();
            let faults = RefCell::default();
            turns(&faults);
            ledger.add(faults.into_inner());
        };
        let relieved = |relief: &dyn Fn()| {
            worker(&|faults| self.relieved(&queue, relief, None, code, faults));
        };
        let crowd = Crowd::new(self, &queue, &relieved);
        let took = self.spread(threads, &|| match (self.ends(), self.per_member) {
            (true, true) => crowd.run(),
            (ends, _) => worker(&|faults| self.turns(&queue, ends, code, faults)),
        });
        self.end_waiting(&queue, ledger);
        took
    }

    /// One worker's members. They are not suspended: `relief` is called when one has had its time. Those of a `worker` begin until one of them
    /// reaches a primitive.
    pub(super) fn relieved(
        &self,
        queue: &Queue,
        relief: &dyn Fn(),
        worker: Option<&Worker<'_>>,
        code: &dyn Code,
        faults: &RefCell<FaultList>,
    ) {
        let stops = || worker.is_some_and(Worker::has_reached);
        let members = Members::new(queue, SLICE_OF_THREAD, &stops);
        let others_run = || {
            members.give_back();
            relief();
        };
        turn::relieved(&others_run, || self.run_members(&members, worker, code, faults));
    }

    /// One worker's members, who are suspended when they have had their time, if the run may be ended from outside.
    fn turns(&self, queue: &Queue, ends: bool, code: &dyn Code, faults: &RefCell<FaultList>) {
        let slice = if ends { SLICE } else { Duration::MAX };
        let members = Members::new(queue, slice, &|| false);
        let mut stacks = Vec::new();
        let mut waiting: VecDeque<Turn> = VecDeque::new();
        loop {
            let turn = match members.are_left() && waiting.len() < SUSPENDED {
                true => {
                    let stack = if ends { stacks.pop().or_else(Stack::take) } else { None };
                    let Some(stack) = stack else {
                        self.run_members(&members, None, code, faults);
                        continue;
                    };
                    members.again.set(false);
                    let body = || self.run_members(&members, None, code, faults);
                    // SAFETY: all turns are run to their ends here, or dropped with `waiting`; what the body borrows is declared before it.
                    Some(unsafe { Turn::new(stack, body) })
                }
                false => {
                    members.again.set(true);
                    begin_slices(members.slice.get());
                    waiting.pop_front()
                }
            };
            let Some(mut turn) = turn else { break };
            match turn.go_on() {
                true => stacks.push(turn.into_stack()),
                false => waiting.push_back(turn),
            }
        }
        Stack::keep(stacks);
    }

    /// Members one after the other, as long as there are some and none was suspended. `worker` counts the primitives of each.
    fn run_members(
        &self,
        members: &Members<'_>,
        worker: Option<&Worker<'_>>,
        code: &dyn Code,
        faults: &RefCell<FaultList>,
    ) {
        let depth = Depth::root(self.max_depth());
        let _published = depth.publish();
        let steps = self.options.max_steps.filter(|_| self.counts_steps);
        let running = Running::of(&members.taken, steps);
        let fault = |member, kind, message| {
            let fault = Fault { member, kind, message };
            voice::tell(&fault, self.numbering);
            faults.borrow_mut().push(fault);
            self.ended(1);
        };
        // Who listens is told of each.
        let some = if self.options.progress.is_some() || worker.is_some() { 1 } else { UNASKED };
        begin_slices(members.slice.get());
        while members.has_next() {
            if let Some(kind) = self.over() {
                for member in members.taken.give() {
                    fault(member, kind, ended(kind));
                }
                continue;
            }
            worker.inspect(|worker| worker.begins_without_fiber());
            running.may_begin(some);
            let caught = catch_unwind(AssertUnwindSafe(|| code.counted(&running, depth)));
            let ended = running.begun() - usize::from(caught.is_err());
            if ended > 0 {
                self.ended(ended);
            }
            match caught {
                Ok(()) => {
                    let slice = members.slice.get();
                    if slice != Duration::MAX {
                        members.slice.set(slice.max(LONGER * slice_used()).min(LONGEST));
                    }
                }
                Err(payload) => {
                    let member = running.member();
                    // A destructor of the value that the result has replaced is no fault of the function's.
                    if member == usize::MAX || code.is_set(member) {
                        resume_unwind(payload);
                    }
                    let (kind, message) = reason(None, &*payload, self.max_depth(), self.max_steps());
                    fault(member, kind, message);
                }
            }
            if members.again.get() {
                return;
            }
            begin_slices(members.slice.get());
        }
    }
}
