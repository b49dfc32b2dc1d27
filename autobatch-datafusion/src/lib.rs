#![doc = include_str!("../README.md")]

mod coercion;
mod family;
mod macros;
mod udf;

pub use autobatch_arrow::Argument;
pub use datafusion_expr::{ScalarUDF, Volatility};
pub use udf::Udf;

/// What the expansion of [`udf!`] calls.
#[doc(hidden)]
pub mod __rt {
    pub use crate::family::{Batched, Typed, call, columns};
    pub use autobatch::{Options, Outcome};
    pub use pastey::paste;
}
