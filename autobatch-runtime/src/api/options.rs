//! How a batch is run. Nothing here changes a result.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rayon::ThreadPool;

use crate::simd::Isa;

/// The algorithm that runs the batch. Results don't depend on it.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Executor, Options};
///
/// #[autobatch]
/// fn collatz(mut n: u64) -> u32 {
///     let mut steps = 0;
///     while n != 1 {
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///     }
///     steps
/// }
///
/// let n: Vec<u64> = (1..100).collect();
/// for executor in [Executor::Auto, Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
///     let outcome = collatz_batched_with(&n, &Options::default().executor(executor))?;
///     assert_eq!(outcome.get(26), Some(&111)); // the member whose n is 27
/// }
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[non_exhaustive]
pub enum Executor {
    /// Picks one of the others by the program's shape, and by measuring on the batch itself. The default.
    #[default]
    Auto,
    /// Local static autobatching (Radul et al. 2020, Algorithm 1): masks on SIMD lanes; a recursive
    /// call runs the calling members as one dense sub-batch. For arithmetic.
    Masked,
    /// Program-counter autobatching (Algorithm 2): explicit stacks and a program counter per member. Members at the same block
    /// run together, whatever their depth or call site. For primitives, and for members that differ much.
    ///
    /// A program of numbers without calls, or whose calls don't need each other's results, has nothing that a member would wait for.
    /// It runs as with [`Executor::Masked`].
    ProgramCounter,
    /// The scalar function on each member, one after the other, across the cores. The baseline to compare with.
    Scalar,
}

/// Which block [`Executor::ProgramCounter`] runs next, and which primitive is called next where members run on fibers.
/// Results don't depend on it.
///
/// ```
/// use autobatch::{Executor, Options, Schedule};
///
/// let options = Options::default().executor(Executor::ProgramCounter).schedule(Schedule::EarliestBlock);
/// # let _ = options;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// The first in block order at which a member waits.
    EarliestBlock,
    /// The one at which most members wait. The default.
    MostLanes,
}

/// Ends runs early, from any thread: members that are not done by then get [`FaultKind::Cancelled`](crate::FaultKind::Cancelled).
///
/// Clones are the same token. One token may be given to any number of runs, see [`Options::cancel`]. It can't be used again once it
/// is cancelled.
///
/// ```
/// # use autobatch::autobatch;
/// use std::{thread, time::Duration};
///
/// use autobatch::{CancelToken, Executor, FaultKind, Options};
///
/// #[autobatch]
/// fn wait_for_zero(mut n: u64) -> u64 {
///     while n != 0 {
///         n = n.wrapping_mul(3); // an odd number stays odd
///     }
///     n
/// }
///
/// let token = CancelToken::new();
/// let options = Options::default().executor(Executor::Masked).cancel(&token);
/// thread::spawn(move || {
///     thread::sleep(Duration::from_millis(5));
///     token.cancel();
/// });
/// let outcome = wait_for_zero_batched_with(&[1], &options)?; // returns, though the loop never ends
/// assert_eq!(outcome.faults()[0].kind, FaultKind::Cancelled);
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    ///
    /// ```
    /// assert!(!autobatch::CancelToken::new().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the runs that were given this token or a clone of it. Returns at once: the runs end when they look at it.
    ///
    /// ```
    /// let token = autobatch::CancelToken::new();
    /// let other = token.clone();
    /// std::thread::spawn(move || other.cancel()).join().unwrap();
    /// assert!(token.is_cancelled());
    /// ```
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called, on this token or a clone of it.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a run is: the argument of the function that [`Options::progress`] takes.
///
/// ```
/// use autobatch::{Options, Progress};
///
/// fn print(progress: Progress) {
///     eprintln!("{} %", 100 * progress.done / progress.total);
/// }
///
/// let options = Options::default().progress(print);
/// # let _ = options;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// The number of members that are done, faulty ones included.
    pub done: usize,
    /// The number of members that run, never 0.
    pub total: usize,
}

