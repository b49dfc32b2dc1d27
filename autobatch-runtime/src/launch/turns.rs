//! Members as scalar code that looks at the limits of the run, in turns: one that takes long is suspended, and keeps no other from running.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use super::launcher::Launch;
use super::machine::Blocks;
use super::phase::{Ledger, Parts, Took};
use super::scalar::PIECE;
use super::ways::Code;
use crate::api::fault::{Fault, FaultKind, FaultList, ended};
use crate::batch::{Queue, Watch, begin_slice, reason, slice_used, voice};
use crate::fiber::{Reach, Worker, WorkerRules};
use crate::native_stack::coroutine::Stack;
use crate::native_stack::depth::Depth;
use crate::native_stack::turn::Turn;

/// How long a member runs until it is suspended, at least.
const SLICE: Duration = Duration::from_micros(500);
/// And at most.
const LONGEST: Duration = Duration::from_millis(8);
/// How many times as long as the members before it one runs until it is suspended for the first time.
const LONGER: u32 = 4;
/// Short members between two of which one looks whether the run is over: the clock takes as long as some of them.
const UNASKED: u32 = 15;
/// Members of a worker that are suspended at a time, at most.
const SUSPENDED: usize = 2048;

/// The members of a worker.
struct Members<'a> {
    queue: &'a Queue,
    /// Those that it has taken from the queue and that have not begun.
    taken: RefCell<Range<usize>>,
    /// The slice of a member that begins.
    slice: Cell<Duration>,
    /// Whether a member goes on that was suspended: then no other begins on its stack.
    again: Cell<bool>,
    /// The members that still begin before one asks for the time.
    unasked: Cell<u32>,
}

impl Members<'_> {
    fn next(&self) -> Option<usize> {
        let mut taken = self.taken.borrow_mut();
        if taken.is_empty() {
            *taken = self.queue.take(PIECE);
        }
        taken.next()
    }

    /// Why the run is over, if a member that begins now is to see it.
    fn over(&self, launch: &Launch<'_>) -> Option<FaultKind> {
        match self.unasked.get() {
            0 => {}
            left => {
                self.unasked.set(left - 1);
                return None;
            }
        }
        let over = launch.over();
        if over.is_none() {
            self.unasked.set(UNASKED);
        }
        over
    }

    fn are_left(&self) -> bool {
        !self.taken.borrow().is_empty() || self.queue.waiting() > 0
    }
}

impl Launch<'_> {
    /// Scalar code on each member of a run that may be ended from outside.
    pub(super) fn in_turns(&self, parts: Parts, threads: usize, code: &dyn Code, ledger: &Ledger) -> Took {
        let queue = Queue::of(parts, threads);
        let reached = Reach::of(self.program);
        let took = self.spread(threads, &|| {
            // Primitives that are reached call their kernels for one row.
            let (member, has_result) = (|_, _| unreachable!("members run without a fiber"), |_| false);
            let rules = WorkerRules { max_steps: u64::MAX, ..self.rules() };
            let worker = Worker::new(rules, &Blocks, reached, &member, &has_result);
            let _here = worker.without_fiber();
            let faults = RefCell::default();
            self.turns(&queue, code, &faults);
            ledger.add(faults.into_inner());
        });
        self.end_waiting(&queue, ledger);
        took
    }

    /// One worker's members. Those of a program in blocks take turns: their locals may wait at calls and loops while others run.
    fn turns(&self, queue: &Queue, code: &dyn Code, faults: &RefCell<FaultList>) {
        let members = Members {
            queue,
            taken: RefCell::new(0..0),
            slice: Cell::new(SLICE),
            again: Cell::new(false),
            unasked: Cell::new(0),
        };
        let mut stacks = Vec::new();
        let mut waiting: VecDeque<Turn> = VecDeque::new();
        loop {
            let turn = match members.are_left() && waiting.len() < SUSPENDED {
                true => {
                    let stack = if self.per_member { None } else { stacks.pop().or_else(Stack::take) };
                    let Some(stack) = stack else {
                        self.run_members(&members, code, faults);
                        continue;
                    };
                    members.again.set(false);
                    let body = || self.run_members(&members, code, faults);
                    // SAFETY: all turns are run to their ends here, or dropped with `waiting`; what the body borrows is declared before it.
                    Some(unsafe { Turn::new(stack, body) })
                }
                false => {
                    members.again.set(true);
                    begin_slice(members.slice.get());
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

    /// Members one after the other, as long as there are some and none was suspended.
    fn run_members(&self, members: &Members<'_>, code: &dyn Code, faults: &RefCell<FaultList>) {
        let depth = Depth::root(self.max_depth());
        let _published = depth.publish();
        let running = Cell::new(None);
        let fault = |member, kind, message| {
            let fault = Fault { member, kind, message };
            voice::tell(&fault, self.numbering);
            faults.borrow_mut().push(fault);
            self.ended(1);
        };
        loop {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                while let Some(member) = members.next() {
                    running.set(Some(member));
                    if let Some(kind) = members.over(self) {
                        fault(member, kind, ended(kind));
                        continue;
                    }
                    let slice = members.slice.get();
                    begin_slice(slice);
                    code.counted(member, depth);
                    self.ended(1);
                    if members.again.get() {
                        return;
                    }
                    members.slice.set(slice.max(LONGER * slice_used()).min(LONGEST));
                }
            }));
            let Err(payload) = caught else { return };
            let Some(member) = running.get() else { resume_unwind(payload) };
            if code.is_set(member) {
                // A destructor of the value that the result has replaced: no fault of the function's.
                resume_unwind(payload);
            }
            let (kind, message) = reason(None, &*payload, self.max_depth(), self.max_steps());
            fault(member, kind, message);
            if members.again.get() {
                return;
            }
        }
    }
}
