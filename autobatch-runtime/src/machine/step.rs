//! Steps: what the machine tells the body to do next, and what that works on.

use super::unwinding::Gone;

/// What the body has to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Run the block with this point on `Core::strips`.
    Block(u32),
    /// Move arguments for this call site.
    Call(u32),
    /// Move results for this call site.
    Return(u32),
    /// Fetch members.
    Load,
    /// Deliver results.
    Store,
    /// Close the gaps that finished members have left.
    Compact,
    /// Drop what dead members owned.
    Abandon,
    /// Nothing is left.
    Done,
}

/// What the current step works on.
#[derive(Default)]
pub(super) struct Stage {
    /// The first lane of each strip.
    pub(super) strips: Vec<u32>,
    /// The lowest point in each strip after it has run, [`STALE`] until then.
    pub(super) lowest: Vec<u32>,
    /// The first slot and the first word of the lanes that the strips belong to.
    pub(super) slots: usize,
    pub(super) words: usize,
    pub(super) rounds: u32,
    pub(super) gone: Vec<Gone>,
    /// How much of `gone` has been dropped.
    pub(super) buried: usize,
}

/// The strip has not been run, or not to the end.
pub(super) const STALE: u32 = u32::MAX;
/// No lane has unwound.
pub(super) const NONE: u32 = u32::MAX;