type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// How a batch is run: the last argument of `f_batched_with`.
///
/// Every option has a default, and none changes a result: limits such as [`Options::max_depth`] decide whether there is one. Methods
/// can be chained. `Options` borrows nothing, so that a struct of yours can keep it.
///
/// | to choose | options |
/// |---|---|
/// | which members run, and how they are numbered | [`only`](Options::only), [`first_member`](Options::first_member) |
/// | how they run | [`executor`](Options::executor), [`schedule`](Options::schedule), [`lanes`](Options::lanes), [`refill`](Options::refill), [`isa`](Options::isa) |
/// | where | [`threads`](Options::threads), [`pool`](Options::pool) |
/// | how far each member may go | [`max_depth`](Options::max_depth), [`max_steps`](Options::max_steps), [`max_memory`](Options::max_memory) |
/// | when the run ends, and what is known of it | [`cancel`](Options::cancel), [`deadline`](Options::deadline), [`progress`](Options::progress), [`report`](Options::report), [`count_blocks`](Options::count_blocks), [`trace`](Options::trace), [`quiet`](Options::quiet) |
///
/// The arguments `executor`, `schedule`, `lanes` and `max_depth` of the attribute are other defaults for one function.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Executor, Options};
///
/// #[autobatch]
/// fn fib(n: u64) -> u64 {
///     if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
/// }
///
/// struct Simulation {
///     options: Options,
/// }
///
/// let options = Options::default().executor(Executor::Masked).threads(1).lanes(256);
/// let simulation = Simulation { options };
/// let outcome = fib_batched_with(&[5, 10], &simulation.options)?;
/// assert_eq!(outcome.into_values().unwrap(), [8, 89]);
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[derive(Clone, Default)]
pub struct Options {
    pub(crate) executor: Option<Executor>,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) threads: Option<usize>,
    pub(crate) pool: Option<Arc<ThreadPool>>,
    pub(crate) lanes: Option<usize>,
    pub(crate) isa: Option<Isa>,
    pub(crate) max_depth: Option<usize>,
    pub(crate) max_steps: Option<u64>,
    pub(crate) max_memory: Option<usize>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) progress: Option<OnProgress>,
    pub(crate) report: bool,
    pub(crate) count_blocks: bool,
    pub(crate) trace: usize,
    pub(crate) quiet: bool,
    pub(crate) no_refill: bool,
    pub(crate) only: Option<Arc<Only>>,
    pub(crate) first_member: usize,
}

/// Which members run.
#[derive(Debug)]
pub(crate) struct Only {
    len: usize,
    /// Their places, ascending; `None` if all run.
    places: Option<Vec<usize>>,
}

impl Only {
    fn new(runs: impl Iterator<Item = bool>) -> Only {
        let (mut len, mut places) = (0, None);
        for runs in runs {
            match (runs, &mut places) {
                (true, Some(places)) => Vec::push(places, len),
                (false, none @ None) => *none = Some((0..len).collect()),
                _ => {}
            }
            len += 1;
        }
        Only { len, places }
    }

    /// How many members the columns have.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn places(&self) -> Option<&[usize]> {
        self.places.as_deref()
    }
}

impl Options {
    /// The algorithm; default [`Executor::Auto`].
    ///
    /// `Auto` measures on members of the batch, and keeps what it found for later runs of the program.
    /// Scalar code counts the steps of some programs only, and can be ended inside a member only if that recurses. So `Auto` does not take
    /// it for others where [`Options::max_steps`] is given, nor for other functions where [`Options::cancel`] or [`Options::deadline`] is.
    ///
    /// ```
    /// use autobatch::{Executor, Options};
    ///
    /// let options = Options::default().executor(Executor::ProgramCounter);
    /// # let _ = options;
    /// ```
    pub fn executor(mut self, executor: Executor) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Which block the program-counter executor runs next; default [`Schedule::MostLanes`].
    ///
    /// ```
    /// use autobatch::{Options, Schedule};
    ///
    /// let options = Options::default().schedule(Schedule::EarliestBlock);
    /// # let _ = options;
    /// ```
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// The number of threads. Default: those of rayon's current pool.
    ///
    /// With 1 the batch runs on the calling thread.
    ///
    /// ```
    /// use autobatch::Options;
    ///
    /// let options = Options::default().threads(1);
    /// # let _ = options;
    /// ```
    ///
    /// # Panics
    ///
    /// If `threads` is 0.
    pub fn threads(mut self, threads: usize) -> Self {
        assert!(threads > 0, "a batch needs at least one thread");
        self.threads = Some(threads);
        self
    }

    /// The rayon pool to run on. Default: the pool of the calling thread, so that `pool.install(|| f_batched(…))` needs no option.
    ///
    /// It takes the pool itself, or an `Arc` of it for a pool that others use too.
    ///
    /// ```
    /// use autobatch::Options;
    ///
    /// # fn pool() -> Result<Options, Box<dyn std::error::Error>> {
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// let options = Options::default().pool(pool);
    /// # Ok(options)
    /// # }
    /// # pool().unwrap();
    /// ```
    pub fn pool(mut self, pool: impl Into<Arc<ThreadPool>>) -> Self {
        self.pool = Some(pool.into());
        self
    }

