//! Every accepted form, in a crate that denies what can be denied and shadows what can be shadowed.
//!
//! Compiled by `tests/diagnostics/warning_free.rs`, in several editions, by rustc and by clippy.

#![deny(warnings, clippy::pedantic)]
#![deny(missing_docs, unreachable_pub, unused_qualifications, elided_lifetimes_in_paths, missing_debug_implementations)]
#![deny(unused_results, trivial_casts, trivial_numeric_casts, unused_lifetimes, single_use_lifetimes, let_underscore_drop)]
// By name: what is denied so is not allowed by `allow(warnings)`.
#![deny(unused, nonstandard_style, future_incompatible, let_underscore, deprecated)]
#![forbid(unsafe_code)]

pub mod attributes;
pub mod borrows;
pub mod calls;
pub mod control;
pub mod generics;
pub mod methods;
pub mod modules;
pub mod parameters;
pub mod private_methods;
pub mod results;
pub mod shadowed;
pub mod values;

/// Not the crate of that name.
pub mod std {}
/// Not the crate of that name.
pub mod core {}
/// Not the crate of that name.
pub mod alloc {}
