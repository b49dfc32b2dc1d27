//! A batched primitive is called once for all members that are there, from blocks and from fibers.

#[path = "../common/mod.rs"]
mod common;

mod fibers;
mod kernels_in_blocks;
mod primitives_in_other_files;
