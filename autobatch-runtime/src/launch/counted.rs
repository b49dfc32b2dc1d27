//! Tiles of a run with limits, or with a report: how they end early, and who goes on then.
//!
//! Vector code counts for the tile as a whole ([`Pulse`]), and its lanes wait for each other. So a tile with a member that does not end has no
//! results. Its program only computes, so its members may run twice:
//!
//! * A tile that has made more steps than one member may is given up. Its members run in smaller tiles, or by the machine, which counts each.
//! * A tile that takes long, in a run that may be ended from outside, gets a *companion*: the machine, which runs the same members a
//!   little each time the tile looks up, then others that wait. There no member waits for another. Whoever comes first has the results.
//!
//! **Invariant:** each member of the tile has a result or a fault behind it.

use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::launcher::{BODY_STACK, Launch};
use super::phase::TileCounts;
use super::ways::Code;
use crate::api::fault::{Fault, FaultKind, FaultList, TOO_MUCH, ended};
use crate::api::options::{Executor, Schedule};
use crate::batch::voice::Voice;
use crate::batch::{Numbering, Pulse, Queue, Stopped, Tired, Watch};
use crate::machine::{Core, Mode, Settings};
use crate::native_stack::budget::TooMuch;
use crate::native_stack::depth::{self, Depth};
use crate::simd::Level;
use crate::storage::Store;
use crate::vector::{Memory, Tile, WavefrontRules};

/// How long a tile may take before it gets a companion.
const PATIENCE: Duration = Duration::from_millis(20);
/// The time of the tile for each time of its companion: at first, and once the companion has done a part of the members, of which it is clear
/// then that they wait for few.
const SHARE: [u32; 2] = [7, 1];
const PART: usize = 4;
/// The least time for which the companion is worth to be called, and the most at a time.
const SLICE: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(2)];
/// How long a companion goes on when the run is ended from outside, so that members that need little have their results.
const GRACE: Duration = Duration::from_millis(2);
/// Steps that it does whenever it runs, however long they take.
const LEAST: u32 = 16;
/// Members that the companion has under way.
const LANES: usize = 4096;
/// Pieces of the batch that the machine is given at once.
const RANGES: usize = 64;
/// Members of the first tile where steps are a sum over members.
const FIRST: usize = 64;

/// What a tile unwinds with whose members all have results.
struct Overtaken;

/// What tiles of one worker run with.
pub(super) struct CountedTiles<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) code: &'a dyn Code,
    pub(super) executor: Executor,
    pub(super) level: Level,
    pub(super) depth: Depth,
    pub(super) rules: Option<WavefrontRules<'a>>,
    /// The members that nobody has taken.
    pub(super) queue: &'a Arc<Queue>,
    /// Members of a tile at most.
    pub(super) most: usize,
    /// Taken, but not under way.
    pub(super) waiting: Vec<Range<usize>>,
    /// To be run by the machine, many at a time.
    pub(super) over: Vec<Range<usize>>,
    pub(super) done: TileCounts,
    /// Whether few lanes may run as scalar code: until that has taken too long.
    pub(super) few: bool,
}

/// The members of a tile by the machine, beside it.
struct Companion<'c> {
    launch: &'c Launch<'c>,
    code: &'c dyn Code,
    queue: &'c Queue,
    machine: Option<(Core<'c>, Store)>,
    members: Range<usize>,
    begin: Instant,
    spent: Duration,
}

/// What a companion runs under: its tile looks at the limits for it. Counts the members that are done.
struct Aside<'a> {
    launch: &'a Launch<'a>,
    done: AtomicUsize,
}

impl Watch for Aside<'_> {
    fn over(&self) -> Option<FaultKind> {
        None
    }
    fn ended(&self, members: usize) {
        self.done.fetch_add(members, Ordering::Relaxed);
        self.launch.ended(members);
    }
    fn numbering(&self) -> Numbering<'_> {
        self.launch.numbering
    }
}

impl Aside<'_> {
    fn settings(&self, lanes: usize) -> Settings {
        Settings {
            mode: Mode::ProgramCounter,
            lanes,
            report: false,
            refill: true,
            schedule: Schedule::MostLanes,
            fair: 1,
            trace: [0..0, 0..0],
            ..self.launch.settings(Executor::ProgramCounter)
        }
    }
}

impl<'c> Companion<'c> {
    /// Lets the companion run if it is its turn.
    fn beat(&mut self, aside: &'c Aside<'c>) {
        let tile = self.begin.elapsed() - self.spent;
        let waits = PART * aside.done.load(Ordering::Relaxed) >= self.members.len();
        let due = (tile.saturating_sub(PATIENCE) / SHARE[usize::from(waits)]).saturating_sub(self.spent);
        if due >= SLICE[0] && self.run(due.min(SLICE[1]), aside) {
            resume_unwind(Box::new(Overtaken));
        }
    }

