//! Occupancy: which member sits on which lane of the tile (or root frame), who is next, who is done.

use std::ops::Range;

use super::counters::{BlockCount, Finished};
use super::recorder::Recorder;
use super::settings::Settings;
use super::step_count::StepCounts;
use crate::api::fault::{Fault, FaultKind, FaultList, TOO_MUCH, ended, too_deep};
use crate::api::program::Program;
use crate::batch::{Numbering, Queue, Watch, voice};
use crate::native_stack::{budget, room};
use crate::simd::{self, Level};

/// Members may be so deep, whatever memory that takes.
const SHALLOW: usize = 1000;
/// Steps after which members that wait for a lane get one of their own.
const CROWDED: u32 = 1024;

/// Occupancy that are to be loaded onto neighbouring lanes.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) lane: usize,
    pub(super) member: usize,
    pub(super) len: usize,
}

/// A worker's members. Lanes are those of the tile or of the root frame.
pub(super) struct Occupancy<'r> {
    pub(super) program: &'static Program,
    /// Points from here on, up to the last block, call primitives.
    pub(super) primitives: u32,
    pub(super) level: Level,
    pub(super) settings: Settings,
    pub(super) queue: &'r Queue,
    pub(super) watch: &'r dyn Watch,
    pub(super) numbering: Numbering<'r>,
    /// Why the run has been ended from outside, if it has.
    pub(super) over: Option<FaultKind>,
    /// The member on each lane.
    of: Vec<usize>,
    /// The number of lanes with a member.
    occupied: usize,
    /// What the current load step fills, and how far it has come.
    pub(super) loads: Vec<Run>,
    pub(super) loaded: usize,
    /// The lanes whose results the current store step stores.
    stores: Vec<u64>,
    faults: FaultList,
    /// Block executions of the member on each root lane, by block: `[lane * blocks + block]`. Only for reports.
    visits: Option<Vec<u64>>,
    /// The steps of each, only for limits.
    pub(super) steps_of: StepCounts,
    counts: Vec<BlockCount>,
    largest: Vec<u64>,
    pub(super) depth: usize,
    /// How deep members may be since memory is used up, if that is less than they may be anyway.
    pub(super) deepest: usize,
    steps: u64,
    recorder: Recorder,
    refills: u64,
    compactions: u64,
    /// Members that were loaded.
    members: usize,
    first: bool,
    /// Steps since a lane was free for a member that waits.
    crowded: u32,
}

impl<'r> Occupancy<'r> {
    pub(super) fn new(
        program: &'static Program,
        settings: Settings,
        queue: &'r Queue,
        watch: &'r dyn Watch,
    ) -> Self {
        let width = settings.lanes.min(queue.waiting()).max(1);
        let (blocks, deepest) = (program.blocks.len(), settings.max_depth);
        let visits = settings.report.then(|| room::filled(0, width * blocks));
        let steps_of = StepCounts::new(settings.max_steps, program.blocks);
        let recorder = Recorder::new(settings.trace.clone());
        Occupancy {
            program,
            primitives: program.primitives(),
            level: Level::new(settings.isa),
            settings,
            queue,
            watch,
            numbering: watch.numbering(),
            over: None,
            of: room::filled(usize::MAX, width),
            occupied: 0,
            loads: Vec::new(),
            loaded: 0,
            stores: Vec::new(),
            faults: FaultList::default(),
            visits,
            steps_of,
            counts: vec![BlockCount::default(); blocks],
            largest: vec![0; blocks],
            depth: 0,
            deepest,
            steps: 0,
            recorder,
            refills: 0,
            compactions: 0,
            members: 0,
            first: true,
            crowded: 0,
        }
    }

    /// The number of lanes.
    pub(super) fn width(&self) -> usize {
        self.of.len()
    }

    /// Whether the recording has as many steps as it may.
    pub(super) fn is_recorded(&self) -> bool {
        self.recorder.is_full()
    }

    /// The number of lanes without a member.
    pub(super) fn vacant(&self) -> usize {
        self.of.len() - self.occupied
    }

