//! The runtime of [`autobatch`](https://docs.rs/autobatch): columns, options, faults, reports, and the
//! machine that runs a batch. Use it through that crate.
//!
//! The public part is what users see in signatures: [`Column`], [`Output`], [`Options`], [`Outcome`],
//! [`Report`], [`Program`]. The rest, all hidden, is called by generated code through one door, [`__rt`], under the protocol that is
//! stated there.
//!
//! # Layers
//!
//! Each module uses those above it in this list only, and no file uses itself by way of others:
//! `math`, `probes`, `desugar`, `simd`, `native_stack`, `api`, `batch`, `storage`, `lane_interchange`, `machine`, `vector`, `wavefront`,
//! `fiber`, `primitive`, `launch`, `rt` (which is [`__rt`]).

mod api;
mod batch;
mod desugar;
mod fiber;
mod lane_interchange;
mod launch;
mod machine;
pub mod math;
mod native_stack;
mod primitive;
mod probes;
#[doc(hidden)]
pub mod rt;
mod simd;
mod storage;
mod vector;
mod wavefront;

pub use api::column::{Column, Each, EachMut, Offsets, OneOrMany, Ragged, RaggedMut, Same, same};
pub use api::engine::Engine;
pub use api::fault::{BadOffsets, BatchError, Fault, FaultKind, Faults};
pub use api::options::{CancelToken, Executor, Options, Progress, Schedule};
pub use api::outcome::{Outcome, Results};
pub use api::output::{Output, WithOptions, with_options};
pub use api::program::{self, Program};
pub use api::report::{BlockReport, Measured, PhaseReport, Purpose, Report};
pub use api::trace::{Trace, TraceStep, Visit};
pub use fiber::join;
pub use probes::admission::IsWhole;
#[doc(hidden)]
pub use rt as __rt;
pub use simd::Isa;
