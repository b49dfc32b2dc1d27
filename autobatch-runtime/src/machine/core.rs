//! One worker's machine: what runs next, for which lanes, and who is to blame when the body unwinds.
//!
//! **Invariant:** while lane code runs, `strip` and `lane` say which lane has unwound, if one has.

use std::any::Any;
use std::cell::Cell;
use std::mem::forget;
use std::ops::Range;
use std::panic::resume_unwind;
use std::time::Instant;

use super::counters::Finished;
use super::leaving_frames::{After, LeavingFrames};
use super::masked::Masked;
use super::occupancy::Occupancy;
use super::program_counter::ProgramCounter;
use super::settings::{Mode, Settings};
use super::step::{NONE, Stage, Step};
use super::transfer::Transfer;
use super::unwinding::{Gone, UnwindPoint};
use crate::api::fault::FaultKind;
use crate::api::program::Program;
use crate::batch::voice::Voice;
use crate::batch::{Queue, Watch, reason};
use crate::native_stack::budget::TooMuch;
use crate::simd::{Isa, Level, vectorize};
use crate::storage::pc_word::{PcWord, PcWords};

#[expect(clippy::large_enum_variant, reason = "there is one for each worker, and it may not ask for memory")]
pub(super) enum Engine {
    Masked(Masked),
    ProgramCounter(ProgramCounter),
    /// From the one to the other.
    Leaving(LeavingFrames),
    /// While it is replaced.
    None,
}

impl Engine {
    /// The lane has panicked, or is to end; in masked execution, a lane of the top frame.
    pub(super) fn unwound(
        &mut self,
        lane: usize,
        unwind_point: UnwindPoint,
        kind: FaultKind,
        message: String,
    ) {
        match self {
            Engine::Masked(frames) => frames.doom(lane, unwind_point, kind, message),
            Engine::ProgramCounter(tile) => tile.doom(lane, unwind_point, kind, message),
            Engine::Leaving(_) | Engine::None => unreachable!("no block runs"),
        }
    }
}

/// What rustc says of a program's types.
#[derive(Clone, Copy)]
pub(crate) struct Answers {
    /// It is a block program.
    pub(crate) admits: bool,
    /// It does nothing but compute, as far as the compiler could not see that itself.
    pub(crate) computes: bool,
}

/// One worker's machine.
pub struct Core<'r> {
    pub(super) members: Occupancy<'r>,
    pub(super) words: PcWords,
    pub(super) stage: Stage,
    pub(super) engine: Engine,
    pub(super) step: Step,
    /// Occupancy are being loaded in one go, or that has failed once; and the latter.
    single: bool,
    by_lane: bool,
    /// The first lane of the strip that lane code runs on, and the lane in it if it has unwound.
    pub(super) strip: u32,
    pub(super) lane: Cell<u32>,
    /// How the thread speaks of panics while no interchanged loops run.
    pub(super) voice: Voice,
    /// The block that has unwound while interchanged loops ran: lane by lane until it has run.
    pub(super) apart: Option<u32>,
    /// Whether the step has unwound.
    unwound: bool,
    /// When the body is to return though members are under way, and the step that it did before it has.
    until: Option<Instant>,
    /// The steps that it does before it looks at the time.
    least: u32,
    paused: Option<Step>,
    /// Whether the body returns when enough is recorded.
    ends_recorded: bool,
    /// Whether it only wants to know what the program is, and what it is.
    asks: bool,
    answers: Answers,
}

/// Stands for a lane in [`Core::lane`] while interchanged loops run for a strip.
pub(super) const INTERCHANGED: u32 = u32::MAX - 1;

/// The next engine: frames are to be left, or have been.
#[cold]
#[inline(never)]
fn replaced<P: PcWord>(
    engine: &mut Engine,
    members: &mut Occupancy<'_>,
    words: &mut Vec<P>,
    stage: &mut Stage,
) -> Engine {
    let after = match std::mem::replace(engine, Engine::None) {
        Engine::Masked(frames) => LeavingFrames::begin(frames, members),
        Engine::Leaving(leaving) => leaving.end(members, words, stage),
        other => return other,
    };
    match after {
        After::Leaving(leaving) => Engine::Leaving(leaving),
        After::Tile(tile) => Engine::ProgramCounter(tile),
        After::Frames(mut frames) => {
            frames.stay();
            Engine::Masked(frames)
        }
    }
}

/// Says how many lanes were loaded before the one that has unwound. Costs nothing where none can.
struct Loaded<'c> {
    loaded: &'c mut usize,
    count: usize,
}

impl Drop for Loaded<'_> {
    #[cold]
    fn drop(&mut self) {
        *self.loaded = self.count;
    }
}

