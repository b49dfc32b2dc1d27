//! Where the values of lanes live, and where each lane waits: a column for each variable, a stack for each saved one, a word for each lane.
//!
//! In: members' values. Out: strips of `W` neighbouring lanes, for lane code to take from and leave in.
//!
//! **Invariant:** storage does not know which slots hold a value, and drops none. A slot is read as a value only where its variable is
//! live: the compiler upholds it, by the protocol of [`crate::machine`].
//!
//! **Invariant:** nothing unwinds between the copying of a strip and its lane code.

mod choices;
mod lane_column;
mod lane_stack;
pub(crate) mod pc_word;
mod plain_stores;
mod slots;
mod state_strip;
mod store;
mod strip;

pub use choices::{UnknownZero, copied};
pub use lane_column::{LaneColumn, simple};
pub(crate) use lane_stack::LaneStack;
pub use pc_word::next;
pub(crate) use pc_word::{Next, PcWord};
pub use plain_stores::PlainStores;
pub use slots::{Slots, absent, cleared, dead};
pub use state_strip::{Lent, StateLanes, StateStrip};
pub use store::Store;
pub(crate) use strip::{Aligned, Home, LaneMask};
pub use strip::{Local, Partial, Strip};
