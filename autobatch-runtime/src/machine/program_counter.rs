//! Program-counter execution: one tile of lanes, each with its own return addresses.
//!
//! Members at the same block run together whatever their depth or call site. Calls and returns only
//! move values, so lanes that wait for them are served before any block.

use std::ops::Range;

use super::occupancy::Occupancy;
use super::schedule::Waiting;
use super::step::{Stage, Step};
use super::transfer::Moves;
use super::unwinding::{Fate, Gone, UnwindPoint};
use crate::api::fault::{FaultKind, TOO_MUCH, ended, too_long};
use crate::native_stack::room;
use crate::simd;
use crate::storage::pc_word::{self, IDLE, PcWord, PcWords};

/// As for frames: values that a dead member may have dropped per abandon step.
const ABANDON: usize = 4096;
/// Block steps after which lanes at primitives have their turn, where members are to have one.
const PRIMITIVES: u32 = 1024;
/// The turns for which lanes wait until then.
const WAITED: u32 = 16;

/// A member that dies: where its innermost remaining activation is.
struct Doomed {
    lane: usize,
    unwind_point: UnwindPoint,
    kind: FaultKind,
    message: String,
}

/// The tile.
pub(super) struct ProgramCounter {
    width: usize,
    /// The logarithm of the strip length.
    shift: u32,
    waiting: Waiting,
    /// Per lane: the call sites of its activations, outermost first.
    sites: Vec<Vec<u32>>,
    /// Lanes whose callee has returned, by call site, and the sites that have some.
    returned: Vec<Vec<u32>>,
    pending: Vec<u32>,
    /// Lanes whose member has a result, as a mask, and their number.
    done: Vec<u64>,
    finished: usize,
    /// Lanes without a member, the next to be filled last.
    free: Vec<u32>,
    doomed: Vec<Doomed>,
    /// The lanes of the current call or return step.
    transfer: Vec<u32>,
    /// Block steps so far, and the last one of each block.
    ticks: u32,
    served: Vec<u32>,
}

impl ProgramCounter {
    pub(super) fn new<P: PcWord>(members: &mut Occupancy<'_>, words: &mut PcWords) -> ProgramCounter {
        let tile = ProgramCounter::without_members(members);
        let lanes = tile.lanes();
        if !members.steps_of.has_room(lanes) {
            room::refused();
        }
        *P::arena_mut(words) = room::filled(P::IDLE, lanes);
        members.steps_of.resize(lanes);
        tile
    }

    /// A tile of as many lanes as there are, all free.
    pub(super) fn without_members(members: &Occupancy<'_>) -> ProgramCounter {
        let program = members.program;
        let width = members.width();
        let strips = width.div_ceil(program.strip);
        let mut transfer = Vec::new();
        room::make(&mut transfer, width);
        ProgramCounter {
            width,
            shift: program.strip.trailing_zeros(),
            waiting: Waiting::new(program.points(), strips),
            sites: room::filled(Vec::new(), width),
            returned: vec![Vec::new(); program.calls.len()],
            pending: Vec::new(),
            done: room::filled(0, width.div_ceil(64)),
            finished: 0,
            free: (0..width as u32).rev().collect(),
            doomed: Vec::new(),
            transfer,
            ticks: 0,
            served: vec![0; program.blocks.len()],
        }
    }

    /// The lanes of all strips.
    fn lanes(&self) -> usize {
        self.width.next_multiple_of(1 << self.shift)
    }

    /// The lane's member is in a call of this site, on top of those before; whether there is memory for that.
    pub(super) fn calls(&mut self, lane: u32, site: u32) -> bool {
        let sites = &mut self.sites[lane as usize];
        let has_room = room::has(sites, 1);
        if has_room {
            sites.push(site);
        }
        has_room
    }

    /// Members come that are under way, each to a lane and a point. There are words for all lanes already, and more.
    pub(super) fn enter<P: PcWord>(
        &mut self,
        members: &mut Occupancy<'_>,
        words: &mut Vec<P>,
        places: impl Iterator<Item = (u32, u32)>,
    ) {
        words.truncate(self.lanes());
        words.fill(P::IDLE);
        members.steps_of.resize(self.lanes());
        for (lane, point) in places {
            words[lane as usize] = P::of(point);
            self.waiting.enter(lane as usize >> self.shift, point);
        }
        self.free.retain(|lane| words[*lane as usize] == P::IDLE);
    }

