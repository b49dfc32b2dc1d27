//! The benchmark suite of autobatch: kernels as scalar Rust functions, and ways to run them.
//!
//! `cargo bench` measures each with criterion; `cargo run --release -p autobatch-bench --bin ratios`
//! compares the ways to run a kernel in one process, and writes a table and a chart; `--bin styles` compares
//! the ways to write an algorithm.

// No test of its own beside the library: `cargo test` would build the programs for it.
#[cfg(test)]
mod agreement;
mod case;
pub mod inputs;
pub mod ispc;
pub mod kernels;
pub mod measure;
pub mod table;
mod value;
pub mod variant;
pub mod ways;

pub use case::{Case, Kernel};
pub use value::{Agreement, Value};
pub use variant::Variant;
