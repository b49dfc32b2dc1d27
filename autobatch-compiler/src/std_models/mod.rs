//! The one model of the standard library.
//!
//! In: names of types, traits, methods and macros. Out: what std's of that name does.
//!
//! **Invariant:** a name is no proof. Whoever decides by a name asks rustc too, or only loses speed by an error.

pub mod elementary;
pub mod facts;
pub mod number_methods;
pub(crate) mod operators;
pub mod pure;
pub(crate) mod trip_count;
