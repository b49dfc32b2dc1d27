//! What compiles as a scalar function compiles under the attribute, and means the same. A function that has no blocks runs its
//! scalar code for each member, and says why.

#[path = "../common/mod.rs"]
mod common;

mod accepted_forms;
mod definitions_in_other_files;
mod elided_lifetimes;
mod methods_with_effects;
mod names_are_not_believed;
mod scalar_fallback;
mod signatures_imply_bounds;
mod types_are_inferred;
mod types_come_from_uses;
mod types_moved_whole;
mod users_methods_stay_out;
