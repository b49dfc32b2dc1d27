//! What users are told when an item can't be batched.
//!
//! In: a place in the user's code, and a message; `strict` makes one of a reason for scalar code. Out: one `compile_error!` for each,
//! all of them at once.
//!
//! **Invariant:** every message says why and what to write instead.

pub mod messages;
pub mod reasons;
pub mod sink;
