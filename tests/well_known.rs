//! Functions taken as they are from well-known sources, typed anew from the algorithm: none is changed for the sake of
//! batching, all of them batch under `strict`, and every executor computes what the scalar function does, bit for bit.

#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop, clippy::too_many_arguments, clippy::many_single_char_names)] // as in the books

mod common;
#[path = "well_known/numerical.rs"]
mod numerical;
#[path = "well_known/recursion.rs"]
mod recursion;

use common::{agree_at, column};
