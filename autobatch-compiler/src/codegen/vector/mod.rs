//! Code for vector calls: pure programs as native functions over columns of lanes.
//!
//! In: a pure program, split for it. Out: a function per instruction set for each of the program's, as frames, task blocks or gangs.
//!
//! **Invariant:** running a piece twice, or for a copy of a member, shows nowhere; so lanes without a member compute on copies.

pub mod closing_gaps;
pub mod columns;
pub mod entry_call;
pub mod frames;
pub mod gang;
pub mod region_runs;
pub mod self_calls;
pub mod task_blocks;
