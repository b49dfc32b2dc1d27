//! Ownership in the scalar function is ownership in the batched one: what is written through a shared borrow is kept, and what is
//! borrowed lives as long as its borrows.
//!
//! rustc has checked each of these functions. None of them is `strict`: a function whose locals may borrow from one another runs its
//! scalar code for each member.

#![forbid(unsafe_code)]
// The code here is as users write it, not as one should: each odd form is a way that a reference can take.
#![allow(clippy::all)]

#[path = "../common/mod.rs"]
mod common;

mod aliases_write_through;
mod borrows_are_hidden;
mod borrows_stay_in_place;
mod borrows_stay_valid;
mod casts_and_methods_borrow;
mod methods_and_operators_write;
mod operators_borrow;
mod parameters_are_borrowed;
mod writes_are_kept;