    pub(super) fn transfer(&self) -> Moves<'_> {
        Moves::InPlace { lanes: &self.transfer }
    }

    /// Finishes the step before and picks the next.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn advance<P: PcWord>(
        &mut self,
        last: Step,
        members: &mut Occupancy<'_>,
        words: &mut Vec<P>,
        stage: &mut Stage,
    ) -> Step {
        let program = members.program;
        let size = program.strip;
        let blocks = program.blocks.len() as u32;
        let returns = blocks + program.calls.len() as u32;
        match last {
            Step::Block(block) => {
                members.steps_of.take_back(words, 0, &stage.strips, size, block);
                for &strip in &stage.strips {
                    let words = &words[strip as usize..strip as usize + size];
                    let strip = strip as usize >> self.shift;
                    self.waiting.recount(strip, words, block, members.level);
                    for &point in program.blocks[block as usize].successors {
                        self.waiting.recount(strip, words, point, members.level);
                    }
                    debug_assert!(self.complete(strip, words), "block {block} has undeclared successors");
                }
            }
            Step::Load => {
                members.commit(|steps_of, lane, len| {
                    words[lane..lane + len].fill(P::of(program.entry_point));
                    steps_of.begin(lane..lane + len);
                    (lane..lane + len)
                        .for_each(|lane| self.waiting.enter(lane >> self.shift, program.entry_point));
                });
            }
            _ => {}
        }
        loop {
            if !self.doomed.is_empty() {
                self.bury(members, words, stage);
                return Step::Abandon;
            }
            if let Some(site) = self.pending.pop() {
                self.transfer.clear();
                self.transfer.append(&mut self.returned[site as usize]);
                return Step::Return(site);
            }
            if let Some(point) = self.waiting.first(blocks) {
                self.gather(members, words, point);
                if point >= returns {
                    self.returns(members, words, point);
                } else if self.call(members, words, point - blocks) {
                    return Step::Call(point - blocks);
                }
                continue;
            }
            if !members.loads.is_empty() {
                return Step::Load;
            }
            if members.is_crowded() {
                self.widen(members, words);
            }
            self.ticks = self.ticks.wrapping_add(1);
            let is_turn = members.is_fair_turn(self.ticks);
            let point = self.pick(members, blocks, is_turn);
            let wanted = match point {
                None => 0,
                Some(_) if is_turn => 1,
                Some(_) if members.refilling() => self.width.div_ceil(16),
                Some(_) => usize::MAX,
            };
            if self.finished + members.vacant() >= wanted {
                if self.finished > 0 {
                    members.store(&self.done);
                    self.free.extend(simd::lanes(&self.done).map(|lane| lane as u32));
                    self.done.fill(0);
                    self.finished = 0;
                    return Step::Store;
                }
                let taken = members.fetch(self.free.len());
                if !taken.is_empty() {
                    self.seat(members, taken);
                    return Step::Load;
                }
            }
            let Some(point) = point else { return Step::Done };
            if self.block(members, words, stage, point) {
                return Step::Block(point);
            }
        }
    }

    /// The block that is next: by the schedule, or the one that has waited longest.
    #[cfg_attr(optimised, inline(always))]
    fn pick(&mut self, members: &Occupancy<'_>, blocks: u32, is_turn: bool) -> Option<u32> {
        if is_turn {
            // Lanes at a primitive wait for many others, but not for ever.
            let all = self.ticks.is_multiple_of(PRIMITIVES);
            let end = if all { blocks } else { members.primitives.min(blocks) };
            let served = &self.served[..end as usize];
            let points = (0..end).filter(|point| self.waiting.is_at(*point));
            let longest = points.max_by_key(|point| self.ticks.wrapping_sub(served[*point as usize]));
            let waited = |point: &u32| {
                self.ticks.wrapping_sub(served[*point as usize]) >= members.settings.fair * WAITED
            };
            if let Some(point) = longest.filter(waited) {
                return Some(point);
            }
        }
        self.waiting.pick(members.settings.schedule, members.primitives, blocks)
    }

    /// More lanes for members.
    #[cold]
    fn widen<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut Vec<P>) {
        let program = members.program;
        let (old, width) = (self.width, members.wider());
        let strips = width.div_ceil(program.strip);
        let lanes = strips * program.strip;
        // Without memory it stays as it is.
        let has_room = room::has_all(words, lanes)
            && members.steps_of.has_room(lanes)
            && room::has_all(&mut self.sites, width)
            && room::has_all(&mut self.done, width.div_ceil(64))
            && room::has_all(&mut self.free, width)
            && room::has_all(&mut self.transfer, width)
            && self.waiting.has_room(strips);
        if !has_room || !members.widen(width) {
            return;
        }
        self.width = width;
        words.resize(lanes, P::IDLE);
        members.steps_of.resize(lanes);
        self.waiting.widen(strips);
        self.sites.resize(self.width, Vec::new());
        self.done.resize(self.width.div_ceil(64), 0);
        self.free.extend((old as u32..self.width as u32).rev());
    }

    /// Occupancy for the free lanes; neighbours on neighbouring lanes, as far as there are any.
    fn seat(&mut self, members: &mut Occupancy<'_>, taken: Range<usize>) {
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        let mut lanes = self.free.split_off(self.free.len() - taken.len());
        lanes.reverse();
        let mut member = taken.start;
        for run in lanes.chunk_by(|a, b| a + 1 == *b) {
            members.seat(run[0] as usize, member, run.len());
            member += run.len();
        }
    }

    /// The lane has lost its member.
    pub(super) fn vacate(&mut self, lane: usize) {
        self.free.push(lane as u32);
    }

    /// Whether every word of the strip is counted.
    fn complete<P: PcWord>(&self, strip: usize, words: &[P]) -> bool {
        words.iter().all(|word| word.point() == IDLE || self.waiting.at(strip, word.point()) > 0)
    }

    /// Lists the lanes at `point` as those of the transfer.
    #[cfg_attr(optimised, inline(always))]
    fn gather<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], point: u32) {
        // A slot for each lane, so that none needs a check.
        self.transfer.resize(self.width, 0);
        let mut len = 0;
        for (at, words) in words.chunks(64).enumerate() {
            let mut mask = pc_word::mask(words, point, members.level);
            while mask != 0 {
                self.transfer[len] = 64 * at as u32 + mask.trailing_zeros();
                len += 1;
                mask &= mask - 1;
            }
        }
        self.transfer.truncate(len);
    }

    /// The lanes of the transfer call. False if none is left of them.
    #[cfg_attr(optimised, inline(always))]
    fn call<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P], site: u32) -> bool {
        let program = members.program;
        let point = program.blocks.len() as u32 + site;
        if members.is_deepest(members.depth) && self.too_deep(members, point) {
            return false;
        }
        let entry = program.calls[site as usize].entry;
        for (nth, &lane) in self.transfer.iter().enumerate() {
            let sites = &mut self.sites[lane as usize];
            if !room::has(sites, 1) {
                self.not_called(nth, point);
                return false;
            }
            sites.push(site);
            members.depth = members.depth.max(sites.len());
        }
        let (from, to) = (P::of(point), P::of(entry));
        words.iter_mut().for_each(|word| *word = if *word == from { to } else { *word });
        self.waiting.shift(point, Some(entry));
        true
    }

    /// Dooms those lanes of the transfer that must not call; whether there are any.
    #[cold]
    fn too_deep(&mut self, members: &Occupancy<'_>, point: u32) -> bool {
        let (kind, message) = members.too_deep();
        let transfer = std::mem::take(&mut self.transfer);
        for &lane in &transfer {
            if self.sites[lane as usize].len() >= members.deepest {
                self.doom(lane as usize, UnwindPoint::At(point), kind, message.clone());
            }
        }
        self.transfer = transfer;
        !self.doomed.is_empty()
    }

    /// There is no memory for a call of the `nth` lane of the transfer, which ends; those before it wait at the call again.
    #[cold]
    fn not_called(&mut self, nth: usize, point: u32) {
        for &lane in &self.transfer[..nth] {
            self.sites[lane as usize].pop();
        }
        let lane = self.transfer[nth] as usize;
        self.doom(lane, UnwindPoint::At(point), FaultKind::MemoryExceeded, TOO_MUCH.to_owned());
    }

    /// There is no memory for what a call moves, for one lane or for any: all of them wait at the call again, or end there.
    #[cold]
    pub(super) fn call_refused<P: PcWord>(
        &mut self,
        members: &Occupancy<'_>,
        words: &mut [P],
        site: u32,
        ends: Option<u32>,
    ) {
        let (program, size) = (members.program, members.program.strip);
        let (point, entry) = (program.blocks.len() as u32 + site, program.calls[site as usize].entry);
        let transfer = std::mem::take(&mut self.transfer);
        for &lane in &transfer {
            let at = lane as usize;
            self.sites[at].pop();
            words[at] = P::of(point);
            if ends.is_none_or(|ends| ends == lane) {
                self.doom(at, UnwindPoint::At(point), FaultKind::MemoryExceeded, TOO_MUCH.to_owned());
            }
        }
        self.transfer = transfer;
        for (strip, words) in words.chunks(size).enumerate() {
            self.waiting.recount(strip, words, point, members.level);
            self.waiting.recount(strip, words, entry, members.level);
        }
    }

    /// There is no memory for what the lanes at `point` would do next.
    #[cold]
    pub(super) fn refused<P: PcWord>(&mut self, words: &[P], point: u32) {
        for (lane, _) in words.iter().enumerate().filter(|(_, word)| **word == P::of(point)) {
            self.doom(lane, UnwindPoint::At(point), FaultKind::MemoryExceeded, TOO_MUCH.to_owned());
        }
    }

    /// The lanes of the transfer return, to wherever they were called from.
    #[cfg_attr(optimised, inline(always))]
    fn returns<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &mut [P], point: u32) {
        let program = members.program;
        self.waiting.shift(point, None);
        for &lane in &self.transfer {
            let lane = lane as usize;
            if let Some(site) = self.sites[lane].pop() {
                words[lane] = P::of(program.calls[site as usize].cont);
                self.returned[site as usize].push(lane as u32);
            } else {
                words[lane] = P::IDLE;
                self.done[lane / 64] |= 1 << (lane % 64);
                self.finished += 1;
            }
        }
        for (site, returned) in self.returned.iter().enumerate() {
            if !returned.is_empty() {
                self.pending.push(site as u32);
                let lanes = returned.iter().map(|&lane| lane as usize >> self.shift);
                self.waiting.enter_all(lanes, program.calls[site].cont);
            }
        }
    }

    /// Prepares a block step. False if some lanes had to die instead.
    #[cfg_attr(optimised, inline(always))]
    fn block<P: PcWord>(
        &mut self,
        members: &mut Occupancy<'_>,
        words: &[P],
        stage: &mut Stage,
        point: u32,
    ) -> bool {
        if let Some(kind) = members.poll() {
            for (lane, point) in words.iter().map(|word| word.point()).enumerate().filter(|(_, p)| *p != IDLE)
            {
                self.doom(lane, UnwindPoint::At(point), kind, ended(kind));
            }
            return false;
        }
        self.served[point as usize] = self.ticks;
        let size = members.program.strip;
        let rounds = members.rounds(true);
        stage.rounds = members.steps_of.allow(words, 0, point, rounds);
        if stage.rounds == 0 {
            self.end_those_at_the_limit(members, words, point);
            return false;
        }
        stage.strips.clear();
        for strip in 0..self.width.div_ceil(size) {
            if self.waiting.at(strip, point) > 0 {
                stage.strips.push((strip * size) as u32);
            }
        }
        stage.lowest.resize(stage.strips.len(), 0);
        members.steps_of.advance(words, 0, &stage.strips, size, point);
        if members.tracked() {
            self.track(members, words, point);
        }
        true
    }

    /// Counts a block step for each member at `point`, for the report.
    #[cold]
    fn track<P: PcWord>(&self, members: &mut Occupancy<'_>, words: &[P], point: u32) {
        let here = words[..self.width].iter().enumerate().filter(|(_, word)| **word == P::of(point));
        let count = here.map(|(lane, _)| members.visit(lane, point, self.sites[lane].len())).count();
        members.executed(point, count, self.width);
    }

    /// Members at `point` that may not run the block.
    #[cold]
    fn end_those_at_the_limit<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], point: u32) {
        let message = too_long(members.settings.max_steps);
        let here = words.iter().enumerate().filter(|(_, word)| **word == P::of(point));
        for (lane, _) in here.filter(|(lane, _)| members.steps_of.is_over(*lane)) {
            self.doom(lane, UnwindPoint::At(point), FaultKind::StepsExceeded, message.clone());
        }
    }

    /// Ends the member on a lane.
    pub(super) fn doom(&mut self, lane: usize, unwind_point: UnwindPoint, kind: FaultKind, message: String) {
        self.doomed.push(Doomed { lane, unwind_point, kind, message });
    }

    /// Lists what doomed members own, innermost activation first, as much as fits one step.
    #[cold]
    fn bury<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P], stage: &mut Stage) {
        stage.gone.clear();
        stage.buried = 0;
        while let Some(one) = self.doomed.last_mut() {
            if stage.gone.len() == ABANDON {
                return;
            }
            let lane = one.lane;
            stage.gone.push(Gone {
                unwind_point: one.unwind_point,
                slot: lane,
                fate: Fate::Dropped { in_frame: false },
            });
            match self.sites[lane].pop() {
                Some(site) => one.unwind_point = UnwindPoint::Calling(site),
                None => {
                    members.fail(lane, one.kind, std::mem::take(&mut one.message));
                    self.free.push(lane as u32);
                    self.doomed.pop();
                    let point = std::mem::replace(&mut words[lane], P::IDLE).point();
                    self.waiting.leave(lane >> self.shift, point);
                }
            }
        }
    }
}