    /// Goes on for some time; whether all members of the tile are done.
    fn run(&mut self, time: Duration, aside: &'c Aside<'c>) -> bool {
        let begin = Instant::now();
        let (core, store) = self.machine.get_or_insert_with(|| {
            let settings = aside.settings(LANES.min(self.queue.waiting()));
            (Core::new(self.launch.program, settings, self.queue, aside), Store::new())
        });
        let _voice = Voice::of_members(self.launch.options.quiet).speak();
        core.go_on_until(begin + time, LEAST);
        enter(core, store, self.code);
        self.spent += begin.elapsed();
        !core.is_paused() || self.members.clone().all(|member| self.code.is_set(member))
    }

    fn into_faults(self) -> FaultList {
        self.machine.map_or_else(FaultList::default, |(core, _)| core.finish().faults)
    }
}

/// Pieces of the batch without those members that have been taken of them.
fn without(pieces: Vec<Range<usize>>, taken: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = pieces;
    for taken in taken {
        let parts = |piece: Range<usize>| {
            let before = piece.start..piece.end.min(taken.start);
            let behind = piece.start.max(taken.end)..piece.end;
            match piece.start < taken.end && taken.start < piece.end {
                true => [before, behind],
                false => [piece, 0..0],
            }
        };
        left = left.into_iter().flat_map(parts).filter(|piece| !piece.is_empty()).collect();
    }
    left
}

/// Runs the machine until it is done, or pauses.
pub(super) fn enter(core: &mut Core<'_>, store: &Store, code: &dyn Code) {
    depth::with_room(BODY_STACK, &mut || {
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| code.machine(core, store))) {
            core.fault(payload);
        }
    });
}

