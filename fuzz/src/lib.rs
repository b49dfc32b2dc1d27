//! Random programs for autobatch.
//!
//! [`generate`] makes well-typed functions from a seed, [`crate_text`] what a test crate of them holds,
//! [`workbench`] compiles many at once and runs them, [`shrink`] makes one that fails small, and [`harness`] is
//! what test crates link: it compares the scalar function with its batched forms. [`annotate`] puts the attribute on the
//! functions of any source tree, and says which compile.

#[cfg(feature = "annotate")]
pub mod annotate;
pub mod crate_text;
pub mod generate;
#[cfg(feature = "harness")]
pub mod harness;
pub mod shrink;
#[cfg(feature = "harness")]
mod token;
pub mod tree;
pub mod types;
pub mod workbench;
