//! From a batched call to workers and back: lengths, executor, threads, faults, report.
//!
//! In: the columns' lengths, options, and the program's code in each form that it has ([`Ways`]). Out: an outcome, or the results in the caller's
//! memory. `launcher.rs` resolves options and splits the batch over threads; a file each runs members as scalar code, on fibers, by the
//! machine, on vectors; the autotuner picks one for [`Executor::Auto`](crate::api::options::Executor::Auto).
//!
//! The program's code and its results stand behind one `dyn` (`ways.rs`): what launches them is compiled once, here, and not with every program of
//! a user.
//!
//! **Invariant:** every member is run by one worker, once, or again as scalar code if it has no result; results don't depend on who runs it.

mod autotuner;
mod block_counts;
mod counted;
mod crowd;
mod fibers;
mod launcher;
mod machine;
#[cfg(test)]
mod machine_tests;
mod phase;
mod recorded;
mod report;
mod run;
mod scalar;
mod sendable;
mod spans;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
mod vector;
mod ways;

#[cfg(test)]
pub(crate) use run::run;
pub use run::unwrap_unit;
pub use sendable::Crossing;
pub use ways::{Vectors, Ways};
