//! The compiler behind `#[autobatch]`, as a plain library: see `ARCHITECTURE.md` in the repository.
//!
//! [`autobatch`] is the whole of it, from the attribute's tokens to generated code; the modules are its
//! stages, public so that tools and tests can look at them.

pub mod admission;
pub mod analysis;
pub mod codegen;
pub mod desugar;
pub mod diagnostics;
pub mod driver;
mod dump;
pub mod index;
pub mod ir;
pub mod item;
pub mod lower;
pub mod passes;
pub mod resolve;
mod stages;
pub mod std_models;
pub mod syntax;

pub use codegen::batched_primitive::primitive;
pub use driver::{autobatch, autobatch_in};
pub use index::source::{Source, source_around};
