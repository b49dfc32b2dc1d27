//! Running members in nested frames: see [`crate::nest`].

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::{BODY_STACK, Launch, Ledger, Nested, Parts, Scalar, Took, Ways, members_in};
use crate::depth::{self, Depth};
use crate::fault::Fault;
use crate::isa::Level;
use crate::machine::{Queue, Watch};
use crate::nest::{Memory, Nest};
use crate::options::{Executor, Isa};
use crate::out::Out;
use crate::rooms::{self, Rules};

/// Members that are worth a thread of their own.
pub(super) const SHARE: usize = 128;
/// The part of a tile that the last tiles still have: small ones leave lanes empty, large ones leave threads waiting.
const LAST: usize = 8;
/// Members of a tile in rooms, where the last ones have to wait for each other: the least, and at most so many times it.
const TILE: usize = rooms::LANES.end;
const TILES: usize = 16;

thread_local! {
    /// The memory of the last run on this thread.
    static KEPT: Cell<Option<Memory>> = const { Cell::new(None) };
}

impl Launch<'_> {
    /// Whether the program runs in nested frames, or in rooms: they need vectors of some length, count nothing, and
    /// end no member early.
    pub(super) fn nests(&self, lanes: usize) -> bool {
        let options = self.options;
        let vectors = !(cfg!(target_arch = "x86_64") && self.isa() == Isa::Baseline);
        lanes > 0 && vectors && !options.report && options.max_steps.is_none() && options.cancel.is_none()
    }

    /// Tile after tile. What unwinds has no results: the members under way run as scalar code, which says what is
    /// wrong with whom.
    pub(super) fn nested<R: Send>(
        &self,
        executor: Executor,
        parts: Parts,
        threads: usize,
        ways: &Ways<impl Scalar<R>, impl Sync, impl Nested<R>>,
        out: &Out<'_, R>,
        ledger: &Mutex<Ledger>,
    ) -> Took {
        let (options, program) = (self.options, self.program);
        // Without calls, or where none needs another's result, there is but one way.
        let in_rooms = executor == Executor::ProgramCounter && ways.rooms;
        let lanes = options.lanes.or(self.defaults.lanes);
        let level = Level::new(self.isa());
        // Tiles of a few strips would be all overhead.
        let threads = threads.min(members_in(&parts).div_ceil(SHARE));
        let (least, most) = match (in_rooms, lanes.unwrap_or(ways.nests)) {
            (true, _) if !options.no_refill => (TILE, TILES * TILE),
            (true, _) => (1, lanes.unwrap_or(rooms::LANES.end)),
            // Every call of a tile is a frame, however few lanes it has: as few tiles as there can be, and as many for each thread.
            (false, lanes) if program.recursive => {
                let members = members_in(&parts);
                let tiles = members.div_ceil(lanes).next_multiple_of(threads.max(1));
                let even = members.div_ceil(tiles.max(1));
                (even, even)
            }
            (false, lanes) => (lanes / LAST, lanes),
        };
        let queue = Queue::of(parts, threads);
        self.spread(threads, &|| {
            let mut memory = KEPT.take().unwrap_or_default();
            let mut faults = Vec::new();
            let mut tiles = || {
                let depth = Depth::root(self.max_depth());
                let _published = depth.publish();
                let loaded = Cell::new(0);
                let rules = in_rooms.then(|| Rules {
                    lanes,
                    schedule: self.schedule(),
                    refill: !options.no_refill,
                    loaded: &loaded,
                });
                loop {
                    let mut members = queue.take_tile(least, most);
                    if members.is_empty() {
                        return;
                    }
                    while !members.is_empty() {
                        loaded.set(members.end);
                        let all = members.clone();
                        let mut nest = Nest { memory: &mut memory, members: all, depth, level, rules };
                        match catch_unwind(AssertUnwindSafe(|| (ways.nest)(&mut nest, out))) {
                            Ok(()) => {
                                self.ended(members.len());
                                break;
                            }
                            Err(_) => {
                                let lost = members.start..loaded.get().max(members.start + 1);
                                members.start = lost.end;
                                self.again(lost, depth, &ways.scalar, out, &mut faults);
                            }
                        }
                    }
                }
            };
            depth::with_room(BODY_STACK, &mut tiles);
            KEPT.set(Some(memory).filter(Memory::is_small));
            ledger.lock().unwrap_or_else(PoisonError::into_inner).faults.append(&mut faults);
        })
    }

    /// Runs those members as scalar code that have no result.
    fn again<R: Send>(
        &self,
        mut members: Range<usize>,
        depth: Depth,
        scalar: &impl Scalar<R>,
        out: &Out<'_, R>,
        faults: &mut Vec<Fault>,
    ) {
        while !members.is_empty() {
            let is_set = out.is_set(members.start);
            let run = members.clone().take_while(|member| out.is_set(*member) == is_set).count();
            let piece = members.start..members.start + run;
            members.start = piece.end;
            match is_set {
                true => self.ended(run),
                false => self.scalar_piece(piece, depth, None, scalar, out, faults),
            }
        }
    }
}