    /// The number of members that one core works on at a time: the lanes of a tile, or fibers. Default: by the executor and the program.
    ///
    /// More lanes keep vectors fuller where members differ, fewer stay in the cache.
    ///
    /// ```
    /// use autobatch::Options;
    ///
    /// let options = Options::default().lanes(256);
    /// # let _ = options;
    /// ```
    ///
    /// # Panics
    ///
    /// If `lanes` is 0.
    pub fn lanes(mut self, lanes: usize) -> Self {
        assert!(lanes > 0, "a tile needs at least one lane");
        self.lanes = Some(lanes);
        self
    }

    /// The widest instruction set to use. Default: the widest that the CPU has.
    ///
    /// It is a ceiling: where the CPU does not have it, the widest below it is used.
    ///
    /// ```
    /// use autobatch::{Isa, Options};
    ///
    /// let options = Options::default().isa(Isa::Avx2); // also on a CPU that has AVX-512
    /// # let _ = options;
    /// ```
    pub fn isa(mut self, isa: Isa) -> Self {
        self.isa = Some(isa);
        self
    }

    /// How deep the calls of a member may nest, tail calls not counted; default 1 500 000.
    ///
    /// A member that goes deeper ends with [`FaultKind::DepthExceeded`](crate::FaultKind::DepthExceeded). Memory grows with the depth that is reached, not
    /// with the limit; the native stack does not grow.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::{FaultKind, Options};
    ///
    /// #[autobatch]
    /// fn sum_to(n: u64) -> u64 {
    ///     if n == 0 { 0 } else { n + sum_to(n - 1) }
    /// }
    ///
    /// let outcome = sum_to_batched_with(&[10, 1_000], &Options::default().max_depth(100))?;
    /// assert_eq!(outcome.get(0), Some(&55));
    /// assert_eq!(outcome.faults()[0].kind, FaultKind::DepthExceeded);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// How many steps a member may make; default: any number.
    ///
    /// A member that makes more ends with [`FaultKind::StepsExceeded`](crate::FaultKind::StepsExceeded). The call of a function of the program is
    /// a step, and so is each look at a loop's next turn, the last one included. A loop over a range that all members run equally often may
    /// stay whole: then no turn counts, and 4 096 are a step for the loop alone. The count is the same in every executor.
    ///
    /// A function that is not cut into blocks counts its calls of primitives, and nothing else: a loop that calls none is not ended. It must
    /// name a primitive, in its own text, in that of a function of its program, or in the attribute's `primitives(…)`. One that names none
    /// gives a [`BatchError::Limit`](crate::BatchError::Limit) before anything runs. So does [`Executor::Scalar`], unless all loops and calls of
    /// the program are blocks as they are written: of chains of iterators, for example, it would not count the turns.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::{FaultKind, Options};
    ///
    /// #[autobatch]
    /// fn halvings(mut x: f64) -> u32 {
    ///     let mut n = 0;
    ///     while x > 1.0 {
    ///         x /= 2.0; // infinity stays what it is
    ///         n += 1;
    ///     }
    ///     n
    /// }
    ///
    /// let outcome = halvings_batched_with(&[8.0, f64::INFINITY], &Options::default().max_steps(10_000))?;
    /// assert_eq!(outcome.get(0), Some(&3));
    /// assert_eq!(outcome.faults()[0].kind, FaultKind::StepsExceeded);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// How many bytes the calls under way may take, of all threads; default 256 MiB a thread, and 2 GiB where debug assertions are on.
    ///
    /// These are native stack, frames, and stacks of lanes, not the columns and results, nor what the function itself allocates. They grow by
    /// doubling. A member whose next call would take more ends with [`FaultKind::MemoryExceeded`](crate::FaultKind::MemoryExceeded). In the
    /// machine that is a member which is deeper than a thousand calls, and than any was until the memory was used up.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::{Executor, FaultKind, Options};
    ///
    /// #[autobatch]
    /// fn sum_to(n: u64) -> u64 {
    ///     if n == 0 { 0 } else { n + sum_to(n - 1) }
    /// }
    ///
    /// let options = Options::default().executor(Executor::Scalar).max_memory(8 << 20);
    /// let outcome = sum_to_batched_with(&[10, 1_000_000], &options)?;
    /// assert_eq!(outcome.get(0), Some(&55));
    /// assert_eq!(outcome.faults()[0].kind, FaultKind::MemoryExceeded);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// A token that ends the run early, see the example of [`CancelToken`].
    ///
    /// Members that are done have their results. Those that are not end with [`FaultKind::Cancelled`](crate::FaultKind::Cancelled). Blocks look at the
    /// token every millisecond or so. So does scalar code of functions that recurse or have loops of their own, unless they are generic; other scalar
    /// code looks at it between members, and on fibers at calls of primitives. A member that is ended has changed its `&mut` state so far: the state is valid, its value unspecified.
    ///
    /// A member that does not end delays others by a bounded time. From 20 ms on, an eighth of the time is spent on the members of its tile and
    /// on waiting ones, by the machine, where no member waits for another; half of the time once a quarter of them are done. When the run is
    /// cancelled they get 2 ms more. Where members can't run twice, those that have waited for 20 ms on average go on by program counters, where none
    /// waits for another. Scalar code takes turns: after half a millisecond, or four times as long as members before, a member is suspended, and
    /// goes on when all others have begun; not so if the function runs per member, which may hold a lock: members behind it wait.
    ///
    /// ```
    /// use autobatch::{CancelToken, Options};
    ///
    /// let token = CancelToken::new();
    /// let options = Options::default().cancel(&token);
    /// # let _ = options;
    /// ```
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// How long the run may take; default: as long as it takes.
    ///
    /// Members that are done by then have their results. Those that are not end with
    /// [`FaultKind::DeadlineExceeded`](crate::FaultKind::DeadlineExceeded). The time is looked at where [`Options::cancel`] looks at its token.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use std::time::Duration;
    ///
    /// use autobatch::{Executor, FaultKind, Options};
    ///
    /// #[autobatch]
    /// fn wait_for_zero(mut n: u64) -> u64 {
    ///     while n != 0 {
    ///         n = n.wrapping_mul(3); // an odd number stays odd
    ///     }
    ///     n
    /// }
    ///
    /// let options = Options::default().executor(Executor::Masked).deadline(Duration::from_millis(100));
    /// let outcome = wait_for_zero_batched_with(&[0, 1], &options)?;
    /// assert_eq!(outcome.get(0), Some(&0));
    /// assert_eq!(outcome.faults()[0].kind, FaultKind::DeadlineExceeded);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// A function that is called now and then while the batch runs, from the threads that run it.
    ///
    /// That is about a hundred times a run, and once with all members done. The function owns what it counts with, or shares it by an `Arc`.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use autobatch::Options;
    ///
    /// #[autobatch]
    /// fn square(x: u32) -> u32 {
    ///     x * x
    /// }
    ///
    /// let done = Arc::new(AtomicUsize::new(0));
    /// let shown = done.clone();
    /// let options = Options::default().progress(move |progress| shown.store(progress.done, Ordering::Relaxed));
    /// square_batched_with(&[1, 2, 3], &options)?;
    /// assert_eq!(done.load(Ordering::Relaxed), 3);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// A panic of the function ends the run, and goes on in the batched call.
    pub fn progress(mut self, on_progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(on_progress));
        self
    }

    /// A bar that shows how many members are done, of all that run. Who has made it finishes it.
    ///
    /// It takes the place of [`Options::progress`]. With the feature `indicatif`.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::Options;
    /// use indicatif::ProgressBar;
    ///
    /// #[autobatch]
    /// fn square(x: u32) -> u32 {
    ///     x * x
    /// }
    ///
    /// let bar = ProgressBar::no_length();
    /// square_batched_with(&[1, 2, 3], &Options::default().progress_bar(&bar))?;
    /// assert_eq!((bar.position(), bar.length()), (3, Some(3)));
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    #[cfg(feature = "indicatif")]
    pub fn progress_bar(self, bar: &indicatif::ProgressBar) -> Self {
        let bar = bar.clone();
        self.progress(move |progress| {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
        })
    }

    /// Whether the [`Report`](crate::Report) says how much its engine has done, and how blocks were executed; default no.
    ///
    /// The engine is the same in any case. Only the machine counts blocks, so they are counted for some members: of a program that only
    /// computes the machine runs the first ones again, for an eighth of the time; of others it counts up to 256, an eighth of all, or as many as
    /// take no time to speak of, and none in a run that may be ended from outside.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::{Engine, Executor, Options};
    ///
    /// #[autobatch]
    /// fn halvings(mut n: u32) -> u32 {
    ///     let mut steps = 0;
    ///     while n > 1 {
    ///         n /= 2;
    ///         steps += 1;
    ///     }
    ///     steps
    /// }
    ///
    /// let options = Options::default().executor(Executor::Masked).report(true);
    /// let outcome = halvings_batched_with(&[1; 100], &options)?;
    /// let report = outcome.report();
    /// assert!(matches!(report.engine, Engine::VectorFrames | Engine::Machine | Engine::Scalar));
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }

    /// Whether the blocks of all members are counted for the [`Report`](crate::Report), see its example; default no.
    ///
    /// The machine counts. So it runs the batch, which may take many times longer than the engine that would run it otherwise.
    ///
    /// ```
    /// use autobatch::Options;
    ///
    /// let options = Options::default().count_blocks(true);
    /// # let _ = options;
    /// ```
    pub fn count_blocks(mut self, count: bool) -> Self {
        self.count_blocks = count;
        self
    }

    /// How many members' ways through the blocks are recorded, at most 256, for [`Outcome::trace`](crate::Outcome::trace); default none.
    ///
    /// The machine records, up to 2 000 steps, on half as many lanes unless [`Options::lanes`] says otherwise. Of a program that only computes it
    /// runs the members again, from the front and the middle of the batch; of others the first ones run so, on one thread. Where it runs the batch anyway, with
    /// primitives or [`Options::count_blocks`], it records the first members as they run. There is no trace of scalar code.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::Options;
    ///
    /// #[autobatch]
    /// fn halvings(mut n: u32) -> u32 {
    ///     let mut steps = 0;
    ///     while n > 1 {
    ///         n /= 2;
    ///         steps += 1;
    ///     }
    ///     steps
    /// }
    ///
    /// let n: Vec<u32> = (0..1000).collect();
    /// let outcome = halvings_batched_with(&n, &Options::default().trace(32))?;
    /// if let Some(trace) = outcome.trace() {
    ///     assert_eq!(trace.members.len(), 32);
    ///     let page = std::env::temp_dir().join("halvings.html");
    ///     std::fs::write(page, trace.to_html()).unwrap(); // open it in a browser
    /// }
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn trace(mut self, members: usize) -> Self {
        self.trace = members.min(RECORDED);
        self
    }

    /// Whether members that panic print nothing; default no.
    ///
    /// Their faults have the messages. Without it, the panic hook is told of each member's panic once, and a line on standard error names the
    /// member: `autobatch: member 1: attempt to divide by zero`.
    ///
    /// The first run of the process puts a panic hook in front of the one that it finds. A hook that is set later replaces both. It is told of
    /// members of quiet batches too, and of some panics twice: vector code that has met one is given up, and its members run as scalar code.
    /// Panics of other threads, and of the batched function itself, are not silenced.
    ///
    /// With `panic = "abort"` in the profile the first panic of a member ends the process, quiet or not, and all results are lost. So do
    /// limits that unwind a member: `cancel`, `deadline` and `max_steps` in vector and scalar code, and calls too deep or too large for it.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::Options;
    ///
    /// #[autobatch]
    /// fn part(n: u64, of: u64) -> u64 {
    ///     100 * n / of
    /// }
    ///
    /// let outcome = part_batched_with(&[1, 2, 3], &[4, 0, 5], &Options::default().quiet(true))?;
    /// assert_eq!(outcome.faults()[0].message, "attempt to divide by zero");
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn quiet(mut self, quiet: bool) -> Self {
        self.quiet = quiet;
        self
    }

    /// Which members run; default all. The others are absent: nothing of them is computed, and they have neither a result nor a fault.
    ///
    /// There is one `bool` for each member, in order; another number is a [`BatchError::Length`](crate::BatchError::Length). A member's values may be
    /// anything if it is absent, such as a divisor of 0 or an index that is out of bounds: what stands behind a null of a table. Its `&mut` state
    /// stays as it is. Absent members take no lanes.
    ///
    /// [`Outcome::get`](crate::Outcome::get) has `None` for absent members. With [`with_options`](crate::with_options) their places in the output
    /// of `f_batched_into` keep what they hold.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::Options;
    ///
    /// #[autobatch]
    /// fn share(whole: u32, parts: u32) -> u32 {
    ///     whole / parts
    /// }
    ///
    /// let (whole, parts) = ([6, 7, 8], [3, 0, 2]);
    /// let options = Options::default().only(parts.map(|parts| parts != 0));
    /// let outcome = share_batched_with(&whole, &parts, &options)?;
    /// assert_eq!((outcome.get(0), outcome.get(1), outcome.get(2)), (Some(&2), None, Some(&4)));
    /// assert_eq!(outcome.into_values_or(0), [2, 0, 4]);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn only(mut self, members: impl IntoIterator<Item: Borrow<bool>>) -> Self {
        self.only = Some(Arc::new(Only::new(members.into_iter().map(|runs| *runs.borrow()))));
        self
    }

    /// The number of the batch's first member in faults, in lines on standard error and in traces; default 0.
    ///
    /// So a batch that is a part of a table names the rows of the table. [`Outcome`](crate::Outcome) counts its members from 0 all the same.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::Options;
    ///
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 5], &Options::default().quiet(true).first_member(8192))?;
    /// assert_eq!(outcome.faults()[0].to_string(), "member 8193: 5 is odd");
    /// assert_eq!(outcome.get(1), None);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn first_member(mut self, number: usize) -> Self {
        self.first_member = number;
        self
    }

    /// Whether waiting members take the place of finished ones; default yes.
    ///
    /// Without it, a tile is filled again only when all its members are done. That is for looking at counts.
    ///
    /// ```
    /// use autobatch::Options;
    ///
    /// let options = Options::default().count_blocks(true).refill(false);
    /// # let _ = options;
    /// ```
    pub fn refill(mut self, refill: bool) -> Self {
        self.no_refill = !refill;
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("executor", &self.executor)
            .field("schedule", &self.schedule)
            .field("threads", &self.threads)
            .field("pool", &self.pool.is_some())
            .field("lanes", &self.lanes)
            .field("isa", &self.isa)
            .field("max_depth", &self.max_depth)
            .field("max_steps", &self.max_steps)
            .field("max_memory", &self.max_memory)
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .field("progress", &self.progress.is_some())
            .field("report", &self.report)
            .field("count_blocks", &self.count_blocks)
            .field("trace", &self.trace)
            .field("quiet", &self.quiet)
            .field("refill", &!self.no_refill)
            .field("only", &self.only.as_ref().map(|only| only.places().map_or(only.len(), <[usize]>::len)))
            .field("first_member", &self.first_member)
            .finish()
    }
}

