//! Calls of batched kernels: gathering arguments into columns, passing them in the form that the kernel
//! takes, taking its result apart. For generated code only.
//!
//! In: the arguments of all members that wait at a primitive. Out: for each of them a result, or the message of the kernel's failure.
//!
//! The macro knows no types. What a parameter is gathered into follows from the function's parameter
//! ([`Kind`]), the form in which it is passed from the kernel's ([`Pass`]), and how results are taken apart
//! from both results (`Rows`).
//!
//! **Invariant:** a kernel that panics, or returns results for another number of members, ends the members of its call and no others.

mod changed;
mod columns;
mod kernel;
mod pass;
mod results;
#[cfg(test)]
mod tests;

pub use changed::{Changed, Part};
pub use columns::{Kind, OfValues, OfVectors, Shared, SharedValue, taken};
pub use kernel::{Results, run, sets};
pub use pass::{Pass, PassMut};
