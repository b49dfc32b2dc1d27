//! One run of a batch: its options, resolved, and its threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::phase::{Ledger, Parts, Took};
use super::spans;
use crate::api::fault::{Fault, FaultKind, FaultList, TOO_MUCH};
use crate::api::options::{Defaults, Executor, MAX_DEPTH, Options, Progress, Schedule};
use crate::api::program::Program;
use crate::batch::voice::{self, Voice};
use crate::batch::{Limited, Limits, Numbering, Queue, Watch};
use crate::fiber::{CurrentWorker, Reach};
use crate::machine::{Mode, Settings};
use crate::native_stack::budget::{self, Budget, Budgeted, TooMuch};
use crate::simd::{self, Isa};

/// Members that a batched kernel is called for at most, unless the user says otherwise.
pub(super) const PRIMITIVE_LANES: usize = 1024;
/// The native stack that a generated body may need: strips of all variables of a block, and where nothing is
/// optimised those of all blocks.
pub(super) const BODY_STACK: usize = if cfg!(debug_assertions) { 8 << 20 } else { 512 << 10 };

/// How long members wait for others in frames, each on average, in such a run.
const PATIENCE: Duration = Duration::from_millis(20);
/// Steps of the machine after which members that wait have their turn, in a run that may be ended from outside.
const FAIR: u32 = 4;

/// One run of a batch.
pub(super) struct Launch<'a> {
    pub(super) program: &'static Program,
    pub(super) defaults: Defaults,
    pub(super) options: &'a Options,
    /// How many run.
    pub(super) members: usize,
    /// Which they are.
    pub(super) numbering: Numbering<'a>,
    pub(super) threads: usize,
    /// When members have to end, if there are limits.
    pub(super) limits: Option<Arc<Limits>>,
    /// The memory of all threads' calls, if the user says how much.
    budget: Option<Arc<Budget>>,
    /// The most memory that calls have taken in a part of the run.
    pub(super) memory: AtomicUsize,
    /// The pool made for this run, if the number of threads asks for one.
    own_pool: Option<ThreadPool>,
    /// Members that are done, and that number at the last call of the progress function.
    ended: AtomicUsize,
    reported: AtomicUsize,
    /// Whether a thread is in the progress function.
    reporting: AtomicBool,
    /// Whether both batching executors do the same.
    pub(super) alike: bool,
    /// Whether all members run as scalar code.
    pub(super) per_member: bool,
    /// Whether that is so because the instruction set is too little for the program.
    pub(super) lacks_vectors: bool,
    /// Whether scalar code runs on fibers.
    pub(super) on_fibers: bool,
    /// Whether there is scalar code that looks at the limits, and whether it counts steps.
    pub(super) counts: bool,
    pub(super) counts_steps: bool,
    /// Whether that may run instead of blocks: of a program that has no vector code.
    pub(super) takes_turns: bool,
    /// Members at the front of the batch that have run before an executor is chosen.
    pub(super) begun: usize,
    /// How many of those the machine has run to count their blocks.
    pub(super) counted: usize,
}

impl Watch for Launch<'_> {
    fn over(&self) -> Option<FaultKind> {
        self.limits.as_ref()?.over()
    }

    fn ended(&self, members: usize) {
        let Some(on_progress) = &self.options.progress else { return };
        self.ended.fetch_add(members, Ordering::SeqCst);
        // About a hundred calls per run, and always one when all are done.
        let step = (self.members / 100).max(1);
        let due = || {
            let (done, reported) = (self.ended.load(Ordering::SeqCst), self.reported.load(Ordering::SeqCst));
            (done >= reported + step || (done == self.members && done != reported)).then_some(done)
        };
        // One thread at a time, so that numbers only grow. The others do not wait: the one that calls looks again for what they add.
        while due().is_some() && !self.reporting.swap(true, Ordering::SeqCst) {
            if let Some(done) = due() {
                self.reported.store(done, Ordering::SeqCst);
                on_progress(Progress { done, total: self.members });
            }
            self.reporting.store(false, Ordering::SeqCst);
        }
    }

    fn numbering(&self) -> Numbering<'_> {
        self.numbering
    }
}

