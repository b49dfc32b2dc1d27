//! The members of a batch on their way to the workers.
//!
//! In: ranges of members. Out: to each worker neighbours that nobody else has ([`Queue`]); from the workers how many are done
//! ([`Watch`]), and to each member the reason to end early ([`Limits`], [`Pulse`]).
//!
//! Workers count the members that run. Where each stands in the columns, the [`Numbering`] says, at the door to generated code.
//!
//! **Invariant:** a queue hands out each member once.

mod ending;
mod limits;
mod numbering;
mod pulse;
mod queue;
mod running;
pub(crate) mod voice;
mod watch;

pub(crate) use ending::{Payload, reason};
pub(crate) use limits::{Limited, Limits, Stopped, Tired, begin_slices, begin_ticks, slice_used, ticks};
pub use limits::{
    is_long, is_long_inside, next_turn, tick, tick_inlined, tick_turn, turn, turns_left, turns_left_inside,
};
pub(crate) use numbering::Numbering;
pub(crate) use pulse::Pulse;
pub(crate) use queue::Queue;
pub(crate) use running::{Running, Taken};
pub(crate) use watch::Watch;
