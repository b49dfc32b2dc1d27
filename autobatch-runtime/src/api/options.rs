//! How a batch is run. Nothing here changes a result.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPool;

use crate::simd::Isa;

/// The algorithm that runs the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[non_exhaustive]
pub enum Executor {
    /// Picks one by the program's shape and by measuring on the batch itself.
    #[default]
    Auto,
    /// Local static autobatching (Radul et al. 2020, Algorithm 1): masks on SIMD lanes; a recursive
    /// call runs the calling members as one dense sub-batch.
    Masked,
    /// Program-counter autobatching (Algorithm 2): explicit stacks and a program counter per member;
    /// members at the same block run together whatever their depth or call site. (Programs that only compute and have no
    /// calls, or only such as need no other's result, have nothing that a member would wait for: they run as
    /// [`Executor::Masked`] runs them, all calls of an activation at once.)
    ProgramCounter,
    /// The scalar function on each member, across the cores.
    Scalar,
}

/// Which block the program-counter executor runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// The first in block order that has a waiting member.
    EarliestBlock,
    /// The one where most members wait.
    MostLanes,
}

/// Ends a run early: members that are not done by then get [`crate::FaultKind::Cancelled`].
///
/// ```
/// let token = autobatch_runtime::CancelToken::new();
/// let other = token.clone();
/// std::thread::spawn(move || other.cancel()).join().unwrap();
/// assert!(token.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the runs that were given this token or a clone of it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Members that are done, faulty ones included.
    pub done: usize,
    /// Members of the batch.
    pub total: usize,
}

type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// How a batch is run: every field has a sensible default, and no field changes a result.
///
/// It borrows nothing, so that a struct of yours can keep it.
///
/// ```
/// use autobatch_runtime::{Executor, Options};
///
/// struct Simulation {
///     options: Options,
/// }
///
/// let options = Options::default().executor(Executor::Masked).threads(1).lanes(256);
/// let simulation = Simulation { options };
/// # let _ = simulation.options;
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
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) progress: Option<OnProgress>,
    pub(crate) report: bool,
    pub(crate) no_refill: bool,
}

impl Options {
    /// The algorithm; default [`Executor::Auto`].
    ///
    /// `Auto` measures on members of the batch, and keeps what it found for later runs of the program.
    /// The scalar executor counts no steps and can't be cancelled inside a member, so `Auto` does not take
    /// it where [`Options::max_steps`] or [`Options::cancel`] is given.
    pub fn executor(mut self, executor: Executor) -> Self {
        self.executor = Some(executor);
        self
    }

    /// Which block the program-counter executor runs next; default [`Schedule::MostLanes`].
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// The number of threads; 1 runs on the calling thread. Default: those of rayon's current pool.
    ///
    /// # Panics
    ///
    /// If `threads` is 0.
    pub fn threads(mut self, threads: usize) -> Self {
        assert!(threads > 0, "a batch needs at least one thread");
        self.threads = Some(threads);
        self
    }

    /// The rayon pool to run on; default: the pool of the calling thread, so that `pool.install(|| f_batched(…))` needs no option.
    ///
    /// It takes the pool itself, or an `Arc` where other runs have it too.
    pub fn pool(mut self, pool: impl Into<Arc<ThreadPool>>) -> Self {
        self.pool = Some(pool.into());
        self
    }

    /// Members that one core works on at a time (a tile, or as many fibers); default: by the executor and the program.
    ///
    /// # Panics
    ///
    /// If `lanes` is 0.
    pub fn lanes(mut self, lanes: usize) -> Self {
        assert!(lanes > 0, "a tile needs at least one lane");
        self.lanes = Some(lanes);
        self
    }

    /// The widest instruction set to use; default: the widest that the CPU has.
    pub fn isa(mut self, isa: Isa) -> Self {
        self.isa = Some(isa);
        self
    }

    /// How deep a member's batched calls may nest, tail calls not counted; default 100 000 000.
    /// Deeper members end with [`crate::FaultKind::DepthExceeded`].
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// How many blocks a member may run; default: any number. Members that run more end with
    /// [`crate::FaultKind::StepsExceeded`]. The scalar executor does not count. Of a function that runs as scalar code
    /// with any other executor only the calls of primitives count.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// A token that ends the run early. The scalar executor looks at it between members only; where a function runs as
    /// scalar code with any other executor, a member ends at its next call of a primitive.
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Called now and then while the batch runs, from the threads that run it. What it counts with it owns, or shares by an `Arc`.
    pub fn progress(mut self, on_progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(on_progress));
        self
    }

    /// Whether to count block executions for the [`crate::Report`]; default no, since it takes time.
    pub fn report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }

    /// Whether waiting members take the place of finished ones; default yes. Without, a tile is
    /// filled again only when all its members are done.
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
            .field("cancel", &self.cancel)
            .field("progress", &self.progress.is_some())
            .field("report", &self.report)
            .field("refill", &!self.no_refill)
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

/// The depth members may reach where nobody says otherwise.
pub(crate) const MAX_DEPTH: usize = 100_000_000;

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
    #[should_panic(expected = "at least one thread")]
    fn no_threads() {
        let _ = Options::default().threads(0);
    }
}
