//! Questions to Rust code that need nothing but the code.
//!
//! In: syn's trees and tokens, as the user wrote them. Out: answers, and trees that mean the same.
//!
//! **Invariant:** nothing here knows the item model or types; after [`bindings`] an identifier names at most one variable of its function.

pub mod annotated;
pub mod arguments;
pub mod attributes;
pub mod bindings;
pub mod call_sites;
pub mod cfg_split;
pub mod destructuring_assignments;
pub mod elision;
pub mod format_strings;
pub mod impl_trait;
pub(crate) mod item_names;
pub mod macro_tokens;
pub mod macro_variables;
pub mod mentions;
pub mod primitive_names;
pub mod reachability;
pub mod standard_macros;
pub mod tail_positions;
pub mod turbofish;
pub mod visit;
pub mod visit_mut;
pub mod walk;
