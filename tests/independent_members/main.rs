//! Members are independent: one that panics, is too deep, or runs too long ends alone, with a fault that names it. Depth is data.

#[path = "../common/mod.rs"]
mod common;

mod absent_members;
mod calls_out_of_sight;
mod depth_of_scalar_code;
mod endless_members;
mod faults;
mod limits;
mod quiet_faults;
mod recursion_depth;
mod refused_memory;
mod reports;
mod step_limits;
