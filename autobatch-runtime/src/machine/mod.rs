//! The machine that runs a program's blocks: scheduler, lanes, frames. For generated code only.
//!
//! [`Core`] decides what runs next and for which lanes; generated code does it. Everything here is safe
//! to *call*, but only sound under the protocol below: the static program knows which variables hold a
//! value at which point, the machine never does.
//!
//! # Words and points
//!
//! Every lane has a *word*: the number of the program point it waits at, or [`Word::IDLE`]. Points are
//! numbered: blocks `0..B` in the order executors prefer, then call points (`B + k` for call site `k`),
//! then return points (`B + C + g` for group `g`). Words are `u32` or `u64` ([`Program::word64`]),
//! whichever is as wide as the program's data. Lanes are processed in strips of `W`
//! ([`Program::strip`], a power of two and at least 8).
//!
//! # The body
//!
//! ```text
//! fn body(core: &mut Core<'_>, store: &Store, args: Args<'_>) {   // #[inline(always)]
//!     let mut n = store.column(0);                // variable 0: Lent<'_, Column<_>>, type inferred below
//!     let mut left = store.column(3);
//!     let mut n_saved = store.stack(0);           // stacked variables only; ids count separately
//!     loop {
//!         match core.next() {
//!             Step::Load => …,      Step::Store => …,     Step::Compact => …,  Step::Abandon => …,
//!             Step::Block(0) => …,  Step::Call(0) => …,   Step::Return(0) => …,   // numbers: point, site, site
//!             Step::Done => break,
//!             step => core.unexpected(step),      // -> !
//!         }
//!     }
//! }
//! ```
//!
//! The body may unwind out of a block, a load or an abandon; the caller catches that, calls
//! [`Core::fault`] and enters the body again with the same core and store. A column is lent to one body
//! at a time (`store.column` panics otherwise); the guard returns it, also while unwinding. Columns grow
//! by themselves; nothing needs to be reserved. The body is instantiated per instruction set and entered
//! through [`Core::dispatch`]:
//!
//! ```text
//! fn base(core: &mut Core<'_>, store: &Store, args: Args<'_>) { body(core, store, args) }
//! #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
//! fn avx2(core: &mut Core<'_>, store: &Store, args: Args<'_>) { body(core, store, args) }
//! #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
//! fn avx512(core: &mut Core<'_>, store: &Store, args: Args<'_>) { body(core, store, args) }
//! #[cfg(target_arch = "x86_64")]      core.dispatch(store, args, base, avx2, avx512);
//! #[cfg(not(target_arch = "x86_64"))] core.dispatch(store, args, base);
//! ```
//!
//! # Load, store, compact
//!
//! ```text
//! Step::Load => if !(simple(&source_a, &x) && simple(&source_b, &y) && core.load_whole(#[inline(always)] |lane, member, len| {
//!     source_a.fill(member, x.room(lane, len));                   // neighbours in one go, where nothing can be lost
//!     source_b.fill(member, y.room(lane, len));
//! })) { core.load(#[inline(always)] |lane, member| {
//!     let (a, b) = (source_a.get(member), source_b.get(member));  // all first: may panic (a user's clone)
//!     x.put(lane, a);                                             // then all: nothing is lost half way
//!     y.put(lane, b);
//! }) },
//! Step::Store => out.receive(core.stores(), &mut result),
//! Step::Compact => { let route = core.route(); route.compact(&mut x); route.compact(&mut y) },
//! ```
//!
//! `Compact` lists all columns of the root group's functions. Loaded lanes wait at `Program::entry_point`. `x`, `y`: the entry function's parameter columns;
//! `result`: the root group's. A panic in a load is that member's fault, one in a store is passed on.
//!
//! # A block
//!
//! `once` runs the lane code of a region once on a strip, `repeat` as long as a lane of the strip stays
//! at the block (for blocks that are their own successor; the number of rounds is bounded). The lane code
//! is called for every lane of the strip; where `here` is false it must do nothing and return `stay`.
//!
//! ```text
//! // while i < limit { if z*z > 4.0 { break } z = z*z + c; i += 1 }    block 1, exits to block 2
//! Step::Block(1) => for i in 0..core.strips() {
//!     let at = core.strip(i);                        // column offset of the strip
//!     let c_ = c.read::<W>(at);                      // never assigned here: no write-back
//!     let z_ = z.edit::<W>(at);                      // assigned here: written back when dropped, also by unwinding
//!     let i_ = i.edit::<W>(at);
//!     let mut strip = core.open::<u32, W>(i);        // its words
//!     let (mut c_, mut z_, mut i_) = (c_.open(), z_.open(), i_.open());   // from here on only lane code can unwind
//!     let (c_, z_, i_) = (c_.lanes(), z_.lanes(), i_.lanes());            // &mut [MaybeUninit<T>; W]
//!     strip.repeat(1, #[inline(always)] |l, here, stay| {
//!         let (c0, z0, i0) = (bits(&c_[l]), bits(&z_[l]), bits(&i_[l]));   // before the branch
//!         let (next, z1, i1);
//!         if here { 'lane: {
//!             let c = take(&c_[l], &c0);             // every live-in variable the region mentions is taken first
//!             let mut z = take(&z_[l], &z0);
//!             let mut i = take(&i_[l], &i0);
//!             if i < limit {
//!                 if z * z > 4.0 { z1 = dead(); i1 = leave(&mut i_[l], i); next = 2; break 'lane }
//!                 z = z * z + c;
//!                 i += 1;
//!                 keep(&mut c_[l], c);               // live out, never assigned in the region: put back, nothing to settle
//!                 z1 = leave(&mut z_[l], z); i1 = leave(&mut i_[l], i); next = 1; break 'lane
//!             }
//!             z1 = dead(); i1 = leave(&mut i_[l], i); next = 2; break 'lane   // z is not live in block 2
//!         } } else { z1 = bits(&z_[l]); i1 = bits(&i_[l]); next = stay }
//!         settle(&mut z_[l], z1);                    // unconditionally: vectorises as a select
//!         settle(&mut i_[l], i1);
//!         next
//!     });
//! },
//! ```
//!
//! * Columns of a region: live-in and mentioned, or live-out and defined. Live-through ones are not touched.
//! * `edit` for a variable that any path assigns (`leave` at every exit where it is live out, `dead` where it
//!   is not, `settle` at the end). `read` for one that no path assigns (`keep` at every
//!   exit where it is live out). `leave`/`keep` come last, after all user code of the path.
//! * Drop: a taken value that is not left or kept is dropped by its scope, as in the scalar function.
//! * On unwinding out of lane `l` the strip's locals and words are written back, so lanes before `l` have
//!   executed, lanes after it have not.
//! * `once(point, lane_code)` has the same shape.
//! * In a block after a call nothing special happens: `Step::Return` has filled the columns before.
//!
//! # A call
//!
//! ```text
//! Step::Call(0) => {                     // left = fib(arg): n is live across
//!     let route = core.route();
//!     route.push(&mut n_saved, &n);      // Call::pushes; update(): Call::updates; keeps: nothing. All no-ops when masked
//!     route.pass(&mut n, &arg);          // callee's parameter n <- arg, one per parameter
//! },
//! Step::Return(0) => {
//!     let route = core.route();
//!     route.give(&mut left, &result);    // call's destination <- callee group's result
//!     route.pop(&mut n_saved, &mut n);   // Block::pops of the continuation; peek(): read but leave on the stack
//! },
//! ```
//!
//! Pushes come before passes, gives before pops. Values are moved bitwise; a variable that is live after
//! the call and also an argument is `Copy`. Where both sides are the same column: `route.pass_same(&mut n)`,
//! `route.give_same(&mut col)`. Passes happen one after the other: where a parameter is also the source
//! of a *later* pass (`f(a, b)` calls `f(b, a)`), `let held = route.lift(&a)` first and
//! `route.land(&mut b, held)` last. Words are set by the machine: callee's entry, then the continuation.
//! A tail call is no call: the block's lane code takes args, leaves them in the callee's parameter columns
//! and returns the callee's entry block as the next point.
//!
//! # What a dead member owned
//!
//! ```text
//! Step::Abandon => for gone in core.abandoned() {
//!     match gone.place {
//!         Place::At(0) => gone.discard(&mut n),              // waits at a point: all variables live in there
//!         Place::At(3) => { gone.discard(&mut n); gone.discard(&mut arg) }      // call point: arguments, live across
//!         Place::At(5) => gone.discard(&mut result),         // return point
//!         Place::Ran(1) => {}                                // panicked in block 1: live in and *not* taken by it
//!         Place::Calling(0) => gone.discard_saved(&mut n, &mut n_saved),   // in the callee: live across call 0
//!         _ => {}
//!     }
//! },
//! ```
//!
//! `Calling(k)`: `discard` for variables live across `k` that are not pushed, `discard_saved` for pushed
//! ones (also if their type needs no drop: it pops the stack), [`Gone::forget_saved`] where `peek` has
//! left a copy on the stack. Innermost activation first. A panic in
//! here (a user's drop) is swallowed: the member is at fault already.
//!
//! # For the launcher
//!
//! [`Queue`] hands out members to any number of cores, [`Settings`] are the resolved options, [`Watch`]
//! is told of finished members and asked for cancellation. One [`Core`] and one [`Store`](crate::__rt::Store) per worker:
//!
//! ```text
//! let queue = Queue::new(0..members, workers);
//! let mut core = Core::new(&PROGRAM, settings, &queue, &watch);
//! let store = Store::new();
//! while let Err(payload) = catch_unwind(AssertUnwindSafe(|| tile(&mut core, &store, &out))) {
//!     core.fault(payload);       // resumes unwinding if no member is to blame
//! }
//! let finished: Finished = core.finish();    // faults (with global member numbers), counters
//! ```
//!
//! Every member of the queue ends in exactly one `out.set` or one fault; after a cancellation the members
//! nobody has taken are drained and get `Cancelled` faults too.

