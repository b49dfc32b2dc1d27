//! Code for vector calls: pure programs as native functions over columns of lanes.

pub mod entry_call;
pub mod frames;
pub mod gang;
pub mod region_runs;
pub mod task_blocks;
