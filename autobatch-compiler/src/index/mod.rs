//! What the item's file declares: types with their fields, signatures, macros, lifetimes.
//!
//! In: the file around the item, and the item. Out: [`declarations::Declared`], tables by name.
//!
//! **Invariant:** no other file is read, so the answer depends on nothing that the build system does not know of.

pub mod declarations;
mod default_methods;
pub mod definitions;
pub mod elided_lifetimes;
pub mod family_mentions;
pub mod source;
mod taken_names;
