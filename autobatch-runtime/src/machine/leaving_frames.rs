//! Leaving frames: members that wait too long for others of their calls go on by program counters, each where it is.
//!
//! Both algorithms run the same body on the same columns. In frames the values of an activation stand in the slots of its frame. By program
//! counters those of the innermost one stand in the slots of its member's lane, and what the calls below have saved on the lane's stacks. The
//! body knows which values an activation has, as it drops those of dead members. So all activations are listed for it as if they were gone, twice:
//!
//! ```text
//! copied    frame 2  │ lane 0 of its 2: At(3)       n: to the slots behind all frames
//!           frame 1  │ lane 4 of its 9: Calling(0)  n: onto the stack of member 7
//!           frame 0  │ lane 7: Calling(0)           n: onto the stack of member 7, before
//! settled            │ lane 7: At(3)                n: from behind all frames to slot 7
//! ```
//!
//! Memory may be refused while values are copied. The copies are forgotten then, and the frames go on as they were.
//!
//! The lists matter more here than where members die: there a type without drop glue may be missing, here its slot would be read without a
//! value. So all variables are listed, whatever their types, and what is taken behind a point is among them: else the macro panics
//! (`codegen/machine/step_loop.rs`). One too many is harmless: bits are copied as `MaybeUninit`.
//!
//! **Invariant:** until all is copied the values in the frames are those that count, and from then on the copies.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::masked::Masked;
use super::occupancy::Occupancy;
use super::program_counter::ProgramCounter;
use super::step::{Stage, Step};
use super::unwinding::{Fate, Gone, UnwindPoint};
use crate::native_stack::room;
use crate::simd;
use crate::storage::pc_word::PcWord;

/// Activations of a step, about.
const SOME: usize = 4096;

/// What is being done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Copied,
    Settled,
    Undone,
}

/// Where a member goes on.
#[derive(Clone, Copy)]
struct Place {
    lane: u32,
    point: u32,
    /// The steps that it has made.
    steps: u64,
}

/// What runs the members next.
#[expect(clippy::large_enum_variant, reason = "there is one for each worker, and it may not ask for memory")]
pub(super) enum After {
    Frames(Masked),
    Leaving(LeavingFrames),
    Tile(ProgramCounter),
}

/// Frames that are being left.
pub(super) struct LeavingFrames {
    frames: Masked,
    tile: ProgramCounter,
    /// The slots behind all frames.
    behind: usize,
    pass: Pass,
    /// The next frame, and the members on its lanes.
    frame: usize,
    members: Vec<u32>,
    places: Vec<Place>,
}

impl LeavingFrames {
    /// Begins, if there is memory for a tile.
    pub(super) fn begin(frames: Masked, members: &Occupancy<'_>) -> After {
        let tile = || {
            let mut places = Vec::new();
            room::make(&mut places, members.width());
            let mut on_lanes = Vec::new();
            room::make(&mut on_lanes, members.width());
            (ProgramCounter::without_members(members), places, on_lanes)
        };
        let Ok((tile, places, on_lanes)) = catch_unwind(AssertUnwindSafe(tile)) else {
            return After::Frames(frames);
        };
        let behind = frames.end().next_multiple_of(members.program.strip);
        let pass = Pass::Copied;
        After::Leaving(LeavingFrames { frames, tile, behind, pass, frame: 0, members: on_lanes, places })
    }

    /// Memory has been refused.
    pub(super) fn refused(&mut self) {
        debug_assert!(self.pass == Pass::Copied, "nothing else takes memory");
        (self.pass, self.frame) = (Pass::Undone, 0);
    }

    /// Lists what is next. Nothing if all is done.
    pub(super) fn advance<P: PcWord>(
        &mut self,
        members: &Occupancy<'_>,
        words: &[P],
        stage: &mut Stage,
    ) -> Option<Step> {
        stage.gone.clear();
        stage.buried = 0;
        loop {
            while self.frame < self.frames.depth() && stage.gone.len() < SOME {
                if !self.list(members, words, stage) {
                    stage.gone.clear();
                    self.refused();
                }
            }
            if !stage.gone.is_empty() {
                return Some(Step::Abandon);
            }
            if self.pass != Pass::Copied {
                return None;
            }
            (self.pass, self.frame) = (Pass::Settled, 0);
        }
    }

    /// Lists the activations of the next frame. False if memory is refused.
    fn list<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], stage: &mut Stage) -> bool {
        let (frame, above) = self.frames.frame(self.frame);
        match self.frame {
            0 => {
                self.members.clear();
                self.members.extend(0..frame.len as u32);
            }
            // Those that have not called are idle.
            _ if frame.same => {}
            _ => {
                let lanes = simd::lanes(self.frames.mask(frame)).enumerate();
                lanes.for_each(|(nth, lane)| self.members[nth] = self.members[lane]);
                self.members.truncate(frame.len);
            }
        }
        let calling = above.map(|above| (members.program.blocks.len() as u32 + above.site, above.site));
        for (nth, &lane) in self.members.iter().enumerate() {
            let word = words[frame.words + nth];
            if word == P::IDLE {
                continue;
            }
            let (slot, behind) = (frame.base + nth, self.behind + lane as usize);
            let inside = calling.filter(|(point, _)| word == P::of(*point));
            let unwind_point = match inside {
                Some((_, site)) => UnwindPoint::Calling(site),
                None => UnwindPoint::At(word.point()),
            };
            let (slot, fate) = match self.pass {
                Pass::Copied => (slot, Fate::Copied { lane, to: behind }),
                Pass::Settled => (behind, Fate::Settled { lane }),
                Pass::Undone => (slot, Fate::Undone { lane }),
            };
            if !room::has(&mut stage.gone, 1) {
                return false;
            }
            stage.gone.push(Gone { unwind_point, slot, fate });
            if self.pass == Pass::Copied {
                match inside {
                    Some((_, site)) if !self.tile.calls(lane, site) => return false,
                    Some(_) => {}
                    None => {
                        let steps = members.steps_of.of(frame.words + nth);
                        self.places.push(Place { lane, point: word.point(), steps });
                    }
                }
            }
        }
        self.frame += 1;
        true
    }

    /// The tile, or the frames if nothing has happened.
    pub(super) fn end<P: PcWord>(
        mut self,
        members: &mut Occupancy<'_>,
        words: &mut Vec<P>,
        stage: &mut Stage,
    ) -> After {
        if self.pass == Pass::Undone {
            return After::Frames(self.frames);
        }
        (stage.slots, stage.words) = (0, 0);
        stage.strips.clear();
        members.steps_of.settle(self.places.iter().map(|place| (place.lane as usize, place.steps)));
        self.tile.enter(members, words, self.places.iter().map(|place| (place.lane, place.point)));
        After::Tile(self.tile)
    }
}
