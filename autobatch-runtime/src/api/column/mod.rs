//! Where members' values come from: columns of every kind.
//!
//! In: the user's slices, vectors, arrays. Out: a [`Source`] that hands out one value, or one borrow, per member.
//!
//! A new kind of column implements [`Column`] (or [`Each`], [`EachMut`]) and [`Source`].
//!
//! **Invariant:** [`Source::fill`] writes every slot that it is given; a value that is moved and a `&mut` are handed out once.

#[cfg(feature = "ndarray")]
mod arrays;
mod by_reference;
mod by_value;
mod copies;
mod offsets;
mod one_or_many;
mod ragged;
mod source;
#[cfg(test)]
mod tests;

pub use by_reference::{Each, EachMut};
pub use by_value::{Column, Same, same};
pub use copies::{MovedValues, Values};
pub use offsets::Offsets;
pub use one_or_many::OneOrMany;
pub use ragged::{Ragged, RaggedMut};
pub(crate) use source::States;
pub use source::{Source, StateSource, StateValues};
