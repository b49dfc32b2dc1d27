//! Batched functions as functions of [Daft](https://www.daft.ai): a shared library that Daft loads into each of its processes.
//!
//! [`functions`] are the functions. [`scalar_function`] is a batched function as an engine calls it: types, literals, faults. [`c_data`] takes
//! arrays from Daft and hands results back, and has all the unsafe code.

use std::sync::Arc;

use daft_ext::prelude::{DaftExtension, DaftSession};

mod c_data;
mod functions;
mod scalar_function;

/// What Daft finds in the library.
#[daft_ext::daft_extension]
struct Batched;

impl DaftExtension for Batched {
    fn install(session: &mut dyn DaftSession) {
        for function in functions::all() {
            session.define_function(Arc::new(c_data::Exported(function)));
        }
    }
}
