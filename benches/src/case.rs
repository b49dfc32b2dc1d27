//! What a kernel is, and how any kernel is run and checked.

use std::hint::black_box;

use autobatch::{BatchError, Executor, Options, Outcome};
use rayon::prelude::*;

use crate::ispc::{self, Target};
use crate::value::{Agreement, Value};
use crate::variant::Variant;

/// A kernel with its input columns.
pub trait Kernel: Sync + Sized + 'static {
    /// A member's result.
    type Value: Value;
    /// Its name in tables and on the command line.
    const NAME: &'static str;
    /// The members of the full benchmark.
    const MEMBERS: usize;
    /// The members of a check that takes no time worth mentioning, even in a debug build.
    const FEW: usize = 37;
    /// How the batched results agree with the scalar function's.
    const BATCHED: Agreement = Agreement::Exact;
    /// How the ISPC counterpart's results agree with the scalar function's.
    const PEER: Agreement;

    /// The inputs of `members` members, the same in every process.
    fn new(members: usize) -> Self;
    /// The members of these inputs.
    fn members(&self) -> usize;
    /// The scalar function for one member.
    fn scalar(&self, member: usize) -> Self::Value;
    /// The batched function for all members.
    fn batched(&self, options: &Options) -> Result<Outcome<Self::Value>, BatchError>;
    /// The ISPC function for as many members from `first` on as there are places in `out`.
    fn ispc(&self, target: Target, first: usize, out: &mut [Self::Value]);
}

/// A [`Kernel`] of any type of result.
pub trait Case: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// The members of its inputs.
    fn members(&self) -> usize;
    /// Runs all members. Each way begins with the input columns and ends with a new `Vec` of results.
    /// Returns which executor a batched function has taken.
    fn run(&self, variant: &Variant<'_>) -> Option<Executor>;
    /// Whether it has a counterpart in ISPC.
    fn has_peer(&self) -> bool {
        true
    }
    /// Compares the results of a way to run it with the scalar function's.
    ///
    /// # Errors
    ///
    /// The disagreement in words.
    fn check(&self, variants: &[Variant<'_>]) -> Result<(), String>;
}

impl<K: Kernel> Case for K {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn members(&self) -> usize {
        Kernel::members(self)
    }

    fn run(&self, variant: &Variant<'_>) -> Option<Executor> {
        let results = results(black_box(self), variant);
        let (values, executor) = results.expect("the columns have one length and no member fails");
        black_box(values);
        executor
    }

    fn check(&self, variants: &[Variant<'_>]) -> Result<(), String> {
        let (expected, _) = results(self, &Variant::Scalar)?;
        for variant in variants {
            let agreement = match variant {
                Variant::Scalar | Variant::Rayon(_) => Agreement::Exact,
                Variant::Batched(_) => K::BATCHED,
                Variant::Ispc(..) => K::PEER,
            };
            let (found, _) = results(self, variant)?;
            agreement
                .check(&expected, &found)
                .map_err(|error| format!("{}, {variant:?}: {error}", K::NAME))?;
        }
        Ok(())
    }
}

/// All results, and which executor a batched function has taken.
type Results<V> = Result<(Vec<V>, Option<Executor>), String>;

fn results<K: Kernel>(kernel: &K, variant: &Variant<'_>) -> Results<K::Value> {
    let members = Kernel::members(kernel);
    let values = match variant {
        Variant::Scalar => scalar(kernel),
        Variant::Rayon(pool) => {
            pool.install(|| (0..members).into_par_iter().map(|member| kernel.scalar(member)).collect())
        }
        Variant::Batched(options) => {
            let outcome = kernel.batched(options).map_err(|error| error.to_string())?;
            let executor = outcome.report().executor;
            return Ok((outcome.into_values().map_err(|faults| faults.to_string())?, Some(executor)));
        }
        Variant::Ispc(target, pool) => {
            ispc::results(members, *pool, |first, out| kernel.ispc(*target, first, out))
        }
    };
    Ok((values, None))
}

/// The scalar loop, in a function of its own as a user's would be.
#[inline(never)]
fn scalar<K: Kernel>(kernel: &K) -> Vec<K::Value> {
    (0..Kernel::members(kernel)).map(|member| kernel.scalar(member)).collect()
}
