#![doc = include_str!("../README.md")]

mod argument;
mod batch;
mod error;
mod nulls;
mod value;

pub use argument::Argument;
pub use batch::{Batch, Signature, signature};
pub use error::Error;
pub use value::{Number, Results, Value};

#[cfg(doctest)]
#[doc = include_str!("../../book/src/arrow.md")]
struct GuideArrow;
