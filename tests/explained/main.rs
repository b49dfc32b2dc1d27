//! Users see what becomes of a function and what a run did, and pages link to what is there.

mod links;
mod programs;
mod traces;
