//! The model of the annotated item: its functions, their parameters, and how each is passed.
//!
//! In: the item's tokens. Out: a [`model::Item`]: functions, those that are excluded, with the reason, and what its file declares.
//!
//! **Invariant:** a function that has no batched form is refused here, at its signature; what a stage finds out about a function is not put into it.

pub(crate) mod array_shapes;
pub mod checks;
pub(crate) mod closure_params;
pub mod excluded;
pub mod functions;
pub mod helpers;
pub mod implicit_entries;
pub(crate) mod inner_functions;
pub(crate) mod known_lists;
pub mod methods;
pub mod model;
pub mod parse;
pub mod selection;
pub(crate) mod trip_counts;
