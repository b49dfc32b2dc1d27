//! Masked execution: frames of lanes that are in the same activation.
//!
//! The frame stack lives on the heap, so recursion of any depth needs no native stack. Only the top
//! frame runs. A frame occupies exactly `len` slots of its group's columns and `len` words; the strips
//! of the top frame may reach beyond its end, where all words are idle and all slots unused.

use std::cmp::Ordering;
use std::ops::Range;

use super::occupancy::Occupancy;
use super::patience::Patience;
use super::step::{STALE, Stage, Step};
use super::transfer::Moves;
use super::unwinding::{Fate, Gone, UnwindPoint};
use crate::api::fault::{FaultKind, TOO_MUCH, ended, too_long};
use crate::native_stack::room;
use crate::simd::{self, Level};
use crate::storage::pc_word::{self, IDLE, PcWord, PcWords};

/// How many values a dead member may have dropped per abandon step; bounds the memory for the list.
const ABANDON: usize = 4096;

/// The lanes of one call.
pub(super) struct Frame {
    group: u16,
    /// The call site; of no meaning for the root.
    pub(super) site: u32,
    /// The first slot in the group's columns.
    pub(super) base: usize,
    /// The first word.
    pub(super) words: usize,
    pub(super) len: usize,
    /// Where in `Masked::masks` it says which of the parent's lanes these are.
    masks: Range<usize>,
    /// Whether each lane is the parent's of the same number, and those that do not call are idle; else the
    /// calling ones only, without gaps.
    pub(super) same: bool,
    /// The group's arena top before this frame.
    top: usize,
    /// How many steps each of the caller's lanes may make at least.
    left: u64,
}

/// A member that dies: the lane it has in `frame`, on its way down to the root.
struct Doomed {
    frame: usize,
    lane: usize,
    unwind_point: UnwindPoint,
    kind: FaultKind,
    message: String,
}

/// The frame stack.
pub(super) struct Masked {
    stack: Vec<Frame>,
    /// By group: the end of the columns' used part.
    tops: Vec<usize>,
    /// The masks of all frames.
    masks: Vec<u64>,
    /// The lowest point in each strip of the top frame.
    lowest: Vec<u32>,
    doomed: Vec<Doomed>,
    /// The members' root lanes, beside the words; only if blocks are counted.
    owners: Vec<u32>,
    /// Block steps so far.
    ticks: u32,
    /// The root frame's lanes below this have been in use since it was last compact.
    extent: usize,
    /// Results have been stored, and the root frame is to be made compact.
    gaps: bool,
    /// What the current call or return step moves: mask, the caller's first slot, the callee's, and the
    /// number of lanes if they are the same.
    transfer: (Range<usize>, usize, usize, Option<usize>),
    /// How long members may wait, if frames are to be left then.
    patience: Option<Patience>,
}

impl Masked {
    pub(super) fn new<P: PcWord>(members: &mut Occupancy<'_>, words: &mut PcWords) -> Masked {
        let program = members.program;
        let len = members.width();
        let mut tops = vec![0; program.groups.len()];
        tops[program.root_group as usize] = len;
        let root = Frame {
            group: program.root_group,
            site: u32::MAX,
            base: 0,
            words: 0,
            len,
            masks: 0..0,
            same: false,
            top: 0,
            left: 0,
        };
        let mut frames = Masked {
            stack: vec![root],
            tops,
            masks: Vec::new(),
            lowest: room::filled(IDLE, len.div_ceil(program.strip)),
            doomed: Vec::new(),
            owners: Vec::new(),
            ticks: 0,
            extent: 0,
            gaps: false,
            transfer: (0..0, 0, 0, None),
            patience: members.settings.patience.map(Patience::new),
        };
        if !frames.reserve(members, P::arena_mut(words), len) {
            room::refused();
        }
        if members.tracked() {
            frames.owners.iter_mut().zip(0..len as u32).for_each(|(owner, lane)| *owner = lane);
        }
        frames
    }