impl<'r> Core<'r> {
    /// A machine for `program` that takes its members from `queue`.
    pub fn new(
        program: &'static Program,
        settings: Settings,
        queue: &'r Queue,
        watch: &'r dyn Watch,
    ) -> Self {
        assert!(program.strip >= 8 && program.strip.is_power_of_two(), "strips have 8, 16, 32, … lanes");
        let mode = settings.mode;
        let mut members = Occupancy::new(program, settings, queue, watch);
        let mut words = PcWords::default();
        // Without calls the two algorithms are the same; frames keep their lanes together.
        let mode = if program.calls.is_empty() && !members.tracked() { Mode::Masked } else { mode };
        let engine = match (mode, program.word64) {
            (Mode::Masked, false) => Engine::Masked(Masked::new::<u32>(&mut members, &mut words)),
            (Mode::Masked, true) => Engine::Masked(Masked::new::<u64>(&mut members, &mut words)),
            (Mode::ProgramCounter, false) => {
                Engine::ProgramCounter(ProgramCounter::new::<u32>(&mut members, &mut words))
            }
            (Mode::ProgramCounter, true) => {
                Engine::ProgramCounter(ProgramCounter::new::<u64>(&mut members, &mut words))
            }
        };
        let stage = Stage::default();
        Core {
            members,
            words,
            stage,
            engine,
            step: Step::Done,
            single: false,
            by_lane: false,
            strip: 0,
            lane: Cell::new(NONE),
            voice: Voice::Usual,
            apart: None,
            unwound: false,
            until: None,
            least: 0,
            paused: None,
            ends_recorded: false,
            asks: false,
            answers: Answers { admits: true, computes: true },
        }
    }

    /// Whether the body goes on: not if it was only asked. `admits`: whether it is a block program; `computes`: whether it does nothing but
    /// compute, if that is what the compiler takes it for.
    ///
    /// # Panics
    /// If it is no block program, and members are to be run.
    pub fn admits(&mut self, admits: &[bool], computes: &[bool]) -> bool {
        let all = |answers: &[bool]| answers.iter().all(|answer| *answer);
        self.answers = Answers { admits: all(admits), computes: all(computes) };
        assert!(self.asks || self.answers.admits, "a program that is not admitted runs no members");
        !self.asks
    }

    /// Rustc's answers about the program of which this is the body.
    pub(crate) fn ask(&mut self, body: impl FnOnce(&mut Self)) -> Answers {
        self.asks = true;
        body(self);
        self.asks = false;
        self.answers
    }

    /// The body, entered next, goes on with the members under way, and returns at that time if it is not done, but not before so many steps.
    pub(crate) fn go_on_until(&mut self, until: Instant, least: u32) {
        (self.until, self.least) = (Some(until), least);
        self.step = self.paused.take().unwrap_or(self.step);
    }

    /// The body returns when its recording is full.
    pub(crate) fn end_when_recorded(&mut self) {
        self.ends_recorded = true;
    }

    /// Whether the body has returned with members under way.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Finishes the step before and picks the next.
    #[inline(never)]
    #[expect(clippy::should_implement_trait, reason = "the body needs the core again while it does a step")]
    pub fn next(&mut self) -> Step {
        if self.least > 0 {
            self.least -= 1;
        } else if self.until.is_some_and(|until| Instant::now() >= until)
            || self.ends_recorded && self.members.is_recorded()
        {
            self.paused = Some(std::mem::replace(&mut self.step, Step::Done));
            return Step::Done;
        }
        // So that no member is blamed if this unwinds.
        let last = std::mem::replace(&mut self.step, Step::Done);
        if !std::mem::take(&mut self.unwound) && self.apart.map(Step::Block) == Some(last) {
            self.apart = None;
        }
        let step = vectorize(
            self.members.level,
            #[cfg_attr(optimised, inline(always))]
            || match self.members.program.word64 {
                false => self.advance::<u32>(last),
                true => self.advance::<u64>(last),
            },
        );
        self.step = step;
        step
    }

    #[cfg_attr(optimised, inline(always))]
    fn advance<P: PcWord>(&mut self, mut last: Step) -> Step {
        let (members, stage) = (&mut self.members, &mut self.stage);
        let words = P::arena_mut(&mut self.words);
        loop {
            match &mut self.engine {
                Engine::Masked(frames) => {
                    if let Some(step) = frames.advance::<P>(last, members, words, stage) {
                        return step;
                    }
                }
                Engine::ProgramCounter(tile) => return tile.advance::<P>(last, members, words, stage),
                Engine::Leaving(leaving) => {
                    if let Some(step) = leaving.advance::<P>(members, words, stage) {
                        return step;
                    }
                }
                Engine::None => unreachable!("there is an engine between steps"),
            }
            self.engine = replaced::<P>(&mut self.engine, members, words, stage);
            last = Step::Done;
        }
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.members.level.isa()
    }

    /// The proof that the CPU has it.
    #[cfg_attr(optimised, inline(always))]
    pub fn level(&self) -> Level {
        self.members.level
    }

    /// [`Step::Load`]: calls `put` with each lane to fill and the place of the member that goes there.
    #[cfg_attr(optimised, inline(always))]
    pub fn load(&mut self, mut put: impl FnMut(usize, usize)) {
        let Occupancy { loads, loaded, numbering, .. } = &mut self.members;
        let mut before = *loaded;
        for run in &*loads {
            for nth in 0..run.len {
                let mark = Loaded { loaded, count: before + nth };
                put(run.lane + nth, numbering.place(run.member + nth));
                forget(mark);
            }
            before += run.len;
        }
        *loaded = before;
    }

