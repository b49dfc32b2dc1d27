//! The compiler behind `#[autobatch]`, as a plain library: see `ARCHITECTURE.md` in the repository.
//!
//! [`autobatch`] is the whole of it, from the attribute's tokens to generated code; the modules are its
//! stages, public so that tools and tests can look at them.

mod admission;
mod anonymous;
pub mod aside;
pub mod attrs;
mod checks;
mod conditions;
mod declared;
mod desugar;
pub mod diag;
pub mod display;
pub mod driver;
pub mod effects;
mod elision;
pub mod emit;
mod formats;
mod hidden;
pub mod input;
pub mod ir;
pub mod lockstep;
pub mod lower;
mod mentions;
pub mod methods;
pub mod nearby;
pub mod passes;
pub mod plain;
pub mod primitive;
mod receivers;
pub mod resolve;
mod std_model;
mod strict;
mod tails;
mod turbofish;
mod unasked;
pub mod vector_math;
pub mod verify;
mod walk;

#[cfg(test)]
mod interp;
#[cfg(test)]
mod testing;

pub use driver::{autobatch, autobatch_in};
pub use nearby::{Source, source_around};
pub use primitive::primitive;
