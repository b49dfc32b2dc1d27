//! Loops, branches, calls in any position, closures and macros compute what the scalar code computes, bit for bit, and inactive
//! members execute nothing.

#[path = "../common/mod.rs"]
mod common;

mod calls_in_adaptors;
mod calls_in_every_position;
mod conditional_compilation;
mod format_strings;
mod iterators;
mod local_closures;
mod loops_and_branches;
mod macro_arguments;
mod match_guards;
mod ranges;
mod recursion;
mod sums_and_products;
mod uniform_loops;