    /// How many calls are under way, with the one of the root.
    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The frame of the `nth` call, and the one above it.
    pub(super) fn frame(&self, nth: usize) -> (&Frame, Option<&Frame>) {
        (&self.stack[nth], self.stack.get(nth + 1))
    }

    /// Which of its caller's lanes a frame has.
    pub(super) fn mask(&self, frame: &Frame) -> &[u64] {
        &self.masks[frame.masks.clone()]
    }

    /// The slots behind all frames.
    pub(super) fn end(&self) -> usize {
        self.tops.iter().copied().max().unwrap_or(0)
    }

    /// Frames are not left any more.
    pub(super) fn stay(&mut self) {
        self.patience = None;
    }

    /// Whether members have waited for others for too long.
    fn is_left<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], point: u32) -> bool {
        let Some(patience) = &mut self.patience else { return false };
        let top = &self.stack[self.stack.len() - 1];
        let active = pc_word::count(&words[top.words..top.words + top.len], point, members.level);
        let all = members.width() - members.vacant();
        patience.ends(all - active.min(all), all)
    }

    pub(super) fn transfer(&self, level: Level) -> Moves<'_> {
        let (mask, wide, dense, same) = self.transfer.clone();
        let mask = &self.masks[mask];
        match same {
            Some(len) => Moves::Copied { mask, wide, dense, len, level },
            None => Moves::Compressed { mask, wide, dense, level },
        }
    }

    /// Finishes the step before and picks the next: none if the frames are to be left.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn advance<P: PcWord>(
        &mut self,
        last: Step,
        members: &mut Occupancy<'_>,
        words: &mut Vec<P>,
        stage: &mut Stage,
    ) -> Option<Step> {
        let program = members.program;
        let blocks = program.blocks.len() as u32;
        let returns = blocks + program.calls.len() as u32;
        match last {
            Step::Block(block) => {
                let size = program.strip;
                members.steps_of.take_back(words, stage.words, &stage.strips, size, block);
                for (&strip, &lowest) in stage.strips.iter().zip(&stage.lowest) {
                    let at = stage.words + strip as usize;
                    self.lowest[strip as usize / program.strip] = match lowest {
                        STALE => pc_word::lowest(&words[at..at + program.strip], members.level),
                        lowest => lowest,
                    };
                }
            }
            Step::Load => {
                members.commit(|steps_of, lane, len| {
                    words[lane..lane + len].fill(P::of(program.entry_point));
                    steps_of.begin(lane..lane + len);
                    for lowest in &mut self.lowest[lane / program.strip..(lane + len).div_ceil(program.strip)]
                    {
                        *lowest = (*lowest).min(program.entry_point);
                    }
                });
            }
            _ => {}
        }
        loop {
            if !self.doomed.is_empty() {
                self.bury(members, words, stage);
                return Some(Step::Abandon);
            }
            let point = self.lowest.iter().fold(IDLE, |a, &b| a.least(b));
            if self.stack.len() == 1
                && let Some(step) = self.root(members, words, point)
            {
                if let Some(patience) = &mut self.patience {
                    patience.renew();
                }
                return Some(step);
            }
            if self.ticks.is_multiple_of(16) && self.is_left(members, words, point) {
                return None;
            }
            if point < blocks {
                if let Some(other) = self.behind(members, words, point) {
                    if self.block(members, words, stage, other) {
                        return Some(Step::Block(other));
                    }
                } else if self.block(members, words, stage, point) {
                    return Some(Step::Block(point));
                }
            } else if point < returns {
                if self.call(members, words, point) {
                    return Some(Step::Call(point - blocks));
                }
            } else if let Some(site) = self.pop(members, words, point) {
                return Some(Step::Return(site));
            }
        }
    }

    /// What the root frame does before anything runs in it: store results, close the gaps that finished
    /// members leave, load members, end.
    #[cfg_attr(optimised, inline(always))]
    fn root<P: PcWord>(
        &mut self,
        members: &mut Occupancy<'_>,
        words: &mut Vec<P>,
        point: u32,
    ) -> Option<Step> {
        if !members.loads.is_empty() {
            return Some(Step::Load);
        }
        if members.program.calls.is_empty() && members.is_crowded() {
            self.widen(members, words);
        }
        let mut point = point;
        if self.gaps {
            if let Some(step) = self.compact(members, words) {
                return Some(step);
            }
            point = IDLE;
        }
        let program = members.program;
        let ret = program.groups[program.root_group as usize].ret;
        let (width, strip) = (members.width(), program.strip);
        let over = point >= ret;
        let refilling = members.refilling();
        let calls = !program.calls.is_empty();
        // With calls members take no turns: frames are left instead.
        let is_turn = !calls && members.is_fair_turn(self.ticks);
        if !over && !refilling && !is_turn && (calls || self.extent <= strip) {
            return None;
        }
        let finished = pc_word::count(&words[..self.extent], ret, members.level);
        let vacant = members.vacant() + finished;
        let due = match () {
            _ if over => true,
            _ if is_turn => vacant > 0,
            _ if !refilling => 4 * (width - vacant).div_ceil(strip) <= 3 * self.extent.div_ceil(strip),
            _ if !calls => vacant >= width.div_ceil(8),
            // A call runs a whole subtree with the lanes it is given, so before one there should be many.
            _ => point >= program.blocks.len() as u32 && vacant >= width.div_ceil(2),
        };
        if !due {
            return None;
        }
        if finished > 0 {
            self.finish(members, words, ret);
            return Some(Step::Store);
        }
        if self.extent > width - members.vacant()
            && let Some(step) = self.compact(members, words)
        {
            return Some(step);
        }
        let taken = members.fetch(members.vacant());
        if !taken.is_empty() {
            members.seat(self.extent, taken.start, taken.len());
            self.extent += taken.len();
            return Some(Step::Load);
        }
        over.then_some(Step::Done)
    }

    /// More lanes for members, while there is no other frame.
    #[cold]
    fn widen<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut Vec<P>) {
        let (old, len) = (members.width(), members.wider());
        // Without memory it stays as it is.
        let has_room = self.reserve(members, words, len)
            && room::has_all(&mut self.masks, len.div_ceil(64))
            && room::has_all(&mut self.lowest, len.div_ceil(members.program.strip));
        if !has_room || !members.widen(len) {
            return;
        }
        self.stack[0].len = len;
        self.tops[members.program.root_group as usize] = len;
        if members.tracked() {
            (old..len).for_each(|lane| self.owners[lane] = lane as u32);
        }
        self.rescan(members, words);
    }

    /// Stores the results of the root frame's lanes at `ret`, which leaves gaps.
    fn finish<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P], ret: u32) {
        self.masks.clear();
        for chunk in words[..self.extent].chunks_mut(64) {
            self.masks.push(pc_word::mask(chunk, ret, members.level));
            chunk.iter_mut().for_each(|word| *word = if *word == P::of(ret) { P::IDLE } else { *word });
        }
        members.store(&self.masks);
        self.gaps = true;
    }

    /// Moves the root frame's lanes to the front. No step if there is none left.
    fn compact<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P]) -> Option<Step> {
        self.gaps = false;
        self.masks.clear();
        for chunk in words[..self.extent].chunks(64) {
            let idle = pc_word::mask(chunk, IDLE, members.level);
            self.masks.push(!idle & (!0 >> (64 - chunk.len())));
        }
        self.transfer = (0..self.masks.len(), 0, 0, None);
        let live = simd::count(&self.masks);
        simd::compact_words(&mut words[..self.extent], &self.masks, members.level);
        words[live..self.extent].fill(P::IDLE);
        members.compact(&self.masks);
        self.extent = live;
        self.rescan(members, words);
        (live > 0).then_some(Step::Compact)
    }

    /// The block to run before `point`, the lowest: where `point` is a loop of its own, and so many lanes
    /// have left it that they should make room for others.
    #[cfg_attr(optimised, inline(always))]
    fn behind<P: PcWord>(&self, members: &Occupancy<'_>, words: &[P], point: u32) -> Option<u32> {
        let program = members.program;
        let is_turn = members.is_fair_turn(self.ticks);
        let alone = self.extent <= program.strip && !is_turn;
        if !program.calls.is_empty() || !program.blocks[point as usize].again || alone {
            return None;
        }
        let words = &words[..self.extent];
        let others = members.width() - members.vacant() - pc_word::count(words, point, members.level);
        let enough = if is_turn { 1 } else { members.width().div_ceil(8) };
        if others < enough {
            return None;
        }
        let least = pc_word::lowest_above(words, point);
        // Lanes at a primitive wait for the others.
        (least < members.primitives).then_some(least)
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
        let is_root = self.stack.len() == 1;
        self.ticks = self.ticks.wrapping_add(1);
        let asks = members.over.is_some() || is_root || self.ticks.is_multiple_of(16);
        if asks && let Some(kind) = members.poll() {
            self.end_all(members, words, kind);
            return false;
        }
        let top = &self.stack[self.stack.len() - 1];
        stage.slots = top.base;
        stage.words = top.words;
        let rounds = members.rounds(is_root);
        let here = top.words..top.words + top.len;
        stage.rounds = members.steps_of.allow(&words[here], top.words, point, rounds);
        if stage.rounds == 0 {
            self.end_those_at_the_limit(members, words, point);
            return false;
        }
        stage.strips.clear();
        let size = members.program.strip;
        for (nth, &lowest) in self.lowest.iter().enumerate() {
            let first = nth * size;
            // Usually the lowest point of all is served, else lanes may hide behind lower ones.
            let here = match lowest.cmp(&point) {
                Ordering::Equal => true,
                Ordering::Greater => false,
                Ordering::Less => {
                    let first = top.words + first;
                    pc_word::count(&words[first..first + size], point, members.level) > 0
                }
            };
            if here {
                stage.strips.push(first as u32);
            }
        }
        stage.lowest.clear();
        stage.lowest.resize(stage.strips.len(), STALE);
        members.steps_of.advance(words, stage.words, &stage.strips, size, point);
        if members.tracked() {
            self.track(members, words, point);
        }
        true
    }

    /// Counts a block step for each member at `point`, for the report.
    #[cold]
    fn track<P: PcWord>(&self, members: &mut Occupancy<'_>, words: &[P], point: u32) {
        let top = &self.stack[self.stack.len() - 1];
        let (all, depth) = (top.words..top.words + top.len, self.stack.len() - 1);
        let all = words[all.clone()].iter().zip(&self.owners[all]);
        let here = all.filter(|(word, _)| **word == P::of(point));
        let count = here.map(|(_, owner)| members.visit(*owner as usize, point, depth)).count();
        members.executed(point, count, members.width());
    }

    /// Members at `point` that may not run the block.
    #[cold]
    fn end_those_at_the_limit<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], point: u32) {
        let message = too_long(members.settings.max_steps);
        let top = &self.stack[self.stack.len() - 1];
        let first = top.words;
        let here = words[first..first + top.len].iter().enumerate();
        for (lane, _) in here.filter(|(_, word)| **word == P::of(point)) {
            if members.steps_of.is_over(first + lane) {
                self.doom(lane, UnwindPoint::At(point), FaultKind::StepsExceeded, message.clone());
            }
        }
    }

    /// Compresses the lanes at a call point into a new frame. False if they are too deep.
    #[cfg_attr(optimised, inline(always))]
    fn call<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut Vec<P>, point: u32) -> bool {
        let program = members.program;
        let depth = self.stack.len();
        if members.is_deepest(depth - 1) {
            self.too_deep(members, words, point);
            return false;
        }
        let caller = &self.stack[depth - 1];
        let (chunks, strips) = (caller.len.div_ceil(64), caller.len.div_ceil(program.strip));
        self.masks.truncate(caller.masks.end);
        self.lowest.clear();
        // Without gaps, and the strip behind: as much as the callee may need.
        let end = caller.words + (caller.len + 8).next_multiple_of(8) + caller.len;
        if !room::has(&mut self.masks, chunks)
            || !room::has(&mut self.lowest, strips)
            || !room::has(&mut self.stack, 1)
            || !self.reserve(members, words, end)
        {
            self.rescan(members, words);
            self.refused(members, words, point);
            return false;
        }
        members.depth = members.depth.max(depth);
        let caller = &self.stack[depth - 1];
        let site = point - program.blocks.len() as u32;
        let call = &program.calls[site as usize];
        let masks = caller.masks.end..caller.masks.end + chunks;
        let mut len = 0;
        for chunk in words[caller.words..caller.words + caller.len].chunks(64) {
            let mask = pc_word::mask(chunk, point, members.level);
            len += mask.count_ones() as usize;
            self.masks.push(mask);
        }
        // Copying a column is several times faster than compressing it, and idle lanes cost what they cost in
        // any mask.
        let same = 2 * len >= caller.len;
        let len = if same { caller.len } else { len };
        // Strips shall not cross cache lines; but where a few lanes go deep, memory counts more.
        let align = if len < 8 { 1 } else { 8 };
        let top = self.tops[call.group as usize];
        let base = top.next_multiple_of(align);
        let (above, first) = (caller.words, (caller.words + caller.len).next_multiple_of(align));
        self.transfer = (masks.clone(), caller.base, base, same.then_some(len));
        self.tops[call.group as usize] = base + len;
        let (callers, callees) = words.split_at_mut(first);
        let (callers, callees) = (&callers[above..], &mut callees[..len]);
        if same {
            let (from, to) = (P::of(point), P::of(call.entry));
            for (callee, caller) in callees.iter_mut().zip(callers) {
                *callee = if *caller == from { to } else { P::IDLE };
            }
            self.lowest
                .extend(callees.chunks(program.strip).map(|strip| pc_word::lowest(strip, members.level)));
        } else {
            callees.fill(P::of(call.entry));
            self.lowest.resize(len.div_ceil(program.strip), call.entry);
        }
        if members.tracked() {
            let lanes = simd::lanes(&self.masks[masks.clone()]).enumerate();
            for (nth, lane) in lanes {
                self.owners[first + if same { lane } else { nth }] = self.owners[above + lane];
            }
        }
        match same {
            true => members.steps_of.copy(first, above, len),
            false => members.steps_of.compress(first, above, &self.masks[masks.clone()], members.level),
        }
        let left = members.steps_of.left();
        self.stack.push(Frame { group: call.group, site, base, words: first, len, masks, same, top, left });
        true
    }

    #[cold]
    fn too_deep<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], point: u32) {
        let (kind, message) = members.too_deep();
        self.end_those_at(words, point, kind, &message);
    }

    /// There is no memory for what the lanes of the top frame at `point` would do next.
    #[cold]
    pub(super) fn refused<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], point: u32) {
        self.rescan(members, words);
        self.end_those_at(words, point, FaultKind::MemoryExceeded, TOO_MUCH);
    }

    /// There is none for what the call moves whose frame is the top: the frame is gone again.
    #[cold]
    pub(super) fn call_refused<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P]) {
        let frame = self.stack.pop().expect("a call has a frame");
        words[frame.words..frame.words + frame.len].fill(P::IDLE);
        self.tops[frame.group as usize] = frame.top;
        members.steps_of.look_again();
        self.refused(members, words, members.program.blocks.len() as u32 + frame.site);
    }

    /// Ends the members of the top frame that wait at `point`.
    fn end_those_at<P: PcWord>(&mut self, words: &[P], point: u32, kind: FaultKind, message: &str) {
        let top = &self.stack[self.stack.len() - 1];
        let words = &words[top.words..top.words + top.len];
        for lane in (0..words.len()).filter(|&lane| words[lane] == P::of(point)) {
            self.doom(lane, UnwindPoint::At(point), kind, message.to_owned());
        }
    }

    /// Ends the top frame, whose lanes are all at the return point or dead. The site, if any is not.
    #[cfg_attr(optimised, inline(always))]
    fn pop<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P], point: u32) -> Option<u32> {
        let frame = self.stack.pop().expect("the root frame ends the run");
        words[frame.words..frame.words + frame.len].fill(P::IDLE);
        self.tops[frame.group as usize] = frame.top;
        let program = members.program;
        let caller = &self.stack[self.stack.len() - 1];
        let from = P::of(program.blocks.len() as u32 + frame.site);
        let to = P::of(program.calls[frame.site as usize].cont);
        match frame.same {
            true => members.steps_of.copy_back(caller.words, frame.words, frame.len, frame.left),
            false => {
                let masks = &self.masks[frame.masks.clone()];
                members.steps_of.expand(caller.words, frame.words, masks, frame.left, members.level);
            }
        }
        self.lowest.clear();
        for strip in words[caller.words..caller.words + caller.len].chunks_mut(program.strip) {
            for word in &mut *strip {
                *word = if *word == from { to } else { *word };
            }
            self.lowest.push(pc_word::lowest(strip, members.level));
        }
        self.transfer = (frame.masks, caller.base, frame.base, frame.same.then_some(frame.len));
        (point != IDLE).then_some(frame.site)
    }

    /// Brings `lowest` up to date with the top frame.
    fn rescan<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P]) {
        let top = &self.stack[self.stack.len() - 1];
        self.lowest.clear();
        let words = &words[top.words..top.words + top.len];
        let strips = words.chunks(members.program.strip);
        self.lowest.extend(strips.map(|strip| pc_word::lowest(strip, members.level)));
    }

    /// Makes room for words up to `end` and the strip that reaches beyond it, if there is memory.
    #[cfg_attr(optimised, inline(always))]
    fn reserve<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut Vec<P>, end: usize) -> bool {
        let end = end + members.program.strip;
        end <= words.len() || self.grow(members, words, end)
    }

    #[cold]
    #[inline(never)]
    fn grow<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut Vec<P>, end: usize) -> bool {
        let len = end.max(2 * words.len());
        let owners = if members.tracked() { len } else { 0 };
        let has_room = room::has_all(words, len)
            && members.steps_of.has_room(len)
            && room::has_all(&mut self.owners, owners);
        if has_room {
            words.resize(len, P::IDLE);
            members.steps_of.resize(len);
            self.owners.resize(owners, 0);
        }
        has_room
    }

    /// Ends the member on a lane of the top frame.
    pub(super) fn doom(&mut self, lane: usize, unwind_point: UnwindPoint, kind: FaultKind, message: String) {
        let frame = self.stack.len() - 1;
        self.doomed.push(Doomed { frame, lane, unwind_point, kind, message });
    }

    /// Ends all members of the top frame that have no result yet.
    #[cold]
    fn end_all<P: PcWord>(&mut self, members: &Occupancy<'_>, words: &[P], kind: FaultKind) {
        let top = &self.stack[self.stack.len() - 1];
        let ret = members.program.groups[top.group as usize].ret;
        let is_root = self.stack.len() == 1;
        let words = &words[top.words..top.words + top.len];
        for (lane, point) in words.iter().map(|word| word.point()).enumerate() {
            if point != IDLE && !(is_root && point == ret) {
                self.doom(lane, UnwindPoint::At(point), kind, ended(kind));
            }
        }
    }

    /// Lists what doomed members own, activation by activation, as much as fits one step.
    #[cold]
    fn bury<P: PcWord>(&mut self, members: &mut Occupancy<'_>, words: &mut [P], stage: &mut Stage) {
        stage.gone.clear();
        stage.buried = 0;
        while let Some(one) = self.doomed.last_mut() {
            if stage.gone.len() == ABANDON {
                return;
            }
            let frame = &self.stack[one.frame];
            stage.gone.push(Gone {
                unwind_point: one.unwind_point,
                slot: frame.base + one.lane,
                fate: Fate::Dropped { in_frame: true },
            });
            words[frame.words + one.lane] = P::IDLE;
            if one.frame > 0 {
                if !frame.same {
                    one.lane = pc_word::select(&self.masks[frame.masks.clone()], one.lane);
                }
                one.unwind_point = UnwindPoint::Calling(frame.site);
                one.frame -= 1;
            } else {
                members.fail(one.lane, one.kind, std::mem::take(&mut one.message));
                self.doomed.pop();
            }
        }
        self.rescan(members, words);
    }
}