/// Defaults given as arguments of the attribute.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    pub executor: Option<Executor>,
    pub schedule: Option<Schedule>,
    pub lanes: Option<usize>,
    pub max_depth: Option<usize>,
    /// Whether calls of the scalar code use the native stack and are not counted: no argument, but what
    /// the compiler could not avoid.
    pub native_depth: bool,
}

impl Defaults {
    /// No argument given.
    pub const NONE: Defaults =
        Defaults { executor: None, schedule: None, lanes: None, max_depth: None, native_depth: false };
}

/// The most members that are recorded.
const RECORDED: usize = 256;
/// The depth members may reach where nobody says otherwise.
pub(crate) const MAX_DEPTH: usize = 1_500_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_shareable_and_keep_what_they_are_given() {
        fn shareable<T: Send + Sync + 'static>(_: &T) {}
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let token = CancelToken::new();
        let options = Options::default()
            .executor(Executor::ProgramCounter)
            .schedule(Schedule::EarliestBlock)
            .threads(2)
            .pool(pool)
            .lanes(256)
            .isa(Isa::Avx2)
            .max_depth(10)
            .max_steps(20)
            .cancel(&token)
            .progress(|_| {})
            .report(true)
            .refill(false);
        shareable(&options);
        let text = format!("{:?}", options.clone());
        for part in ["ProgramCounter", "EarliestBlock", "Some(256)", "Avx2", "Some(20)", "refill: false"] {
            assert!(text.contains(part), "{part} is in {text}");
        }
        token.cancel();
        assert!(options.cancel.unwrap().is_cancelled());
    }

    #[test]
    fn the_members_that_run_are_those_that_are_true() {
        let only = |members: &[bool]| {
            let only = Only::new(members.iter().copied());
            (only.len(), only.places().map(<[usize]>::to_vec))
        };
        assert_eq!(only(&[]), (0, None));
        assert_eq!(only(&[true, true]), (2, None));
        assert_eq!(only(&[true, true, false, true, false]), (5, Some(vec![0, 1, 3])));
        assert_eq!(only(&[false, true]), (2, Some(vec![1])));
    }

    #[test]
    #[should_panic(expected = "at least one thread")]
    fn no_threads() {
        let _ = Options::default().threads(0);
    }
}