mod frames;
mod gather;
mod lanes;
mod members;
mod rounds;
mod route;
mod schedule;
mod together;
mod word;

use std::any::Any;
use std::cell::Cell;
use std::mem::forget;
use std::ops::Range;
use std::panic::resume_unwind;

pub use members::{Queue, Watch};
pub use rounds::Strip as LaneWords;
pub use route::{Gone, Held, Route};
pub use word::{Next, Word, next};
pub(crate) use word::{SECOND, equal_apart, in_first, mask};

use crate::fault::Fault;
use crate::isa::{Level, vectorize};
use crate::options::{Isa, Schedule};
use crate::program::Program;
use frames::Frames;
use lanes::Tile;
use members::Members;
use word::Words;

/// What the body has to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Run the block with this point on [`Core::strips`].
    Block(u32),
    /// Move arguments for this call site.
    Call(u32),
    /// Move results for this call site.
    Return(u32),
    /// Fetch members.
    Load,
    /// Deliver results.
    Store,
    /// Close the gaps that finished members have left.
    Compact,
    /// Drop what dead members owned.
    Abandon,
    /// Nothing is left.
    Done,
}

/// Where an activation was when its member died.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Waiting at this point.
    At(u32),
    /// Inside this block: what the block takes is gone already.
    Ran(u32),
    /// Inside the callee of this call site.
    Calling(u32),
    /// At this block, which calls a primitive: the arguments have been gathered, there is no result.
    Gathered(u32),
}

