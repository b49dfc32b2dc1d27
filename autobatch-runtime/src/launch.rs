//! From a batched call to workers and back: lengths, executor, threads, faults, report.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::depth::{self, Depth};
use crate::fault::{BatchError, CANCELLED, Fault, FaultKind};
use crate::fiber::reach::Reach;
use crate::fiber::stack::KEPT;
use crate::fiber::{self, Here, Rules, Worker};
use crate::isa;
use crate::machine::{Core, Finished, Mode, Queue, Settings, Watch};
use crate::nest::Nest;
use crate::options::{Defaults, Executor, Isa, MAX_DEPTH, Options, Progress, Schedule};
use crate::out::{Out, Output};
use crate::outcome::Outcome;
use crate::program::Program;
use crate::report::{BlockReport, Report};
use crate::store::Store;

/// Members that the scalar executor takes at a time, at first, and at most.
const PIECE: usize = 64;
const LARGEST_PIECE: usize = 4096;
/// How long it may take for the next piece to be larger.
const LONG_PIECE: Duration = Duration::from_micros(10);
/// Members that a batched kernel is called for at most, unless the user says otherwise.
const PRIMITIVE_LANES: usize = 1024;
/// The same on fibers where there are so many threads that not all of their stacks are kept.
const FIBER_LANES: usize = 256;
/// Members of a thread that find out whether a program reaches a primitive, at most.
const FIRST: usize = 256;
/// Fibers of a thread and of all threads, at most.
const FIBERS: [usize; 2] = [4096, 12 << 10];

// What follows is instantiated for every program in the user's crate: as much as can be of it is behind a
// `dyn`, and so compiled once, here.

/// Members of two places of the batch.
type Parts = [Range<usize>; 2];

fn members_in(parts: &Parts) -> usize {
    parts[0].len() + parts[1].len()
}

/// Runs a phase, an executor on some members with so many threads.
type Phase<'a> = dyn Fn(Executor, Parts, usize) -> Took + Sync + 'a;

/// The ways to run members. For generated code only.
#[doc(hidden)]
pub struct Ways<S, T, N> {
    /// Runs the user's function, or its clone, for one member.
    pub scalar: S,
    /// Enters the generated body with a worker's core and store; may unwind.
    pub tile: T,
    /// Runs a tile in nested frames; may unwind.
    pub nest: N,
    /// The lanes of such a tile by default; 0 if the program can't be run that way.
    pub nests: usize,
    /// Whether the program-counter executor has code of its own for such a tile, which then runs in rooms.
    pub rooms: bool,
}

/// The code that runs one member.
pub(crate) trait Scalar<R>: Fn(usize, Depth) -> R + Sync {}
impl<R, F: Fn(usize, Depth) -> R + Sync> Scalar<R> for F {}
/// The machine's code.
pub(crate) trait Tile<R>: Fn(&mut Core<'_>, &Store, &Out<'_, R>) + Sync {}
impl<R, F: Fn(&mut Core<'_>, &Store, &Out<'_, R>) + Sync> Tile<R> for F {}
/// The code of nested frames.
pub(crate) trait Nested<R>: Fn(&mut Nest<'_>, &Out<'_, R>) + Sync {}
impl<R, F: Fn(&mut Nest<'_>, &Out<'_, R>) + Sync> Nested<R> for F {}

