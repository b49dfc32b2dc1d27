//! Masked execution: frames of lanes that are in the same activation.
//!
//! The frame stack lives on the heap, so recursion of any depth needs no native stack. Only the top
//! frame runs. A frame occupies exactly `len` slots of its group's columns and `len` words; the strips
//! of the top frame may reach beyond its end, where all words are idle and all slots unused.

use std::ops::Range;

use super::members::{CANCELLED, Members, too_deep, too_long};
use super::route::Way;
use super::word::{self, IDLE, Word, Words};
use super::{Gone, Place, STALE, Stage, Step};
use crate::fault::FaultKind;
use crate::isa::{self, Level};

/// How many values a dead member may have dropped per abandon step; bounds the memory for the list.
const ABANDON: usize = 4096;

/// The lanes of one call.
struct Frame {
    group: u16,
    /// The call site; of no meaning for the root.
    site: u32,
    /// The first slot in the group's columns.
    base: usize,
    /// The first word.
    words: usize,
    len: usize,
    /// Where in `Frames::masks` it says which of the parent's lanes these are.
    masks: Range<usize>,
    /// The group's arena top before this frame.
    top: usize,
}

/// A member that dies: the lane it has in `frame`, on its way down to the root.
struct Doomed {
    frame: usize,
    lane: usize,
    place: Place,
    kind: FaultKind,
    message: String,
}

/// The frame stack.
pub(super) struct Frames {
    stack: Vec<Frame>,
    /// By group: the end of the columns' used part.
    tops: Vec<usize>,
    /// The masks of all frames.
    masks: Vec<u64>,
    /// The lowest point in each strip of the top frame.
    lowest: Vec<u32>,
    doomed: Vec<Doomed>,
    /// The members' root lanes, beside the words; only if steps are counted.
    owners: Vec<u32>,
    /// Block steps so far.
    ticks: u32,
    /// What the current call or return step moves: mask, the caller's first slot, the callee's.
    route: (Range<usize>, usize, usize),
}

impl Frames {
    pub(super) fn new<P: Word>(members: &Members<'_>, words: &mut Words) -> Frames {
        let program = members.program;
        let len = members.width();
        let mut tops = vec![0; program.groups.len()];
        tops[program.root_group as usize] = len;
        let root =
            Frame { group: program.root_group, site: u32::MAX, base: 0, words: 0, len, masks: 0..0, top: 0 };
        let mut frames = Frames {
            stack: vec![root],
            tops,
            masks: Vec::new(),
            lowest: vec![IDLE; len.div_ceil(program.strip)],
            doomed: Vec::new(),
            owners: Vec::new(),
            ticks: 0,
            route: (0..0, 0, 0),
        };
        frames.reserve(members, P::arena_mut(words), len);
        if members.tracked() {
            frames.owners.iter_mut().zip(0..len as u32).for_each(|(owner, lane)| *owner = lane);
        }
        frames
    }