    /// Whether lanes are refilled while others are busy, and with whom.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn refilling(&self) -> bool {
        self.settings.refill && self.queue.waiting() > 0
    }

    /// Whether members that could go on have their turn now, of a scheduler at its `tick`th step.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_fair_turn(&self, tick: u32) -> bool {
        self.settings.fair > 0 && tick.is_multiple_of(self.settings.fair)
    }

    /// Whether all lanes have had members for so long that those that wait get lanes of their own, called at each step.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_crowded(&mut self) -> bool {
        if self.settings.fair == 0 {
            return false;
        }
        let crowded = self.vacant() == 0 && self.refilling();
        self.crowded = if crowded { self.crowded + 1 } else { 0 };
        self.crowded > CROWDED
    }

    /// Twice as many lanes, or as many as members wait for.
    pub(super) fn wider(&mut self) -> usize {
        self.crowded = 0;
        self.width() + self.width().min(self.queue.waiting())
    }

    /// So many lanes, if there is memory.
    #[cold]
    pub(super) fn widen(&mut self, width: usize) -> bool {
        let (more, blocks) = (width - self.width(), self.largest.len());
        let has_room = room::has(&mut self.of, more)
            && self.visits.as_mut().is_none_or(|visits| room::has(visits, more * blocks));
        if has_room {
            self.of.resize(width, usize::MAX);
            if let Some(visits) = &mut self.visits {
                visits.resize(width * blocks, 0);
            }
        }
        has_room
    }

    /// Whether block executions are counted per member and block.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn tracked(&self) -> bool {
        self.visits.is_some()
    }

    /// A block step begins: how often it may repeat on a strip before it returns to the scheduler.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn rounds(&mut self, refillable: bool) -> u32 {
        self.steps += 1;
        match () {
            _ if self.tracked() => 1,
            _ if refillable && self.refilling() => 32,
            _ => 128,
        }
    }

    /// Takes up to `most` waiting members for [`Occupancy::seat`].
    pub(super) fn fetch(&mut self, most: usize) -> Range<usize> {
        debug_assert!(self.loads.is_empty(), "the last load has been committed");
        // A kernel is called for as many as there can be: these lanes are no more than a worker's share.
        let taken = match self.program.has_primitives() {
            true => self.queue.take_tile(most, most),
            false => self.queue.take(most),
        };
        if !self.first {
            self.refills += taken.len() as u64;
        }
        self.first &= taken.is_empty();
        self.occupied += taken.len();
        taken
    }

    /// `len` members from `member` on shall be loaded onto the lanes from `lane` on.
    pub(super) fn seat(&mut self, lane: usize, member: usize, len: usize) {
        self.of[lane..lane + len].iter_mut().zip(member..).for_each(|(of, member)| *of = member);
        self.members += len;
        if self.numbering.is_whole() {
            self.loads.push(Run { lane, member, len });
            return;
        }
        // Neighbours in the columns, too.
        for nth in 0..len {
            let (lane, member) = (lane + nth, member + nth);
            match self.loads.last_mut() {
                Some(run)
                    if nth > 0 && self.numbering.place(member - 1) + 1 == self.numbering.place(member) =>
                {
                    run.len += 1;
                }
                _ => self.loads.push(Run { lane, member, len: 1 }),
            }
        }
    }

    /// Ends the part of a load step that has been done: calls `seat` with the first lane and the number of
    /// lanes that now have a member. What is left (after a panic) stays to be loaded.
    pub(super) fn commit(&mut self, mut seat: impl FnMut(&mut StepCounts, usize, usize)) {
        let mut done = std::mem::take(&mut self.loaded);
        let steps_of = &mut self.steps_of;
        self.loads.retain_mut(|run| {
            let part = done.min(run.len);
            done -= part;
            if part > 0 {
                seat(steps_of, run.lane, part);
            }
            *run = Run { lane: run.lane + part, member: run.member + part, len: run.len - part };
            run.len > 0
        });
    }

    /// The member that was being loaded has failed. Its lane, which stays empty, and the lanes that were
    /// loaded before.
    pub(super) fn fail_load(&mut self, kind: FaultKind, message: String) -> usize {
        let mut before = self.loaded;
        let nth = self.loads.iter().position(|run| {
            let inside = before < run.len;
            if !inside {
                before -= run.len;
            }
            inside
        });
        let nth = nth.expect("a member was being loaded");
        let run = self.loads[nth];
        let (lane, member) = (run.lane + before, run.member + before);
        let rest = Run { lane: lane + 1, member: member + 1, len: run.len - before - 1 };
        self.loads[nth].len = before;
        if rest.len > 0 {
            self.loads.insert(nth + 1, rest);
        }
        self.fail(lane, kind, message);
        lane
    }

    /// The next store step is for the lanes in `mask`, which are free then.
    pub(super) fn store(&mut self, mask: &[u64]) {
        self.stores.clear();
        self.stores.extend_from_slice(mask);
        if self.tracked() {
            simd::lanes(mask).for_each(|lane| self.untrack(lane));
        }
        let ended = simd::count(mask);
        self.occupied -= ended;
        self.watch.ended(ended);
    }

    /// The places of the members of the current store step, those together that follow each other on neighbouring lanes, and
    /// the lane of the first.
    pub(super) fn stores(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        simd::runs(&self.stores).flat_map(|run| {
            let mut lane = run.start;
            let place = |member: &usize| self.numbering.place(*member);
            self.of[run].chunk_by(move |one, next| place(one) + 1 == place(next)).map(move |members| {
                let first = lane;
                lane += members.len();
                (first, place(&members[0])..place(&members[0]) + members.len())
            })
        })
    }

    /// Whether a lane so deep must not call. Where memory is used up, calls may be as deep as some have been.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_deepest(&mut self, depth: usize) -> bool {
        if depth > SHALLOW
            && depth.is_multiple_of(64)
            && budget::is_over()
            && self.deepest == self.settings.max_depth
        {
            self.deepest = self.deepest.min(self.depth);
        }
        depth >= self.deepest
    }

    /// Why it must not.
    pub(super) fn too_deep(&self) -> (FaultKind, String) {
        match self.settings.max_depth {
            limit if limit == self.deepest => (FaultKind::DepthExceeded, too_deep(limit)),
            _ => (FaultKind::MemoryExceeded, TOO_MUCH.to_owned()),
        }
    }

    /// The member on `lane` ends with a fault.
    pub(super) fn fail(&mut self, lane: usize, kind: FaultKind, message: String) {
        let fault = Fault { member: self.of[lane], kind, message };
        voice::tell(&fault, self.numbering);
        self.faults.push(fault);
        self.untrack(lane);
        self.occupied -= 1;
        self.watch.ended(1);
    }

    fn untrack(&mut self, lane: usize) {
        if let Some(visits) = &mut self.visits {
            let blocks = self.largest.len();
            let visits = &mut visits[lane * blocks..(lane + 1) * blocks];
            for (largest, visits) in self.largest.iter_mut().zip(visits) {
                *largest = (*largest).max(std::mem::take(visits));
            }
        }
    }

    /// The members of the lanes in `mask` move to the first lanes.
    pub(super) fn compact(&mut self, mask: &[u64]) {
        self.compactions += 1;
        let reach = simd::extent(mask);
        simd::compact_words(&mut self.of[..reach], mask, self.level);
        self.steps_of.compact(reach, mask, self.level);
        let Some(visits) = &mut self.visits else { return };
        let blocks = self.largest.len();
        for (live, lane) in simd::lanes(mask).enumerate().filter(|(live, lane)| live != lane) {
            visits.copy_within(lane * blocks..(lane + 1) * blocks, live * blocks);
            visits[lane * blocks..(lane + 1) * blocks].fill(0);
        }
    }

    /// Asks whether the run is ended from outside, and why; if so, members that nobody has taken fail now.
    pub(super) fn poll(&mut self) -> Option<FaultKind> {
        if self.over.is_none()
            && let Some(kind) = self.watch.over()
        {
            self.over = Some(kind);
            loop {
                let drained = self.queue.take(usize::MAX);
                if drained.is_empty() {
                    break;
                }
                self.watch.ended(drained.len());
                self.faults.extend(drained.map(|member| Fault { member, kind, message: ended(kind) }));
            }
        }
        self.over
    }

    /// The member on `lane` executes `block`, so deep, for the report and the trace.
    pub(super) fn visit(&mut self, lane: usize, block: u32, depth: usize) {
        self.recorder.visit(self.of[lane], depth);
        if let Some(visits) = &mut self.visits {
            visits[lane * self.largest.len() + block as usize] += 1;
        }
    }

    /// One execution of `block` for the report.
    pub(super) fn executed(&mut self, block: u32, active: usize, offered: usize) {
        self.recorder.step(block, active, offered);
        let count = &mut self.counts[block as usize];
        count.executions += 1;
        count.active += active as u64;
        count.offered += offered as u64;
    }

    pub(super) fn finish(self) -> Finished {
        Finished {
            faults: self.faults,
            members: self.members,
            counts: self.settings.report,
            blocks: self.counts,
            largest: self.largest,
            depth: self.depth,
            steps: self.steps,
            refills: self.refills,
            compactions: self.compactions,
            trace: self.recorder.into_steps(),
        }
    }
}