/// Runs a batch into new memory. For generated code only.
#[doc(hidden)]
#[expect(private_bounds, reason = "names for what closures are")]
pub fn run<R: Send>(
    program: &'static Program,
    defaults: Defaults,
    options: &Options,
    lens: &[(&'static str, Option<usize>)],
    ways: Ways<impl Scalar<R>, impl Tile<R>, impl Nested<R>>,
) -> Result<Outcome<R>, BatchError> {
    let members = members(lens)?;
    let mut values: Vec<MaybeUninit<R>> = Vec::with_capacity(members);
    values.resize_with(members, MaybeUninit::uninit);
    let out = Out::fresh(&mut values);
    let (faults, report) = Launch::new(program, defaults, options, members).run(&ways, &out);
    let set = out.into_set();
    Ok(Outcome::new(values, set, faults, report))
}

/// Runs a batch into the caller's memory; panics as the scalar function would, naming the first faulty
/// member, whose place keeps its old value. For generated code only.
#[doc(hidden)]
#[track_caller]
#[expect(private_bounds, reason = "names for what closures are")]
pub fn run_into<R: Send>(
    program: &'static Program,
    defaults: Defaults,
    lens: &[(&'static str, Option<usize>)],
    ways: Ways<impl Scalar<R>, impl Tile<R>, impl Nested<R>>,
    mut output: impl Output<R>,
) -> Result<(), BatchError> {
    let members = members(lens)?;
    if output.room() != members {
        return Err(BatchError::Output { expected: members, found: output.room() });
    }
    let out = output.out();
    let (faults, _) = Launch::new(program, defaults, &Options::default(), members).run(&ways, &out);
    match faults.first() {
        None => Ok(()),
        Some(first) => panic!("{first}"),
    }
}

/// The panic for a call that is wrong as a whole. For generated code only.
#[doc(hidden)]
#[track_caller]
pub fn unwrap_unit(result: Result<(), BatchError>) {
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// The common length of the columns.
fn members(lens: &[(&'static str, Option<usize>)]) -> Result<usize, BatchError> {
    let mut with_length = lens.iter().filter_map(|(name, len)| len.map(|len| (*name, len)));
    let Some((first, expected)) = with_length.next() else {
        return Err(BatchError::NoLength);
    };
    match with_length.find(|(_, len)| *len != expected) {
        Some((parameter, found)) => Err(BatchError::Length { first, expected, parameter, found }),
        None => Ok(expected),
    }
}

/// The native stack that a generated body may need: strips of all variables of a block, and where nothing is
/// optimised those of all blocks.
const BODY_STACK: usize = if cfg!(debug_assertions) { 8 << 20 } else { 512 << 10 };

/// One run of a batch.
struct Launch<'a> {
    program: &'static Program,
    defaults: Defaults,
    options: &'a Options,
    members: usize,
    threads: usize,
    /// The pool made for this run, if the number of threads asks for one.
    own_pool: Option<ThreadPool>,
    /// Members that are done, and that number at the last call of the progress function.
    ended: AtomicUsize,
    reported: AtomicUsize,
    /// Whether both batching executors do the same.
    alike: bool,
    /// Whether all members run as scalar code.
    per_member: bool,
    /// Whether scalar code runs on fibers.
    on_fibers: bool,
    /// Members at the front of the batch that have run before an executor is chosen.
    begun: usize,
}

/// How long a phase has taken: its threads' work, and all of it, in which they are also woken and waited for.
#[derive(Clone, Copy, Debug)]
struct Took {
    work: Duration,
    wall: Duration,
}

/// The machine ends members itself.
struct Blocks;

impl Watch for Blocks {
    fn cancelled(&self) -> bool {
        false
    }
    fn ended(&self, _: usize) {}
}

/// What the workers of one phase leave behind.
#[derive(Default)]
struct Ledger {
    faults: Vec<Fault>,
    finished: Vec<Finished>,
}

impl Watch for Launch<'_> {
    fn cancelled(&self) -> bool {
        self.options.cancel.as_ref().is_some_and(|token| token.is_cancelled())
    }

    fn ended(&self, members: usize) {
        let Some(on_progress) = &self.options.progress else { return };
        let done = self.ended.fetch_add(members, Ordering::Relaxed) + members;
        // About a hundred calls per run, and always one when all are done.
        let step = (self.members / 100).max(1);
        let last = self.reported.load(Ordering::Relaxed);
        let claim =
            || self.reported.compare_exchange(last, done, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if done == self.members || (done >= last + step && claim()) {
            on_progress(Progress { done, total: self.members });
        }
    }
}

impl<'a> Launch<'a> {
    fn new(program: &'static Program, defaults: Defaults, options: &'a Options, members: usize) -> Self {
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
        let (ended, reported) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Launch {
            program,
            defaults,
            options,
            members,
            threads,
            own_pool,
            ended,
            reported,
            alike: false,
            per_member: program.whole_scalar,
            on_fibers: false,
            begun: 0,
        }
    }

    /// The executor that was asked for.
    fn asked(&self) -> Executor {
        self.options.executor.or(self.defaults.executor).unwrap_or_default()
    }

    /// Whether members run as scalar code, in which primitives wait for each other. So does a program in blocks, unless blocks are asked for,
    /// that calls primitives and has scalar code in its blocks, or of which it is known that this calls some.
    fn is_for_fibers(&self) -> bool {
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
    fn fibers_will_do(&self) -> bool {
        match self.asked() {
            Executor::Scalar => false,
            _ if self.program.is_one_block() => true,
            executor => executor == Executor::Auto && self.scalar_will_do(),
        }
    }

    /// Whether blocks may call primitives that they don't show, and no run has told yet. The report of an executor that was asked for counts
    /// all members.
    fn may_hide_primitives(&self) -> bool {
        let counts = self.options.report && self.asked() != Executor::Auto;
        let shown = self.per_member || self.program.has_primitives();
        !shown && !counts && self.fibers_will_do() && Reach::of(self.program).is_unknown()
    }

    fn executor(&self) -> Executor {
        if self.per_member || self.on_fibers || 2 * self.begun > self.members {
            return Executor::Scalar;
        }
        match self.asked() {
            // Kernel and scalar function may differ in the last bit, so what runs must not depend on time.
            Executor::Auto if self.program.has_primitives() => Executor::ProgramCounter,
            executor => executor,
        }
    }

    fn run<R: Send, T: Tile<R>>(
        mut self,
        ways: &Ways<impl Scalar<R>, T, impl Nested<R>>,
        out: &Out<'_, R>,
    ) -> (Vec<Fault>, Report) {
        let begin = Instant::now();
        if self.members == 0 {
            return (Vec::new(), self.report(Executor::Scalar, &[], begin.elapsed()));
        }
        self.per_member |= !self.is_admitted(&ways.tile, out);
        self.alike = self.nests(ways.nests) && !ways.rooms;
        // What has nested frames only computes.
        self.on_fibers = ways.nests == 0 && self.is_for_fibers();
        let ledger = Mutex::new(Ledger::default());
        if ways.nests == 0 && self.may_hide_primitives() {
            self.begun = self.find_out(&ways.scalar, out, &ledger);
        }
        // So scalar code calls kernels as blocks do.
        let calls_kernels = self.on_fibers || ways.nests == 0 && self.fibers_will_do();
        let phase = |executor: Executor, parts: Parts, threads: usize| match executor {
            Executor::Scalar if calls_kernels => self.fibers(parts, threads, &ways.scalar, out, &ledger),
            Executor::Scalar => self.scalar(parts, threads, &ways.scalar, out, &ledger),
            _ if self.nests(ways.nests) => self.nested(executor, parts, threads, ways, out, &ledger),
            _ => self.machine(executor, parts, threads, &ways.tile, out, &ledger),
        };
        // One generic program has many instances, whose executors compare differently.
        let executor = self.choose(std::any::type_name::<(T, R)>(), &phase);
        self.close(executor, ledger, begin)
    }

    /// Whether rustc's answers about the program's types admit it to the machine.
    fn is_admitted<R>(&self, tile: &impl Tile<R>, out: &Out<'_, R>) -> bool {
        if !self.program.asks || self.program.whole_scalar {
            return true;
        }
        let queue = Queue::of([0..0, 0..0], 1);
        let mut core = Core::new(self.program, self.settings(Executor::Masked), &queue, self);
        depth::with_room(BODY_STACK, || core.ask(|core| tile(core, &Store::new(), out)))
    }

    /// Runs the batch by the executor that was asked for, or by the one that is found to be the fastest.
    fn choose(&self, instance: &'static str, phase: &Phase<'_>) -> Executor {
        let mut executor = self.executor();
        match executor {
            Executor::Auto => self.install(&mut || executor = self.auto(Some(instance), phase)),
            executor => _ = phase(executor, self.all(), self.threads),
        }
        executor
    }

    fn close(&self, executor: Executor, ledger: Mutex<Ledger>, begin: Instant) -> (Vec<Fault>, Report) {
        let Ledger { mut faults, finished } =
            ledger.into_inner().unwrap_or_else(|poison| poison.into_inner());
        faults.sort_by_key(|fault| fault.member);
        let report = self.report(executor, &finished, begin.elapsed());
        (faults, report)
    }

    /// All members that have not run.
    fn all(&self) -> Parts {
        [self.begun..self.members, 0..0]
    }

    /// Runs `work` in the pool of this run.
    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        match self.options.pool.as_deref().or(self.own_pool.as_ref()) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs `work` once for each of `threads`, on this one if there is only one.
    fn spread(&self, threads: usize, work: &(dyn Fn() + Sync)) -> Took {
        let begin = Instant::now();
        let work = || {
            // This may be a member of another batch, on its fiber.
            let _nobody = Here::nobody();
            work();
        };
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

    fn machine<R: Send>(
        &self,
        executor: Executor,
        parts: Parts,
        threads: usize,
        tile: &impl Tile<R>,
        out: &Out<'_, R>,
        ledger: &Mutex<Ledger>,
    ) -> Took {
        let settings = self.settings(executor);
        let queue = Queue::of(parts, threads);
        let reached = Reach::of(self.program);
        self.spread(threads, &|| {
            let mut core = Core::new(self.program, settings.clone(), &queue, self);
            let store = Store::new();
            // Primitives that blocks don't show call their kernels for one row.
            let (member, has_result) = (|_, _| unreachable!("blocks run members"), |_| false);
            let rules = Rules { max_steps: u64::MAX, ..self.rules() };
            let worker = Worker::new(rules, &Blocks, reached, &member, &has_result);
            let _here = worker.alone();
            depth::with_room(BODY_STACK, || {
                while let Err(payload) = catch_unwind(AssertUnwindSafe(|| tile(&mut core, &store, out))) {
                    core.fault(payload);
                }
            });
            let mut finished = core.finish();
            let mut ledger = ledger.lock().unwrap_or_else(|poison| poison.into_inner());
            ledger.faults.append(&mut finished.faults);
            ledger.finished.push(finished);
        })
    }

    /// The instruction set of the batching executors.
    fn isa(&self) -> Isa {
        isa::ceiling(self.options.isa)
    }

    fn settings(&self, executor: Executor) -> Settings {
        let options = self.options;
        let mode = if executor == Executor::ProgramCounter { Mode::ProgramCounter } else { Mode::Masked };
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
            report: options.report,
        }
    }

    fn schedule(&self) -> Schedule {
        self.options.schedule.or(self.defaults.schedule).unwrap_or(Schedule::MostLanes)
    }

    fn max_depth(&self) -> usize {
        self.options.max_depth.or(self.defaults.max_depth).unwrap_or(MAX_DEPTH)
    }

    fn max_steps(&self) -> u64 {
        self.options.max_steps.unwrap_or(u64::MAX)
    }

    /// Members that a worker has under way at a time.
    fn lanes(&self, unless_said: usize) -> usize {
        self.options.lanes.or(self.defaults.lanes).unwrap_or(unless_said)
    }

    /// Members per worker: with no more at a time each worker's calls of a kernel are as large as the others'.
    fn share(&self) -> usize {
        self.members.div_ceil(self.threads)
    }

    /// Scalar code on each member.
    fn scalar<R: Send>(
        &self,
        parts: Parts,
        threads: usize,
        scalar: &impl Scalar<R>,
        out: &Out<'_, R>,
        ledger: &Mutex<Ledger>,
    ) -> Took {
        let queue = Queue::of(parts, threads);
        self.spread(threads, &|| {
            let mut faults = Vec::new();
            self.scalar_worker(&queue, PIECE, None, scalar, out, &mut faults);
            ledger.lock().unwrap_or_else(|poison| poison.into_inner()).faults.append(&mut faults);
        })
    }

    /// How members run on fibers.
    fn rules(&self) -> Rules {
        let kept = (KEPT / self.threads).clamp(FIBER_LANES, PRIMITIVE_LANES);
        let lanes = self.lanes(kept).min(self.share());
        Rules {
            lanes,
            fibers: FIBERS[0].min(FIBERS[1] / self.threads).max(lanes),
            refill: !self.options.no_refill,
            schedule: self.schedule(),
            max_depth: self.max_depth(),
            max_steps: self.max_steps(),
        }
    }

    /// Scalar code on each member, on fibers as far as members reach primitives.
    fn fibers<R: Send>(
        &self,
        parts: Parts,
        threads: usize,
        scalar: &impl Scalar<R>,
        out: &Out<'_, R>,
        ledger: &Mutex<Ledger>,
    ) -> Took {
        let queue = Queue::of(parts, threads);
        self.fiber_workers(&queue, threads, scalar, out, ledger, &|worker, faults| {
            self.scalar_worker(&queue, PIECE, Some(worker), scalar, out, faults);
        })
    }

    /// Runs the first members on fibers to see whether the program reaches a primitive, and all of them if it does; how many it has run.
    fn find_out<R: Send>(&self, scalar: &impl Scalar<R>, out: &Out<'_, R>, ledger: &Mutex<Ledger>) -> usize {
        let queue = Queue::of(self.all(), self.threads);
        self.fiber_workers(&queue, self.threads, scalar, out, ledger, &|_, _| ());
        Reach::of(self.program).not_found();
        self.members - queue.waiting()
    }

    /// A worker on each thread for fibers; `without` as in [`Worker::run_queue`].
    fn fiber_workers<R: Send>(
        &self,
        queue: &Queue,
        threads: usize,
        scalar: &impl Scalar<R>,
        out: &Out<'_, R>,
        ledger: &Mutex<Ledger>,
        without: &(dyn Fn(&Worker<'_>, &mut Vec<Fault>) + Sync),
    ) -> Took {
        let reached = Reach::of(self.program);
        let rules = self.rules();
        let member = |member, depth| out.set(member, scalar(member, depth));
        let has_result = |member| out.is_set(member);
        self.spread(threads, &|| {
            let mut faults = Vec::new();
            let worker = Worker::new(rules, self, reached, &member, &has_result);
            let first = if reached.is_unknown() { rules.lanes.min(FIRST) } else { 0 };
            worker.run_queue(queue, first, &mut faults, &|faults| without(&worker, faults));
            drop(worker);
            ledger.lock().unwrap_or_else(|poison| poison.into_inner()).faults.append(&mut faults);
        })
    }

    /// Takes pieces of the queue until it is empty, or members of `worker`, to which they belong, have reached a primitive.
    fn scalar_worker<R: Send>(
        &self,
        queue: &Queue,
        mut size: usize,
        worker: Option<&Worker<'_>>,
        scalar: &impl Scalar<R>,
        out: &Out<'_, R>,
        faults: &mut Vec<Fault>,
    ) {
        let depth = Depth::root(self.max_depth());
        let _published = depth.publish();
        loop {
            let begin = Instant::now();
            if worker.is_some_and(Worker::has_reached) {
                return;
            }
            let piece = queue.take(size);
            if piece.is_empty() {
                return;
            }
            self.scalar_piece(piece, depth, worker, scalar, out, faults);
            // Members that take next to nothing are not worth the queue's atomic operations.
            if begin.elapsed() < LONG_PIECE {
                size = (2 * size).min(LARGEST_PIECE);
            }
            // Members that need more stack than there is would each have it made and freed again.
            let (base, peak) = depth::take_peak();
            if peak > base {
                let size = size.min(PIECE);
                return depth::on_segment(peak - base, |_| {
                    self.scalar_worker(queue, size, worker, scalar, out, faults);
                });
            }
        }
    }

    /// One member after the other; a panic ends one member and is caught around them all.
    fn scalar_piece<R: Send>(
        &self,
        mut piece: Range<usize>,
        depth: Depth,
        worker: Option<&Worker<'_>>,
        scalar: &impl Scalar<R>,
        out: &Out<'_, R>,
        faults: &mut Vec<Fault>,
    ) {
        let members = piece.len();
        let _here = worker.map(Worker::alone);
        let steps = worker.filter(|_| self.options.max_steps.is_some());
        while !piece.is_empty() {
            // The member being run is the first that is left.
            let caught = catch_unwind(AssertUnwindSafe(|| {
                if self.options.cancel.is_none() && steps.is_none() {
                    return out.fill(&mut piece, |member| scalar(member, depth));
                }
                while piece.start < piece.end && !self.cancelled() {
                    steps.inspect(|worker| worker.begins_alone());
                    out.set(piece.start, scalar(piece.start, depth));
                    piece.start += 1;
                }
            }));
            let member = piece.start;
            let (kind, message) = match caught {
                Ok(()) if piece.is_empty() => break,
                Ok(()) => (FaultKind::Cancelled, CANCELLED.to_owned()),
                // A destructor of the value that the result has replaced: no fault of the function's.
                Err(payload) if out.is_set(member) => resume_unwind(payload),
                Err(payload) => fiber::reason(None, &*payload, self.max_depth(), self.max_steps()),
            };
            faults.push(Fault { member, kind, message });
            piece.start += 1;
        }
        self.ended(members);
    }

    fn report(&self, executor: Executor, finished: &[Finished], time: Duration) -> Report {
        let mut report = Report {
            executor,
            isa: if executor == Executor::Scalar { Isa::Baseline } else { self.isa() },
            members: self.members,
            threads: self.threads,
            depth: finished.iter().map(|f| f.depth).max().unwrap_or(0),
            refills: finished.iter().map(|f| f.refills).sum(),
            time,
            blocks: Vec::new(),
        };
        if self.options.report && !finished.is_empty() {
            report.blocks = self
                .program
                .blocks
                .iter()
                .enumerate()
                .map(|(i, block)| {
                    let sum =
                        |figure: fn(&Finished, usize) -> u64| finished.iter().map(|f| figure(f, i)).sum();
                    BlockReport {
                        function: self.program.functions[block.function as usize].name,
                        label: block.label,
                        line: block.line,
                        executions: sum(|f, i| f.blocks[i].executions),
                        active: sum(|f, i| f.blocks[i].active),
                        offered: sum(|f, i| f.blocks[i].offered),
                        lower_bound: finished.iter().map(|f| f.largest[i]).max().unwrap_or(0),
                    }
                })
                .collect();
        }
        report
    }
}

mod auto;
#[cfg(test)]
mod auto_tests;
#[cfg(test)]
mod machine_tests;
mod nested;
#[cfg(test)]
pub(crate) mod tests;
