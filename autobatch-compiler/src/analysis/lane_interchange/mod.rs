//! Lane interchange: which loops run once for a strip, with the lanes innermost.
//!
//! A loop with the same trip count in every lane is better run once for the strip, with a loop over the
//! lanes around each straight piece of its body, than once per lane: the inner loops vectorise across
//! lanes. [`Plan::of`] turns statements into that shape, or says that they can't have it.
//!
//! A loop over an array whose number of rounds differs between lanes runs as often as the lane with the most ([`steps`]).
//!
//! A lane that returns from the function computes on, for nobody: its result stays as it was then. A lane that leaves a loop by `break`
//! changes nothing until the others have left too.
//!
//! Admitted is code that only computes: arithmetic, comparisons, `if`, assignments to locals, indexing,
//! and methods known to be pure (`pure`). The macro knows no types, so what it computes with is listed
//! ([`Plan::leaves`], and each variable with a strip), and generated code asks the runtime whether all of
//! it is primitive; if not, the ordinary lane code runs. Panics need no care here: see the runtime's
//! `lane_interchange`.

mod admit;
mod arrays;
mod coalesce;
mod forms;
mod heavy_branches;
mod lane_code;
mod overwritten;
mod plan;
mod rounds;
#[cfg(test)]
mod tests;
mod transposed;
mod uniform;

pub use admit::Refusal;
pub(crate) use forms::{breaks, swapped};
pub use forms::{indexed, returned};
pub(crate) use heavy_branches::of_nodes as heavy_branches_apart;
pub use overwritten::overwritten;
pub(crate) use plan::unrolls;
pub use plan::{Array, Branch, Leaf, Node, Plan, Scope, assigned, declared, gain, is_members_list, mentions};
pub use rounds::{Steps, counted, endless, steps};
pub use transposed::transposed;
