//! Arguments and temporaries live as long as in the scalar code: a call may be given a borrow of anything.

#[path = "../common/mod.rs"]
mod common;

mod array_views;
mod borrowed_locals;
mod borrowed_temporaries;
mod match_scrutinees;
mod operands_before_a_call;
mod swapped_references;
mod unknown_signatures;