impl<'a> Launch<'a> {
    pub(super) fn new(
        program: &'static Program,
        defaults: Defaults,
        options: &'a Options,
        members: usize,
    ) -> Self {
        let numbering = Numbering::of(options);
        let members = numbering.count(members);
        let threads = match (options.threads, &options.pool) {
            (Some(threads), _) => threads,
            (None, Some(pool)) => pool.current_num_threads(),
            (None, None) => rayon::current_num_threads(),
        };
        let threads = threads.min(members.max(1));
        let own = options.pool.is_none() && options.threads.is_some() && threads > 1;
        // Where threads can't be made, rayon's own pool does the work.
        let own_pool = match own && threads != rayon::current_num_threads() {
            true => ThreadPoolBuilder::new().num_threads(threads).build().ok(),
            false => None,
        };
        voice::prepare();
        let deadline = options.deadline.map(|time| Instant::now() + time);
        let limits = Limits::new(options.cancel.clone(), deadline, options.max_steps);
        let (ended, reported) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Launch {
            program,
            defaults,
            options,
            members,
            numbering,
            threads,
            limits,
            budget: options.max_memory.map(Budget::new),
            memory: AtomicUsize::new(0),
            own_pool,
            ended,
            reported,
            reporting: AtomicBool::new(false),
            alike: false,
            per_member: program.whole_scalar,
            lacks_vectors: false,
            on_fibers: false,
            counts: false,
            counts_steps: false,
            takes_turns: false,
            begun: 0,
            counted: 0,
        }
    }

    /// The executor that was asked for.
    pub(super) fn asked(&self) -> Executor {
        self.options.executor.or(self.defaults.executor).unwrap_or_default()
    }

    /// Whether members run as scalar code, in which primitives wait for each other. So does a program in blocks, unless blocks are asked for,
    /// that calls primitives and has scalar code in its blocks, or of which it is known that this calls some.
    pub(super) fn is_for_fibers(&self) -> bool {
        let program = self.program;
        let hides = || program.has_primitives() && !program.notes.is_empty();
        match self.asked() {
            Executor::Scalar => false,
            _ if self.per_member => true,
            _ => self.fibers_will_do() && (hides() || Reach::of(program).is_found()),
        }
    }

    /// Whether a program in blocks may run on fibers if it calls primitives. A single block that shows none is scalar code, whatever executor
    /// is asked for.
    pub(super) fn fibers_will_do(&self) -> bool {
        match self.asked() {
            Executor::Scalar => false,
            _ if self.program.is_one_block() => self.limits.is_none(),
            executor => executor == Executor::Auto && self.limits.is_none() && self.scalar_will_do(),
        }
    }

    /// Whether blocks may call primitives that they don't show, and no run has told yet. The report of an executor that was asked for counts
    /// all members.
    pub(super) fn may_hide_primitives(&self) -> bool {
        let counts = self.counts_all() && self.asked() != Executor::Auto;
        let shown = self.per_member || self.program.has_primitives();
        !shown && !counts && self.fibers_will_do() && Reach::of(self.program).is_unknown()
    }

    /// Whether the choice of scalar code would not show: it counts no steps, is ended inside a member only if there is code for that,
    /// and without clones it needs native stack.
    pub(super) fn scalar_will_do(&self) -> bool {
        let native = self.defaults.native_depth && (self.program.recursive || !self.program.calls.is_empty());
        let keeps_steps = self.options.max_steps.is_none() || self.counts_steps;
        let keeps_limits = self.takes_turns || !self.ends();
        !native && keeps_steps && keeps_limits
    }

    /// Whether steps are counted as they have to be: some scalar code counts none but the calls of primitives, where it names some.
    pub(super) fn keeps_limits(&self) -> bool {
        match self.asked() {
            _ if self.options.max_steps.is_none() => true,
            Executor::Scalar => self.counts_steps && !self.per_member,
            _ => !self.per_member || self.program.names_primitives,
        }
    }

    /// Whether scalar code has to look at limits inside of members.
    pub(super) fn limits_scalar(&self) -> bool {
        self.counts && (self.ends() || self.counts_steps && self.options.max_steps.is_some())
    }