impl CountedTiles<'_> {
    /// Tile after tile, until no member waits.
    pub(super) fn run(&mut self, least: usize, memory: &mut Memory, faults: &mut FaultList) {
        let full = self.most;
        if self.launch.options.max_steps.is_some() && self.launch.program.recursive {
            self.most = self.most.min(FIRST);
        }
        loop {
            let mut members = match self.waiting.pop() {
                Some(members) => members,
                None => self.queue.take_tile(least.min(self.most), self.most),
            };
            if members.is_empty() {
                return self.exact(faults);
            }
            if members.len() > self.most {
                self.waiting.push(members.start + self.most..members.end);
                members.end = members.start + self.most;
            }
            match self.launch.over() {
                Some(kind) => self.end(members, kind, faults),
                None => self.tile(members, full, memory, faults),
            }
        }
    }

    fn tile(&mut self, members: Range<usize>, full: usize, memory: &mut Memory, faults: &mut FaultList) {
        let (launch, code, max_steps) = (self.launch, self.code, self.launch.max_steps());
        let aside = Aside { launch, done: AtomicUsize::new(0) };
        // A companion runs what this worker has put aside, too.
        let (waiting, over) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.over));
        let aside_first = waiting.iter().take(RANGES).chain(over.iter().take(RANGES));
        let queue = Queue::before(members.clone(), self.behind(aside_first));
        let (begin, spent) = (Instant::now(), Duration::ZERO);
        let companion =
            Companion { launch, code, queue: &queue, machine: None, members: members.clone(), begin, spent };
        let companion = RefCell::new(companion);
        let beat = || {
            if let Some(kind) = launch.over() {
                resume_unwind(Box::new(Stopped(kind)));
            }
            if launch.ends() {
                companion.borrow_mut().beat(&aside);
            }
        };
        let pulse = Pulse::new(max_steps, launch.limits.is_some(), self.few, &beat);
        let mut tile = Tile {
            memory,
            members: members.clone(),
            numbering: launch.numbering,
            depth: self.depth,
            level: self.level,
            pulse: Some(&pulse),
            rules: self.rules,
        };
        // Who panics will run again.
        let silent = Voice::Silent.speak();
        let caught = catch_unwind(AssertUnwindSafe(|| code.vector(&mut tile)));
        drop(silent);
        let sum = pulse.sum();
        self.done.tiles += 1;
        self.done.given_up += u64::from(caught.is_err());
        self.done.steps += pulse.steps();
        self.done.compactions += pulse.compactions();
        let mut companion = companion.into_inner();
        let why = match &caught {
            Ok(()) => None,
            Err(payload) if payload.is::<Overtaken>() => None,
            Err(payload) => Some(payload.downcast_ref().map(|Stopped(kind)| *kind)),
        };
        let outside = why.flatten().filter(|kind| *kind != FaultKind::StepsExceeded);
        if outside.is_some() {
            // Those that a companion has not run yet need no more than they have had.
            let _ = companion.run(GRACE.min(begin.elapsed()), &aside);
        }
        let found = companion.into_faults();
        let borrowed = queue.borrowed();
        self.waiting = without(waiting, &borrowed);
        self.over = without(over, &borrowed);
        let told = aside.done.load(Ordering::Relaxed) - self.take_back(&borrowed, &found, faults);
        if caught.is_ok() {
            self.learn(sum, members.len(), full);
            return self.tell(members.len() - told);
        }
        if launch.limits.is_none() {
            return launch.again(members, self.depth, code, faults);
        }
        let at_fault = |member| found.iter().find(|fault| fault.member == member);
        let mut rest = Vec::new();
        for member in members.clone().filter(|member| !code.is_set(*member)) {
            match at_fault(member) {
                Some(fault) => faults.push(fault.clone()),
                None => rest.push(member),
            }
        }
        self.tell(members.len() - rest.len() - told);
        let rest = rest.chunk_by(|one, next| one + 1 == *next).map(|run| run[0]..run[run.len() - 1] + 1);
        if let Some(kind) = outside {
            return rest.for_each(|members| self.end(members, kind, faults));
        }
        let tired = caught.as_ref().is_err_and(|payload| payload.is::<Tired>());
        self.few &= !tired;
        // A sum says little of one member. Fewer have a smaller one.
        let divides = why == Some(Some(FaultKind::StepsExceeded)) && 2 * sum > max_steps && members.len() > 1;
        for members in rest.collect::<Vec<_>>() {
            if divides {
                self.most = members.len().div_ceil(4).min(self.most);
                self.waiting.push(members);
            } else if tired {
                self.waiting.push(members);
            } else {
                self.over.push(members);
            }
        }
    }

    /// So many members are done of which nobody has been told.
    fn tell(&self, members: usize) {
        if members > 0 {
            self.launch.ended(members);
        }
    }

    /// The members of the companion that are not the tile's: those that are done, how many, and those that wait again.
    fn take_back(&mut self, borrowed: &[Range<usize>], found: &[Fault], faults: &mut FaultList) -> usize {
        let mut done = 0;
        for members in borrowed {
            for member in members.clone() {
                let fault = found.iter().find(|fault| fault.member == member);
                let is_set = self.code.is_set(member);
                if is_set || fault.is_some() {
                    faults.extend(fault.filter(|_| !is_set).cloned());
                    done += 1;
                    continue;
                }
                match self.waiting.last_mut() {
                    Some(last) if last.end == member => last.end += 1,
                    _ => self.waiting.push(member..member + 1),
                }
            }
        }
        done
    }

    /// A tile has made so many steps: the next ones may be larger.
    fn learn(&mut self, sum: u64, members: usize, full: usize) {
        let each = (sum / members as u64).max(1);
        let fit = (self.launch.max_steps() / 2 / each).clamp(1, full as u64) as usize;
        self.most = if sum == 0 { full } else { fit };
    }

    /// Pieces of the batch, and then the members that nobody has taken.
    fn behind<'m>(&self, pieces: impl Iterator<Item = &'m Range<usize>>) -> Arc<Queue> {
        pieces
            .fold(Arc::clone(self.queue), |behind, members| Arc::new(Queue::before(members.clone(), behind)))
    }

    /// Members by the machine, which counts each.
    fn exact(&mut self, faults: &mut FaultList) {
        let launch = self.launch;
        for some in self.over.chunks(RANGES) {
            let queue = self.behind(some.iter());
            let machine = || Core::new(launch.program, launch.settings(self.executor), &queue, launch);
            match catch_unwind(AssertUnwindSafe(machine)) {
                Ok(mut core) => {
                    enter(&mut core, &Store::new(), self.code);
                    faults.append(&mut core.finish().faults);
                }
                Err(payload) if payload.is::<TooMuch>() => {
                    let kind = FaultKind::MemoryExceeded;
                    let fault = |member| Fault { member, kind, message: TOO_MUCH.to_owned() };
                    launch.ended(some.iter().map(Range::len).sum());
                    faults.extend(some.iter().cloned().flatten().map(fault));
                }
                Err(payload) => resume_unwind(payload),
            }
        }
        self.over.clear();
    }

    /// Members that are ended from outside.
    fn end(&self, members: Range<usize>, kind: FaultKind, faults: &mut FaultList) {
        self.launch.ended(members.len());
        faults.extend(members.map(|member| Fault { member, kind, message: ended(kind) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_members_are_left_out() {
        let pieces = vec![0..10, 20..30, 40..41];
        assert_eq!(without(pieces.clone(), &[]), pieces);
        assert_eq!(without(pieces, &[3..5, 20..21, 29..41, 0..1]), [1..3, 5..10, 21..29]);
        assert_eq!(without(vec![3..6, 7..8], &[4..5, 9..12]), [3..4, 5..6, 7..8]);
        assert!(without(vec![3..6, 7..8], &[0..5, 5..9]).is_empty());
    }
}