    pub(super) fn way(&self, level: Level) -> Way<'_> {
        let (mask, wide, dense) = &self.route;
        Way::Frame { mask: &self.masks[mask.clone()], wide: *wide, dense: *dense, level }
    }

    /// The lane of the top frame has panicked in `block`.
    pub(super) fn panicked(&mut self, lane: usize, block: u32, message: String) {
        self.doom(lane, Place::Ran(block), FaultKind::Panic, message);
    }

    /// Finishes the step before and picks the next.
    #[inline(always)]
    pub(super) fn advance<P: Word>(
        &mut self,
        last: Step,
        members: &mut Members<'_>,
        words: &mut Vec<P>,
        stage: &mut Stage,
    ) -> Step {
        let program = members.program;
        let blocks = program.blocks.len() as u32;
        let returns = blocks + program.calls.len() as u32;
        match last {
            Step::Block(_) => {
                for (&strip, &lowest) in stage.strips.iter().zip(&stage.lowest) {
                    let at = stage.words + strip as usize;
                    self.lowest[strip as usize / program.strip] = match lowest {
                        STALE => word::lowest(&words[at..at + program.strip], members.level),
                        lowest => lowest,
                    };
                }
            }
            Step::Load => {
                for (lane, _) in members.commit() {
                    words[lane as usize] = P::of(program.entry_point);
                    let lowest = &mut self.lowest[lane as usize / program.strip];
                    *lowest = (*lowest).min(program.entry_point);
                }
            }
            _ => {}
        }
        loop {
            if !self.doomed.is_empty() {
                self.bury(members, words, stage);
                return Step::Abandon;
            }
            let point = self.lowest.iter().fold(IDLE, |a, &b| a.least(b));
            if self.stack.len() == 1
                && let Some(step) = self.root(members, words, point)
            {
                return step;
            }
            if point < blocks {
                if self.block(members, words, stage, point) {
                    return Step::Block(point);
                }
            } else if point < returns {
                if self.call(members, words, point) {
                    return Step::Call(point - blocks);
                }
            } else if let Some(site) = self.pop(members, words, point) {
                return Step::Return(site);
            }
        }
    }

    /// What the root frame does before anything runs in it: store results, load members, end.
    #[inline(always)]
    fn root<P: Word>(&mut self, members: &mut Members<'_>, words: &mut [P], point: u32) -> Option<Step> {
        if !members.loads.is_empty() {
            return Some(Step::Load);
        }
        let program = members.program;
        let ret = program.groups[program.root_group as usize].ret;
        let over = point >= ret;
        if !over && !members.refilling() {
            return None;
        }
        let width = members.width();
        // A call runs a whole subtree with the lanes it is given, so before one there should be many.
        let wanted = match () {
            _ if over => 0,
            _ if program.calls.is_empty() => width.div_ceil(16),
            _ if point >= program.blocks.len() as u32 => width.div_ceil(2),
            _ => return None,
        };
        let words = &mut words[..width];
        let finished = word::count(words, ret, members.level);
        if finished + members.vacant() < wanted {
            return None;
        }
        if finished > 0 {
            let done = |&lane: &u32| words[lane as usize] == P::of(ret);
            members.store((0..width as u32).filter(done));
            words.iter_mut().filter(|word| **word == P::of(ret)).for_each(|word| *word = P::IDLE);
            self.rescan(members, words);
            return Some(Step::Store);
        }
        if members.fetch() {
            return Some(Step::Load);
        }
        over.then_some(Step::Done)
    }

    /// Prepares a block step. False if some lanes had to die instead.
    #[inline(always)]
    fn block<P: Word>(
        &mut self,
        members: &mut Members<'_>,
        words: &[P],
        stage: &mut Stage,
        point: u32,
    ) -> bool {
        let is_root = self.stack.len() == 1;
        self.ticks = self.ticks.wrapping_add(1);
        if members.cancelled || ((is_root || self.ticks.is_multiple_of(16)) && members.poll()) {
            self.cancel(members, words);
            return false;
        }
        let top = &self.stack[self.stack.len() - 1];
        stage.slots = top.base;
        stage.words = top.words;
        stage.rounds = members.rounds(is_root);
        stage.strips.clear();
        let mut first = 0;
        for &lowest in &self.lowest {
            if lowest == point {
                stage.strips.push(first);
            }
            first += members.program.strip as u32;
        }
        stage.lowest.clear();
        stage.lowest.resize(stage.strips.len(), STALE);
        !members.tracked() || self.track(members, words, point)
    }

    /// Counts a block step for each member at `point`. False if some may not execute it.
    #[cold]
    fn track<P: Word>(&mut self, members: &mut Members<'_>, words: &[P], point: u32) -> bool {
        let top = &self.stack[self.stack.len() - 1];
        let (len, first) = (top.len, top.words);
        let at = |lane: &usize| words[first + lane] == P::of(point);
        let here: Vec<(usize, usize)> =
            (0..len).filter(at).map(|lane| (lane, self.owners[first + lane] as usize)).collect();
        for &(lane, _) in here.iter().filter(|(_, owner)| !members.may_step(*owner)) {
            self.doom(lane, Place::At(point), FaultKind::StepsExceeded, too_long(members.settings.max_steps));
        }
        if !self.doomed.is_empty() {
            return false;
        }
        here.iter().for_each(|&(_, owner)| members.step(owner, point));
        members.executed(point, here.len(), members.width());
        true
    }

    /// Compresses the lanes at a call point into a new frame. False if they are too deep.
    #[inline(always)]
    fn call<P: Word>(&mut self, members: &mut Members<'_>, words: &mut Vec<P>, point: u32) -> bool {
        let program = members.program;
        let depth = self.stack.len();
        if depth > members.settings.max_depth {
            self.too_deep(members, words, point);
            return false;
        }
        members.depth = members.depth.max(depth);
        let caller = &self.stack[depth - 1];
        let site = point - program.blocks.len() as u32;
        let call = &program.calls[site as usize];
        let masks = caller.masks.end..caller.masks.end + caller.len.div_ceil(64);
        self.masks.truncate(masks.start);
        let mut len = 0;
        for chunk in words[caller.words..caller.words + caller.len].chunks(64) {
            let mask = word::mask(chunk, point, members.level);
            len += mask.count_ones() as usize;
            self.masks.push(mask);
        }
        let top = self.tops[call.group as usize];
        let (base, first) = (top, caller.words + caller.len);
        let above = caller.words;
        self.route = (masks.clone(), caller.base, base);
        self.tops[call.group as usize] = base + len;
        self.reserve(members, words, first + len);
        words[first..first + len].fill(P::of(call.entry));
        if members.tracked() {
            for (at, lane) in isa::lanes(&self.masks[masks.clone()]).enumerate() {
                self.owners[first + at] = self.owners[above + lane];
            }
        }
        self.lowest.clear();
        self.lowest.resize(len.div_ceil(program.strip), call.entry);
        self.stack.push(Frame { group: call.group, site, base, words: first, len, masks, top });
        true
    }

    #[cold]
    fn too_deep<P: Word>(&mut self, members: &Members<'_>, words: &[P], point: u32) {
        let limit = members.settings.max_depth;
        let top = &self.stack[self.stack.len() - 1];
        let words = &words[top.words..top.words + top.len];
        for lane in (0..words.len()).filter(|&lane| words[lane] == P::of(point)) {
            self.doom(lane, Place::At(point), FaultKind::DepthExceeded, too_deep(limit));
        }
    }

    /// Ends the top frame, whose lanes are all at the return point or dead. The site, if any is not.
    #[inline(always)]
    fn pop<P: Word>(&mut self, members: &Members<'_>, words: &mut [P], point: u32) -> Option<u32> {
        let frame = self.stack.pop().expect("the root frame ends the run");
        words[frame.words..frame.words + frame.len].fill(P::IDLE);
        self.tops[frame.group as usize] = frame.top;
        let program = members.program;
        let caller = &self.stack[self.stack.len() - 1];
        let from = P::of(program.blocks.len() as u32 + frame.site);
        let to = P::of(program.calls[frame.site as usize].cont);
        self.lowest.clear();
        for strip in words[caller.words..caller.words + caller.len].chunks_mut(program.strip) {
            for word in &mut *strip {
                *word = if *word == from { to } else { *word };
            }
            self.lowest.push(word::lowest(strip, members.level));
        }
        self.route = (frame.masks, caller.base, frame.base);
        (point != IDLE).then_some(frame.site)
    }

    /// Brings `lowest` up to date with the top frame.
    fn rescan<P: Word>(&mut self, members: &Members<'_>, words: &[P]) {
        let top = &self.stack[self.stack.len() - 1];
        self.lowest.clear();
        let words = &words[top.words..top.words + top.len];
        let strips = words.chunks(members.program.strip);
        self.lowest.extend(strips.map(|strip| word::lowest(strip, members.level)));
    }

    /// Makes room for words up to `end` and the strip that reaches beyond it.
    #[inline(always)]
    fn reserve<P: Word>(&mut self, members: &Members<'_>, words: &mut Vec<P>, end: usize) {
        let end = end + members.program.strip;
        if end > words.len() {
            let len = end.max(2 * words.len());
            words.resize(len, P::IDLE);
            if members.tracked() {
                self.owners.resize(len, 0);
            }
        }
    }

    fn doom(&mut self, lane: usize, place: Place, kind: FaultKind, message: String) {
        let frame = self.stack.len() - 1;
        self.doomed.push(Doomed { frame, lane, place, kind, message });
    }

    /// Ends all members of the top frame that have no result yet.
    #[cold]
    fn cancel<P: Word>(&mut self, members: &Members<'_>, words: &[P]) {
        let top = &self.stack[self.stack.len() - 1];
        let ret = members.program.groups[top.group as usize].ret;
        let is_root = self.stack.len() == 1;
        let words = &words[top.words..top.words + top.len];
        for (lane, point) in words.iter().map(|word| word.point()).enumerate() {
            if point != IDLE && !(is_root && point == ret) {
                self.doom(lane, Place::At(point), FaultKind::Cancelled, CANCELLED.into());
            }
        }
    }

    /// Lists what doomed members own, activation by activation, as much as fits one step.
    #[cold]
    fn bury<P: Word>(&mut self, members: &mut Members<'_>, words: &mut [P], stage: &mut Stage) {
        stage.gone.clear();
        stage.buried = 0;
        while let Some(one) = self.doomed.last_mut() {
            if stage.gone.len() == ABANDON {
                return;
            }
            let frame = &self.stack[one.frame];
            stage.gone.push(Gone { place: one.place, slot: frame.base + one.lane, masked: true });
            words[frame.words + one.lane] = P::IDLE;
            if one.frame > 0 {
                one.lane = word::select(&self.masks[frame.masks.clone()], one.lane);
                one.place = Place::Calling(frame.site);
                one.frame -= 1;
            } else {
                members.fail(one.lane, one.kind, std::mem::take(&mut one.message));
                self.doomed.pop();
            }
        }
        self.rescan(members, words);
    }
}