    /// Whether the run may be ended from outside.
    pub(super) fn ends(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.ends())
    }

    pub(super) fn executor(&self) -> Executor {
        if self.per_member
            || self.lacks_vectors
            || self.on_fibers
            || 2 * (self.begun - self.counted) > self.members
        {
            return Executor::Scalar;
        }
        match self.asked() {
            // Kernel and scalar function may differ in the last bit, so what runs must not depend on time.
            Executor::Auto if self.program.has_primitives() => Executor::ProgramCounter,
            executor => executor,
        }
    }

    /// All members that have not run.
    pub(super) fn all(&self) -> Parts {
        [self.begun..self.members, 0..0]
    }

    /// Runs `work` in the pool of this run.
    pub(super) fn install(&self, work: &mut (dyn FnMut() + Send)) {
        match self.options.pool.as_deref().or(self.own_pool.as_ref()) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs `work` once for each of `threads`, on this one if there is only one.
    pub(super) fn spread(&self, threads: usize, work: &(dyn Fn() + Sync)) -> Took {
        let begin = Instant::now();
        let memory = AtomicUsize::new(0);
        let work = || self.as_worker(&memory, work);
        let work = spans::worker(work);
        if threads == 1 {
            work();
            let wall = begin.elapsed();
            return Took { work: wall, wall };
        }
        let nanoseconds = AtomicU64::new(0);
        let work = || {
            let begin = Instant::now();
            work();
            nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        };
        self.install(&mut || {
            rayon::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|_| work());
                }
            });
        });
        Took { work: Duration::from_nanos(nanoseconds.into_inner()), wall: begin.elapsed() }
    }

    /// Runs `work` as a worker of this run. Adds the memory that its calls have taken.
    pub(super) fn as_worker(&self, memory: &AtomicUsize, work: &dyn Fn()) {
        // This may be a member of another batch, on its fiber.
        let _nobody = CurrentWorker::nobody();
        let _voice = Voice::of_members(self.options.quiet).speak();
        let _limited = Limited::by(self.limits.clone());
        let budget = self.budget.clone().unwrap_or_else(|| Budget::new(budget::DEFAULT));
        let _budget = Budgeted::by(Arc::clone(&budget));
        // A worker without memory leaves its members to others.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work))
            && !payload.is::<TooMuch>()
        {
            resume_unwind(payload);
        }
        // Each thread has its own, or all have one.
        let all = match self.budget {
            Some(_) => budget.peak(),
            None => memory.fetch_add(budget.peak(), Ordering::Relaxed) + budget.peak(),
        };
        self.memory.fetch_max(all, Ordering::Relaxed);
    }

    /// The members end that no worker had memory for.
    pub(super) fn end_waiting(&self, queue: &Queue, ledger: &Ledger) {
        let mut faults = FaultList::default();
        loop {
            let members = queue.take(usize::MAX);
            if members.is_empty() {
                break;
            }
            self.ended(members.len());
            let kind = FaultKind::MemoryExceeded;
            faults.extend(members.map(|member| Fault { member, kind, message: TOO_MUCH.to_owned() }));
        }
        if !faults.is_empty() {
            ledger.add(faults);
        }
    }

    /// The instruction set of the batching executors.
    pub(super) fn isa(&self) -> Isa {
        simd::ceiling(self.options.isa)
    }

    pub(super) fn settings(&self, executor: Executor) -> Settings {
        let options = self.options;
        let by_counters = executor == Executor::ProgramCounter;
        let mode = if by_counters { Mode::ProgramCounter } else { Mode::Masked };
        // In frames a member waits for the others of its call, however long they take.
        let waits = self.ends() && !self.program.calls.is_empty();
        let lanes = match () {
            _ if self.program.has_primitives() => PRIMITIVE_LANES,
            _ if self.program.calls.is_empty() => 2048,
            _ => 256,
        };
        let lanes = match self.program.has_primitives() {
            true => self.lanes(lanes).min(self.share()),
            false => self.lanes(lanes),
        };
        Settings {
            mode,
            schedule: self.schedule(),
            lanes,
            isa: self.isa(),
            max_depth: self.max_depth(),
            max_steps: self.max_steps(),
            refill: !options.no_refill,
            report: self.counts_all(),
            fair: if self.ends() { FAIR } else { 0 },
            patience: waits.then_some(PATIENCE),
            trace: self.recorded(),
        }
    }

    /// Whether the blocks of all members are counted. Where kernels are called that takes hardly any time.
    pub(super) fn counts_all(&self) -> bool {
        let counts = self.options.report || self.options.trace > 0;
        self.options.count_blocks || counts && self.program.has_primitives()
    }

    pub(super) fn schedule(&self) -> Schedule {
        self.options.schedule.or(self.defaults.schedule).unwrap_or(Schedule::MostLanes)
    }

    pub(super) fn max_depth(&self) -> usize {
        self.options.max_depth.or(self.defaults.max_depth).unwrap_or(MAX_DEPTH)
    }

    pub(super) fn max_steps(&self) -> u64 {
        self.options.max_steps.unwrap_or(u64::MAX)
    }

    /// Members that a worker has under way at a time.
    pub(super) fn lanes(&self, unless_said: usize) -> usize {
        self.options.lanes.or(self.defaults.lanes).unwrap_or(unless_said)
    }

    /// Members per worker: with no more at a time each worker's calls of a kernel are as large as the others'.
    pub(super) fn share(&self) -> usize {
        self.members.div_ceil(self.threads)
    }
}
