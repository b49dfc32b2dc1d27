//! Running members in nested frames: see [`crate::nest`].

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::{BODY_STACK, Launch, Ledger, Nested, Scalar, Took, Ways};
use crate::depth::Depth;
use crate::isa::Level;
use crate::machine::{Queue, Watch};
use crate::nest::{Memory, Nest};
use crate::options::{Executor, Isa};
use crate::out::Out;

/// Members that are worth a thread of their own.
pub(super) const SHARE: usize = 128;
/// The part of a tile that the last tiles still have: small ones leave lanes empty, large ones leave threads waiting.
const LAST: usize = 8;
/// The same where every call of a tile is a frame.
const LAST_NESTED: usize = 2;

thread_local! {
    /// The memory of the last run on this thread.
    static KEPT: Cell<Option<Memory>> = const { Cell::new(None) };
}

impl Launch<'_> {
    /// Whether an executor runs the program in nested frames: they call as the masked executor does, a program
    /// without calls has but one way, and they need vectors of some length. They count nothing, and end no member early.
    pub(super) fn nests(&self, executor: Executor, lanes: usize) -> bool {
        let same = executor == Executor::Masked || self.program.calls.is_empty() && !self.program.recursive;
        let options = self.options;
        let vectors = !(cfg!(target_arch = "x86_64") && self.isa() == Isa::Baseline);
        lanes > 0
            && same
            && vectors
            && !options.report
            && options.max_steps.is_none()
            && options.cancel.is_none()
    }

    /// Tile after tile. One that unwinds has no results: its members run as scalar code, which says what is
    /// wrong with whom.
    pub(super) fn nested<R: Send>(
        &self,
        range: Range<usize>,
        threads: usize,
        ways: &Ways<impl Scalar<R>, impl Sync, impl Nested<R>>,
        out: &Out<'_, R>,
        ledger: &Mutex<Ledger>,
    ) -> Took {
        let lanes = self.options.lanes.or(self.defaults.lanes).unwrap_or(ways.nests);
        let level = Level::new(self.isa());
        // Tiles of a few strips would be all overhead.
        let threads = threads.min(range.len().div_ceil(SHARE));
        let least = lanes / if self.program.recursive { LAST_NESTED } else { LAST };
        let queue = Queue::new(range, threads);
        self.spread(threads, || {
            let mut memory = KEPT.take().unwrap_or_default();
            let mut faults = Vec::new();
            let mut tiles = || {
                let depth = Depth::root(self.max_depth());
                let _published = depth.publish();
                loop {
                    let members = queue.take_tile(least, lanes);
                    if members.is_empty() {
                        return;
                    }
                    let mut nest = Nest { memory: &mut memory, members: members.clone(), depth, level };
                    match catch_unwind(AssertUnwindSafe(|| (ways.nest)(&mut nest, out))) {
                        Ok(()) => self.ended(members.len()),
                        Err(_) => self.scalar_piece(members, depth, &ways.scalar, out, &mut faults),
                    }
                }
            };
            stacker::maybe_grow(BODY_STACK, 4 * BODY_STACK, &mut tiles);
            KEPT.set(Some(memory).filter(Memory::is_small));
            ledger.lock().unwrap_or_else(PoisonError::into_inner).faults.append(&mut faults);
        })
    }
}
