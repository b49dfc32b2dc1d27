//! Code for vector calls: pure programs as native functions over columns of lanes.

pub mod columns;
pub mod entry_call;
pub mod frames;
pub mod gang;
pub mod region_runs;
pub mod self_calls;
pub mod task_blocks;