/// Which algorithm runs the blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A stack of frames.
    Masked,
    /// One tile with stacks per lane.
    ProgramCounter,
}

/// Resolved options.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The algorithm.
    pub mode: Mode,
    /// For [`Mode::ProgramCounter`].
    pub schedule: Schedule,
    /// Members per tile.
    pub lanes: usize,
    /// A ceiling; the CPU may have less.
    pub isa: Isa,
    /// Nested calls per member.
    pub max_depth: usize,
    /// Block executions per member; `u64::MAX` for any number.
    pub max_steps: u64,
    /// Whether members are loaded while others are busy.
    pub refill: bool,
    /// Whether to count block executions.
    pub report: bool,
}

/// How often a block was executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockCount {
    /// Executions with at least one active lane.
    pub executions: u64,
    /// Active lanes, summed.
    pub active: u64,
    /// Lanes of the tile or frame, summed.
    pub offered: u64,
}

/// What a worker leaves behind.
#[derive(Debug)]
pub struct Finished {
    /// Members without a result, in the order they failed.
    pub faults: Vec<Fault>,
    /// By block; all 0 without a report.
    pub blocks: Vec<BlockCount>,
    /// By block: the largest number of executions of any member; all 0 without a report.
    pub largest: Vec<u64>,
    /// The depth reached.
    pub depth: usize,
    /// Members loaded after the first load.
    pub refills: u64,
}

