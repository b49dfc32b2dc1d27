//! The model of the annotated item: its functions, their parameters, and how each is passed.
//!
//! In: the item's tokens. Out: [`model::Function`]s, and the functions that are left out, with the reason.
//!
//! **Invariant:** a function that has no batched form is refused here, at its signature.

pub mod checks;
pub mod excluded;
pub mod functions;
pub mod implicit_entries;
pub mod methods;
pub mod model;
pub mod parse;
pub mod worth;
