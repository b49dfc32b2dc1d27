//! The ways to run a kernel that are compared.

use std::fmt;
use std::sync::Arc;

use autobatch::{Executor, Isa, Options};
use rayon::ThreadPool;

use crate::Variant;
use crate::ispc::Target;
use crate::variant::isa_name;

/// A family of ways to run a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// The scalar function in a loop.
    Scalar,
    /// The scalar function in rayon's parallel iterator.
    Rayon,
    /// [`Executor::Masked`].
    Masked,
    /// [`Executor::ProgramCounter`].
    ProgramCounter,
    /// [`Executor::Auto`].
    Auto,
    /// The ISPC counterpart.
    Ispc,
}

impl Family {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Family::Scalar => "scalar",
            Family::Rayon => "rayon",
            Family::Masked => "masked",
            Family::ProgramCounter => "program counter",
            Family::Auto => "auto",
            Family::Ispc => "ispc",
        }
    }
}

/// One way to run a kernel. `Display` gives its name.
#[derive(Clone, Debug)]
pub struct Way<'p> {
    /// What it belongs to.
    pub family: Family,
    /// The instruction set; `None` for scalar code.
    pub isa: Option<Isa>,
    /// The number of threads.
    pub threads: usize,
    /// How a [`crate::Case`] runs it.
    pub variant: Variant<'p>,
}

impl fmt::Display for Way<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family.name())?;
        if let Some(isa) = self.isa {
            write!(f, " {}", isa_name(isa))?;
        }
        if self.threads > 1 {
            write!(f, " {} threads", self.threads)?;
        }
        Ok(())
    }
}

/// A pool for each number of threads above one.
#[derive(Debug)]
pub struct Pools(Vec<Arc<ThreadPool>>);

impl Pools {
    /// Starts the threads.
    ///
    /// # Panics
    ///
    /// If the system refuses them.
    pub fn new(threads: &[usize]) -> Pools {
        let pool = |threads: &usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build();
            Arc::new(pool.expect("the system starts threads"))
        };
        Pools(threads.iter().filter(|threads| **threads > 1).map(pool).collect())
    }

    fn get(&self, threads: usize) -> Option<&ThreadPool> {
        self.shared(threads).map(|pool| &**pool)
    }

    fn shared(&self, threads: usize) -> Option<&Arc<ThreadPool>> {
        self.0.iter().find(|pool| pool.current_num_threads() == threads)
    }

    fn options(&self, threads: usize) -> Options {
        match self.shared(threads) {
            Some(pool) => Options::default().pool(Arc::clone(pool)),
            None => Options::default().threads(threads),
        }
    }
}

/// The ways to compare: every family on every number of threads at the first instruction set; on one
/// thread the masked executor and ISPC at the others too.
pub fn ways<'p>(isas: &[Isa], threads: &[usize], pools: &'p Pools) -> Vec<Way<'p>> {
    let mut ways = Vec::new();
    let mut add = |family, isa, threads, variant| ways.push(Way { family, isa, threads, variant });
    add(Family::Scalar, None, 1, Variant::Scalar);
    for &n in threads {
        if let Some(pool) = pools.get(n) {
            add(Family::Rayon, None, n, Variant::Rayon(pool));
        }
    }
    let executors = [
        (Family::Masked, Executor::Masked),
        (Family::ProgramCounter, Executor::ProgramCounter),
        (Family::Auto, Executor::Auto),
    ];
    for (family, executor) in executors {
        for (i, &isa) in isas.iter().enumerate() {
            for &n in threads {
                if i == 0 || (family == Family::Masked && n == 1) {
                    let options = pools.options(n).executor(executor).isa(isa);
                    add(family, Some(isa), n, Variant::Batched(options));
                }
            }
        }
    }
    let targets = Target::available().into_iter().filter(|target| isas.contains(&target.isa()));
    for (i, target) in targets.enumerate() {
        for &n in threads {
            if i == 0 || n == 1 {
                add(Family::Ispc, Some(target.isa()), n, Variant::Ispc(target, pools.get(n)));
            }
        }
    }
    ways
}

/// The ways to compare on small batches: scalar, and rayon and [`Executor::Auto`] on `threads`.
pub fn small_ways<'p>(isa: Isa, threads: usize, pools: &'p Pools) -> Vec<Way<'p>> {
    let mut ways = vec![Way { family: Family::Scalar, isa: None, threads: 1, variant: Variant::Scalar }];
    if let Some(pool) = pools.get(threads) {
        ways.push(Way { family: Family::Rayon, isa: None, threads, variant: Variant::Rayon(pool) });
    }
    let options = pools.options(threads).executor(Executor::Auto).isa(isa);
    ways.push(Way { family: Family::Auto, isa: Some(isa), threads, variant: Variant::Batched(options) });
    ways
}
