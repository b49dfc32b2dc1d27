//! Users see what becomes of a function and what a run did, and pages link to what is there.

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod links;
mod programs;
mod reports;
mod traces;