/// What the current step works on.
#[derive(Default)]
struct Stage {
    /// The first lane of each strip.
    strips: Vec<u32>,
    /// The lowest point in each strip after it has run, [`STALE`] until then.
    lowest: Vec<u32>,
    /// The first slot and the first word of the lanes that the strips belong to.
    slots: usize,
    words: usize,
    rounds: u32,
    gone: Vec<Gone>,
    /// How much of `gone` has been dropped.
    buried: usize,
}

enum Engine {
    Frames(Frames),
    Tile(Tile),
}

/// One worker's machine.
pub struct Core<'r> {
    members: Members<'r>,
    words: Words,
    stage: Stage,
    engine: Engine,
    step: Step,
    /// Members are being loaded in one go, or that has failed once; and the latter.
    single: bool,
    by_lane: bool,
    /// The first lane of the strip that lane code runs on, and the lane in it if it has unwound.
    strip: u32,
    lane: Cell<u32>,
    /// The block that has unwound while its lanes ran in lockstep: lane by lane until it has run.
    apart: Option<u32>,
    /// Whether the step has unwound.
    unwound: bool,
    /// Whether it only wants to know if the program is admitted, and if it is.
    asks: bool,
    admitted: bool,
}

/// The strip has not been run, or not to the end.
const STALE: u32 = u32::MAX;

/// No lane has unwound.
const NONE: u32 = u32::MAX;

/// Says how many lanes were loaded before the one that has unwound. Costs nothing where none can.
struct Progress<'c> {
    loaded: &'c mut usize,
    count: usize,
}

