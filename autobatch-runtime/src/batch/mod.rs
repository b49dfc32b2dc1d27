//! The members of a batch on their way to the workers.
//!
//! In: ranges of members. Out: to each worker neighbours that nobody else has ([`Queue`]); from the workers how many are done
//! ([`Watch`]).
//!
//! **Invariant:** a queue hands out each member once.

mod queue;
mod watch;

pub(crate) use queue::Queue;
pub(crate) use watch::Watch;
