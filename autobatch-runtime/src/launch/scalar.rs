//! Members as scalar code, one after the other.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use super::launcher::Launch;
use super::phase::{Ledger, Parts, Took};
use super::ways::Code;
use crate::api::fault::{Fault, FaultKind, FaultList, ended};
use crate::batch::{Queue, Running, Taken, Watch, begin_slices, reason, voice};
use crate::fiber::Worker;
use crate::native_stack::depth::{self, Depth};

/// Members that the scalar executor takes at a time, at first, and at most.
pub(super) const PIECE: usize = 64;
/// How long one that is not suspended runs until others have their turn, which takes a thread more.
pub(super) const SLICE_OF_THREAD: Duration = Duration::from_millis(2);
const LARGEST_PIECE: usize = 4096;
/// How long it may take for the next piece to be larger.
const LONG_PIECE: Duration = Duration::from_micros(10);

impl Launch<'_> {
    /// Scalar code on each member.
    pub(super) fn scalar(&self, parts: Parts, threads: usize, code: &dyn Code, ledger: &Ledger) -> Took {
        let queue = Queue::of(parts, threads);
        let took = self.spread(threads, &|| {
            let mut faults = FaultList::default();
            self.scalar_worker(&queue, PIECE, None, code, &mut faults);
            ledger.add(faults);
        });
        self.end_waiting(&queue, ledger);
        took
    }

    /// Takes pieces of the queue until it is empty, or members of `worker`, to which they belong, have reached a primitive.
    pub(super) fn scalar_worker(
        &self,
        queue: &Queue,
        mut size: usize,
        worker: Option<&Worker<'_>>,
        code: &dyn Code,
        faults: &mut FaultList,
    ) {
        let depth = Depth::root(self.max_depth());
        let _published = depth.publish();
        loop {
            let begin = Instant::now();
            if worker.is_some_and(Worker::has_reached) {
                return;
            }
            let piece = queue.take(size);
            if piece.is_empty() {
                return;
            }
            self.scalar_piece(piece, depth, worker, code, faults);
            // Members that take next to nothing are not worth the queue's atomic operations.
            if begin.elapsed() < LONG_PIECE {
                size = (2 * size).min(LARGEST_PIECE);
            }
            // Members that need more stack than there is would each have it made and freed again.
            let (base, peak) = depth::take_peak();
            if peak > base {
                let size = size.min(PIECE);
                let again = |_| self.scalar_worker(queue, size, worker, code, faults);
                if depth::on_segment(peak - base, again).is_some() {
                    return;
                }
            }
        }
    }

    /// One member, by code that looks at the limits if there are some.
    pub(super) fn scalar_member(&self, member: usize, depth: Depth, code: &dyn Code) {
        match self.ends() && code.counts() {
            true => {
                begin_slices(SLICE_OF_THREAD);
                let (taken, one) = (Taken::default(), member..member + 1);
                taken.put(one);
                let running = Running::of(&taken, None);
                running.may_begin(1);
                code.counted(&running, depth);
            }
            false => code.scalar(member, depth),
        }
    }

    /// One member after the other; a panic ends one member and is caught around them all.
    pub(super) fn scalar_piece(
        &self,
        mut piece: Range<usize>,
        depth: Depth,
        worker: Option<&Worker<'_>>,
        code: &dyn Code,
        faults: &mut FaultList,
    ) {
        let members = piece.len();
        let _here = worker.map(Worker::without_fiber);
        let steps = worker.filter(|_| self.options.max_steps.is_some());
        while !piece.is_empty() {
            // The member being run is the first that is left.
            let caught = catch_unwind(AssertUnwindSafe(|| {
                if !self.ends() && steps.is_none() {
                    return code.scalars(&mut piece, depth);
                }
                while piece.start < piece.end && self.over().is_none() {
                    steps.inspect(|worker| worker.begins_without_fiber());
                    self.scalar_member(piece.start, depth, code);
                    piece.start += 1;
                }
            }));
            let member = piece.start;
            let (kind, message) = match caught {
                Ok(()) if piece.is_empty() => break,
                Ok(()) => {
                    let kind = self.over().unwrap_or(FaultKind::Cancelled);
                    (kind, ended(kind))
                }
                // A destructor of the value that the result has replaced: no fault of the function's.
                Err(payload) if code.is_set(member) => resume_unwind(payload),
                Err(payload) => reason(None, &*payload, self.max_depth(), self.max_steps()),
            };
            let fault = Fault { member, kind, message };
            voice::tell(&fault, self.numbering);
            faults.push(fault);
            piece.start += 1;
        }
        self.ended(members);
    }
}