impl Drop for Progress<'_> {
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
        let members = Members::new(program, settings, queue, watch);
        let mut words = Words::default();
        // Without calls the two algorithms are the same; frames keep their lanes together.
        let mode = if program.calls.is_empty() && !members.tracked() { Mode::Masked } else { mode };
        let engine = match (mode, program.word64) {
            (Mode::Masked, false) => Engine::Frames(Frames::new::<u32>(&members, &mut words)),
            (Mode::Masked, true) => Engine::Frames(Frames::new::<u64>(&members, &mut words)),
            (Mode::ProgramCounter, false) => Engine::Tile(Tile::new::<u32>(&members, &mut words)),
            (Mode::ProgramCounter, true) => Engine::Tile(Tile::new::<u64>(&members, &mut words)),
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
            apart: None,
            unwound: false,
            asks: false,
            admitted: true,
        }
    }

    /// Whether the body goes on: not if it was only asked whether all `answers` are yes.
    ///
    /// # Panics
    /// If one of them is not, and members are to be run.
    pub fn admits(&mut self, answers: &[bool]) -> bool {
        self.admitted = answers.iter().all(|answer| *answer);
        assert!(self.asks || self.admitted, "a program that is not admitted runs no members");
        !self.asks
    }

    /// Whether rustc's answers admit the program, of which this is the body.
    pub(crate) fn ask(&mut self, body: impl FnOnce(&mut Self)) -> bool {
        self.asks = true;
        body(self);
        self.asks = false;
        self.admitted
    }

    /// Finishes the step before and picks the next.
    #[inline(never)]
    #[expect(clippy::should_implement_trait, reason = "the body needs the core again while it does a step")]
    pub fn next(&mut self) -> Step {
        // So that no member is blamed if this unwinds.
        let last = std::mem::replace(&mut self.step, Step::Done);
        if !std::mem::take(&mut self.unwound) && self.apart.map(Step::Block) == Some(last) {
            self.apart = None;
        }
        let step = vectorize(
            self.members.level,
            #[inline(always)]
            || match self.members.program.word64 {
                false => self.advance::<u32>(last),
                true => self.advance::<u64>(last),
            },
        );
        self.step = step;
        step
    }

    #[inline(always)]
    fn advance<P: Word>(&mut self, last: Step) -> Step {
        let (members, stage) = (&mut self.members, &mut self.stage);
        let words = P::arena_mut(&mut self.words);
        match &mut self.engine {
            Engine::Frames(frames) => frames.advance::<P>(last, members, words, stage),
            Engine::Tile(tile) => tile.advance::<P>(last, members, words, stage),
        }
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.members.level.isa()
    }

    pub(crate) fn level(&self) -> Level {
        self.members.level
    }

    /// [`Step::Load`]: calls `put` with each lane to fill and the member that goes there.
    #[inline(always)]
    pub fn load(&mut self, mut put: impl FnMut(usize, usize)) {
        let Members { loads, loaded, .. } = &mut self.members;
        let mut before = *loaded;
        for run in &*loads {
            for nth in 0..run.len {
                let progress = Progress { loaded, count: before + nth };
                put(run.lane + nth, run.member + nth);
                forget(progress);
            }
            before += run.len;
        }
        *loaded = before;
    }

    /// [`Step::Load`] in one go: calls `fill` with the first lane, the first member and the number of each run
    /// of neighbours. For values that need not be dropped, from sources that can be asked again: if it unwinds,
    /// [`Core::load`] has to find out whose fault it is. False if that is so, and nothing has been done.
    #[inline(always)]
    pub fn load_whole(&mut self, mut fill: impl FnMut(usize, usize, usize)) -> bool {
        if self.single || self.members.loaded > 0 {
            return false;
        }
        self.single = true;
        for run in &self.members.loads {
            fill(run.lane, run.member, run.len);
        }
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
    pub fn route(&self) -> Route<'_> {
        Route(match &self.engine {
            Engine::Frames(frames) => frames.way(self.members.level),
            Engine::Tile(tile) => tile.way(),
        })
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
        let message = crate::fault::message(&*payload);
        match self.step {
            Step::Block(block) if lane == together::TOGETHER => self.apart = Some(block),
            Step::Block(block) if lane != NONE => {
                let lane = (self.strip + lane) as usize;
                match &mut self.engine {
                    Engine::Frames(frames) => frames.panicked(lane, Place::Ran(block), message),
                    Engine::Tile(tile) => tile.panicked(lane, Place::Ran(block), message),
                }
            }
            Step::Load if self.single && self.members.loaded == 0 && !self.by_lane => {
                // Nobody is to blame yet: they are loaded one by one now.
                self.by_lane = true;
            }
            Step::Load => {
                let lane = self.members.fail_load(message);
                if let Engine::Tile(tile) = &mut self.engine {
                    tile.vacate(lane);
                }
            }
            Step::Abandon => {}
            _ => resume_unwind(payload),
        }
    }

    /// Ends the run.
    pub fn finish(self) -> Finished {
        self.members.finish()
    }
}