    /// [`Step::Load`] in one go: calls `fill` with the first lane, the place of the first member and the number of each run
    /// of neighbours. For values that need not be dropped, from sources that can be asked again: if it unwinds,
    /// [`Core::load`] has to find out whose fault it is. False if that is so, and nothing has been done.
    #[cfg_attr(optimised, inline(always))]
    pub fn load_whole(&mut self, mut fill: impl FnMut(usize, usize, usize)) -> bool {
        if self.single || self.members.loaded > 0 {
            return false;
        }
        self.single = true;
        // Who panics will be loaded again.
        let silent = Voice::Silent.speak();
        for run in &self.members.loads {
            fill(run.lane, self.members.numbering.place(run.member), run.len);
        }
        drop(silent);
        self.single = false;
        self.members.loaded = self.members.loads.iter().map(|run| run.len).sum();
        true
    }

    /// [`Step::Store`]: members whose results are there, those together that follow each other on
    /// neighbouring lanes, and the lane of the first.
    #[inline]
    pub fn stores(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.members.stores()
    }

    /// [`Step::Call`], [`Step::Return`]: how values travel.
    #[inline]
    pub fn transfer(&self) -> Transfer<'_> {
        let moves = match &self.engine {
            Engine::Masked(frames) => frames.transfer(self.members.level),
            Engine::ProgramCounter(tile) => tile.transfer(),
            Engine::Leaving(_) | Engine::None => unreachable!("no lane calls or returns"),
        };
        Transfer { moves, lane: &self.lane }
    }

    /// [`Step::Abandon`]: activations of dead members.
    pub fn abandoned(&mut self) -> impl Iterator<Item = Gone> + '_ {
        let Stage { gone, buried, .. } = &mut self.stage;
        let list: &[Gone] = gone;
        std::iter::from_fn(move || {
            let gone = list.get(*buried).copied()?;
            *buried += 1;
            Some(gone)
        })
    }

    /// A step that the body has no code for.
    #[cold]
    pub fn unexpected(&self, step: Step) -> ! {
        unreachable!("{} has no code for {step:?}", self.members.program.name)
    }

    /// The body has unwound with `payload`: ends the member that is to blame, so that the body can be
    /// entered again. If none is, unwinding goes on.
    pub fn fault(&mut self, payload: Box<dyn Any + Send>) {
        let lane = self.lane.replace(NONE);
        self.unwound = true;
        let Settings { max_depth, max_steps, .. } = self.members.settings;
        let (kind, message) = reason(None, &*payload, max_depth, max_steps);
        match self.step {
            Step::Block(block) if lane == INTERCHANGED => {
                self.voice.replace();
                self.apart = Some(block);
            }
            Step::Block(block) if lane != NONE => {
                let first = self.stage.words + self.strip as usize;
                let (steps_of, lane_of_strip) = (&mut self.members.steps_of, lane as usize);
                match self.members.program.word64 {
                    false => steps_of.unwound(u32::arena(&self.words), first, lane_of_strip, block),
                    true => steps_of.unwound(u64::arena(&self.words), first, lane_of_strip, block),
                }
                let lane = (self.strip + lane) as usize;
                self.engine.unwound(lane, UnwindPoint::Ran(block), kind, message);
            }
            Step::Load if self.single && self.members.loaded == 0 && !self.by_lane => {
                // Nobody is to blame yet: they are loaded one by one now.
                self.by_lane = true;
            }
            Step::Block(_) | Step::Call(_) if payload.is::<TooMuch>() => self.refused(lane),
            Step::Load => {
                let lane = self.members.fail_load(kind, message);
                if let Engine::ProgramCounter(tile) = &mut self.engine {
                    tile.vacate(lane);
                }
            }
            Step::Abandon => {
                if let Engine::Leaving(leaving) = &mut self.engine {
                    leaving.refused();
                }
            }
            _ => resume_unwind(payload),
        }
    }

    /// A block or a call has no memory for what it may write, for one lane or for any, and has not begun: it ends those that wait for it.
    #[cold]
    fn refused(&mut self, lane: u32) {
        match self.members.program.word64 {
            false => self.end_those_without_room::<u32>(lane),
            true => self.end_those_without_room::<u64>(lane),
        }
    }

    fn end_those_without_room<P: PcWord>(&mut self, lane: u32) {
        let (members, words) = (&self.members, P::arena_mut(&mut self.words));
        match (&mut self.engine, self.step) {
            (Engine::Masked(frames), Step::Block(block)) => frames.refused(members, words, block),
            (Engine::Masked(frames), _) => frames.call_refused(&mut self.members, words),
            (Engine::ProgramCounter(tile), Step::Call(site)) => {
                tile.call_refused(members, words, site, (lane != NONE).then_some(lane));
            }
            (Engine::ProgramCounter(tile), Step::Block(block)) => tile.refused(words, block),
            (_, step) => unreachable!("{step:?} makes no room"),
        }
    }

    /// Ends the run.
    pub fn finish(self) -> Finished {
        self.members.finish()
    }
}
