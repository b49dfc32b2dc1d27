//! Wavefront execution: how programs that only compute run under the program-counter executor. For generated code only.
//!
//! In: the members of a tile, and the generated code of each program point. Out: their results. A member has one *record*
//! at a time: the values that are live where it is, and its *key*. At each program point records wait in a [`ContinuationQueue`], side by side,
//! whatever their depth and call site: a strip of them is as full as there are records. A step takes the strips of one queue (a
//! [`Wave`]), runs what stands there, and has the records enter the queues where they go, compressed. A call saves what is live behind
//! it on the member's stack ([`SavedFrame`]), a return fetches that. So a call moves memory only, and no lane ever waits for the path of
//! another.
//!
//! A record's key is a number: the call site it has come from, its depth, and its lane (a member's number in the
//! [`Wavefront`]), side by side in bits. Depth and lane are the index of a frame on the [`FrameStack`](frame_stack::FrameStack), which has one for each lane
//! at every depth, as far as members have come.
//!
//! As for vector frames a panic drops everything that is under way: members without a result run again as scalar
//! code, which finds out who fails and why. So do those that go too deep.
//!
//! **Invariant:** a record enters a queue with all its columns, and what a call saves its return fetches, once. The compiler upholds it; generated
//! code contains no `unsafe`, so these functions are safe to call.
//!
//! **Invariant:** the index in a key is within the frame stack: the stack grows before a record is too deep ([`Wavefront::check`]).

mod frame_stack;
mod key;
mod queue;
mod record;
mod scheduler;
#[cfg(test)]
mod tests;

pub use frame_stack::{SavedFrame, largest};
pub use key::{Keys, Sites};
pub use queue::{ContinuationQueue, Wave};
pub use record::{put, put_one};
pub(crate) use scheduler::LANES;
pub use scheduler::{Begin, Load, Wavefront};
