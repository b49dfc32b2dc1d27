//! Fibers: members whose scalar code waits for the others at batched primitives, wherever it calls them.
//!
//! In: a function for one member, and members. Out: their results, by one call of a kernel for all members that wait at the same
//! primitive. A member runs on a stack of its own ([`coroutine`](crate::native_stack::coroutine)). A primitive suspends it, with its arguments on that stack. Once all
//! members of the worker are suspended or done, the worker ([`worker`]) calls the kernel for those at one primitive, and goes on
//! with each of them. Members that are done make room for others.
//!
//! ```text
//! fn density(model: &Model, x: f64) -> f64 {          // #[primitive(batched = densities)]
//!     if primitive::gathers() {                       // a worker runs members on this thread
//!         return primitive::wait(
//!             (model, x),                             // on the fiber's stack while it is suspended
//!             |calls| …                               // one call of the kernel, for the arguments of many fibers
//!         );
//!     }
//!     …                                               // the body, as it was written
//! }
//! ```
//!
//! Before it is known that a program reaches a primitive, its members run without fibers, where a primitive calls its kernel for one
//! row: results are the kernel's, whoever finds out. So it is where a fiber must not be suspended, because its thread is panicking.
//! While a kernel runs, and in the scalar executor, a primitive is its own body.
//!
//! **Invariant:** a fiber stays on its thread, and ends before the code that has started it does: the worker's run for members, the
//! call of [`join()`] for its second part.
//!
//! **Invariant:** what a suspended fiber waits for (a `Request`) is on its stack, and is looked at by the worker only while the fiber is suspended.
//!
//! **Invariant:** a fiber that is to end is never suspended again: where it would be, it unwinds.

mod join;
mod reach;
mod request;
#[cfg(test)]
mod tests;
mod wait;
mod worker;

pub use join::join;
pub(crate) use reach::Reach;
pub use wait::{gathers, wait};
pub(crate) use worker::{CurrentWorker, Worker, WorkerRules};
