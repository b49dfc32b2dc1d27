//! Facts about code and programs, computed from them and never changed.
//!
//! In: the functions' code, or the control-flow graph. Out: tables keyed by block, variable or function.
//!
//! **Invariant:** an analysis changes nothing.

pub mod call_graph;
pub mod definedness;
pub mod lane_interchange;
pub mod liveness;
pub mod reference_flow;
pub mod shared_values;
pub(crate) mod short_loops;
pub(crate) mod steps;
pub mod typed_places;
pub mod uniform_values;
