//! The runtime of [`autobatch`](https://docs.rs/autobatch): columns, options, faults, reports, and the
//! machine that runs a batch. Use it through that crate.
//!
//! The public part is what users see in signatures: [`Column`], [`Output`], [`Options`], [`Outcome`],
//! [`Report`], [`Program`]. The rest, all hidden, is called by generated code under the protocol that
//! [`machine`] describes.

#[doc(hidden)]
pub mod admission;
mod checked;
mod column;
mod counter;
mod crossing;
mod depth;
mod fault;
mod fiber;
mod isa;
mod launch;
#[doc(hidden)]
pub mod lockstep;
#[doc(hidden)]
pub mod machine;
pub mod math;
#[doc(hidden)]
pub mod nest;
mod options;
mod out;
mod outcome;
#[doc(hidden)]
pub mod primitive;
pub mod program;
mod question;
mod report;
#[doc(hidden)]
pub mod rooms;
mod source;
mod stack;
mod store;
mod strip;
#[doc(hidden)]
pub mod threads;
mod totals;
mod typed;

pub use admission::IsWhole;
pub use fault::{BadOffsets, BatchError, Fault, FaultKind, Faults};
pub use fiber::join;
pub use options::{CancelToken, Executor, Isa, Options, Progress, Schedule};
pub use out::Output;
pub use outcome::Outcome;
pub use program::Program;
pub use report::{BlockReport, Report};
pub use source::{Column, Each, EachMut, Ragged, RaggedMut, Same, same};

/// What generated code calls. Not part of the public API: it may change in any release, and calling it
/// by hand is not sound.
#[doc(hidden)]
pub mod __rt {
    pub use crate::admission;
    pub use crate::checked::{Checked, Same};
    pub use crate::column::{Column as LaneColumn, simple};
    pub use crate::counter::{
        count_any, count_down, count_down_to, count_is, count_more, count_up, count_up_to,
    };
    pub use crate::crossing::Crossing;
    pub use crate::depth::{Depth, Published};
    pub use crate::launch::{Ways, run, run_into, unwrap_unit};
    pub use crate::lockstep;
    pub use crate::machine::{Core, Gone, LaneWords, Place, Route, Step, next};
    pub use crate::math;
    pub use crate::nest;
    pub use crate::options::Defaults;
    pub use crate::out::Out;
    pub use crate::outcome::unwrap;
    pub use crate::primitive;
    pub use crate::question::{Asked, FromOutput, FromResidual, Question, leaving, parted, try_step};
    pub use crate::rooms;
    pub use crate::source::{Column, Each, EachMut, Source, States};
    pub use crate::store::Store;
    pub use crate::strip::{Slots, bits, dead, keep, leave, same_for_all, same_slice_for_all, settle, take};
    pub use crate::threads;
    pub use crate::totals::{
        Adding, ByStep, Products, Sums, ToFirstNone, ToTheEnd, adds_all, holds, holds_keyed, left_to_number,
        left_to_type, must_add_all, total_of_all, total_of_none,
    };
    pub use crate::typed::{Alike, OtherType, Typed};
}
