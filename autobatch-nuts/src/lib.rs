//! The No-U-Turn Sampler for many chains in one batch.
//!
//! [`nuts`] is the sampler as one writes it down for one chain: ordinary recursive Rust. `#[autobatch]` makes of
//! it a program that runs hundreds of chains, in which each gradient is one call of the model's batched
//! kernel, a product of matrices where the model has one. What a chain draws does not depend on how the batch is run.
//!
//! ```
//! use autobatch::Options;
//! use autobatch_nuts::{Chains, models::EightSchools};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = EightSchools::<f64>::new();
//! let mut chains = Chains::new(&model, 32, 1, 0.9); // 32 chains, seed 1, acceptance 0.9
//! let options = Options::default();
//! chains.warm_up(60, &options, |_| ())?;
//! let draws = chains.draw(50, &options, |_| ())?;
//! println!("{}", chains.quantities(&draws).table());
//! # Ok(())
//! # }
//! ```
//!
//! A model is a [`Model`]: a density with its gradient for one chain and, if it can do better than row by row, for many. The
//! crate has the [`models`] of the experiments; results are [summarised](Summary), written as CSV, and drawn.

#![forbid(unsafe_code)]

pub mod chains;
pub mod density;
pub mod models;
pub mod nuts;
mod output;
#[cfg(feature = "plots")]
mod plots;
mod real;
pub mod summary;
pub mod warmup;

pub use chains::{Chains, Posterior, SampleError};
pub use density::{Density, Model};
pub use nuts::{Draw, Nuts, Point};
pub use real::Real;
pub use summary::Summary;
pub use warmup::StepSize;

/// The random numbers of one chain.
pub type Generator = rand_xoshiro::Xoshiro256PlusPlus;

#[cfg(doctest)]
#[doc = include_str!("../../book/src/sampler.md")]
struct Guide;
