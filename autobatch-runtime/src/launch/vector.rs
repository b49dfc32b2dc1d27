//! Members on vectors: in frames ([`crate::vector`]), or as a wavefront ([`crate::wavefront`]).

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::counted::CountedTiles;
use super::launcher::{BODY_STACK, Launch};
use super::phase::{Ledger, Parts, TileCounts, Took, members_in};
use super::ways::{Code, Vectors, is_short};
use crate::api::fault::FaultList;
use crate::api::options::Executor;
use crate::batch::voice::Voice;
use crate::batch::{Queue, Watch};
use crate::native_stack::depth::{self, Depth};
use crate::simd::Level;
use crate::vector::{Memory, Tile, WavefrontRules};
use crate::wavefront::LANES;

/// Members that are worth a thread of their own.
pub(super) const SHARE: usize = 128;
/// The part of a tile that the last tiles still have: small ones leave lanes empty, large ones leave threads waiting.
const LAST: usize = 8;
/// Members of a tile that runs as a wavefront, where the last ones have to wait for each other: the least, and at most so many times it.
const TILE: usize = LANES.end;
const TILES: usize = 16;

thread_local! {
    /// The memory of the last run on this thread.
    static KEPT: Cell<Option<Memory>> = const { Cell::new(None) };
}

impl Launch<'_> {
    /// Whether the program runs in vector frames, or as a wavefront.
    pub(super) fn runs_on_vectors(&self, lanes: usize, vectors: Vectors) -> bool {
        lanes > 0 && vectors.has(self.isa()) && !self.options.count_blocks
    }

    /// Whether a program that only computes runs as scalar code, whatever executor is asked for: SSE2 is too little for its vector code,
    /// and for the machine.
    pub(super) fn lacks_vectors(&self, lanes: usize, vectors: Vectors) -> bool {
        let isa = self.isa();
        lanes > 0 && is_short(isa) && !vectors.has(isa) && !self.options.count_blocks && self.scalar_will_do()
    }

    /// Tile after tile. What unwinds has no results: the members under way run as scalar code, which says what is
    /// wrong with whom.
    pub(super) fn vector(
        &self,
        executor: Executor,
        parts: Parts,
        threads: usize,
        code: &dyn Code,
        ledger: &Ledger,
    ) -> Took {
        let (options, program) = (self.options, self.program);
        // Without calls, or where none needs another's result, there is but one way.
        let as_wavefront = executor == Executor::ProgramCounter && code.is_wavefront();
        let lanes = options.lanes.or(self.defaults.lanes);
        let level = Level::new(self.isa());
        // Tiles of a few strips would be all overhead.
        let threads = threads.min(members_in(&parts).div_ceil(SHARE));
        let (least, most) = match (as_wavefront, lanes.unwrap_or(code.vector_lanes())) {
            (true, _) if !options.no_refill => (TILE, TILES * TILE),
            (true, _) => (1, lanes.unwrap_or(LANES.end)),
            // Every call of a tile is a frame, however few lanes it has: as few tiles as there can be, and as many for each thread.
            (false, lanes) if program.recursive => {
                let members = members_in(&parts);
                let tiles = members.div_ceil(lanes).next_multiple_of(threads.max(1));
                let even = members.div_ceil(tiles.max(1));
                (even, even)
            }
            (false, lanes) => (lanes / LAST, lanes),
        };
        let queue = Arc::new(Queue::of(parts, threads));
        let took = self.spread(threads, &|| {
            let mut memory = KEPT.take().unwrap_or_default();
            let mut faults = FaultList::default();
            let mut tiles = || {
                let depth = Depth::root(self.max_depth());
                let _published = depth.publish();
                let loaded = Cell::new(0);
                let rules = as_wavefront.then(|| WavefrontRules {
                    lanes,
                    schedule: self.schedule(),
                    refill: !options.no_refill,
                    loaded: &loaded,
                });
                if self.limits.is_some() || options.report {
                    // The steps of members that come one after the other are no sum.
                    let most = if as_wavefront { TILE } else { most };
                    let mut tiles = CountedTiles {
                        launch: self,
                        code,
                        executor,
                        level,
                        depth,
                        rules,
                        queue: &queue,
                        most,
                        waiting: Vec::new(),
                        over: Vec::new(),
                        done: TileCounts::default(),
                        few: true,
                    };
                    tiles.run(least, &mut memory, &mut faults);
                    return ledger.add_tiles(&tiles.done);
                }
                loop {
                    let mut members = queue.take_tile(least, most);
                    if members.is_empty() {
                        return;
                    }
                    while !members.is_empty() {
                        loaded.set(members.end);
                        let all = members.clone();
                        let mut tile = Tile {
                            memory: &mut memory,
                            members: all,
                            numbering: self.numbering,
                            depth,
                            level,
                            pulse: None,
                            rules,
                        };
                        // Who panics will run again.
                        let silent = Voice::Silent.speak();
                        let caught = catch_unwind(AssertUnwindSafe(|| code.vector(&mut tile)));
                        drop(silent);
                        match caught {
                            Ok(()) => {
                                self.ended(members.len());
                                break;
                            }
                            Err(_) => {
                                let lost = members.start..loaded.get().max(members.start + 1);
                                members.start = lost.end;
                                self.again(lost, depth, code, &mut faults);
                            }
                        }
                    }
                }
            };
            depth::with_room(BODY_STACK, &mut tiles);
            KEPT.set(Some(memory).filter(Memory::is_small));
            ledger.add(faults);
        });
        self.end_waiting(&queue, ledger);
        took
    }

    /// Runs those members as scalar code that have no result.
    pub(super) fn again(
        &self,
        mut members: Range<usize>,
        depth: Depth,
        code: &dyn Code,
        faults: &mut FaultList,
    ) {
        while !members.is_empty() {
            let is_set = code.is_set(members.start);
            let run = members.clone().take_while(|member| code.is_set(*member) == is_set).count();
            let piece = members.start..members.start + run;
            members.start = piece.end;
            match is_set {
                true => self.ended(run),
                false => self.scalar_piece(piece, depth, None, code, faults),
            }
        }
    }
}
