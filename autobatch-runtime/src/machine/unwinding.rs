//! What dead members owned: where each of their activations was, which says which of its variables hold values.

use crate::storage::{LaneColumn, LaneStack};

/// Where an activation was when its member died.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnwindPoint {
    /// Waiting at this point.
    At(u32),
    /// Inside this block: what the block takes is gone already.
    Ran(u32),
    /// Inside the callee of this call site.
    Calling(u32),
    /// At this block, which calls a primitive: the arguments have been gathered, there is no result.
    Gathered(u32),
}

/// A dead member's activation, whose values have to be dropped.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// Where it was.
    pub unwind_point: UnwindPoint,
    pub(super) slot: usize,
    pub(super) masked: bool,
}

impl Gone {
    /// Drops a variable's value in its column.
    #[inline]
    pub fn discard<T>(&self, column: &mut LaneColumn<T>) {
        if std::mem::needs_drop::<T>() {
            column.discard(self.slot);
        }
    }

    /// Drops a variable's value that the call has saved.
    #[inline]
    pub fn discard_saved<T>(&self, column: &mut LaneColumn<T>, stack: &mut LaneStack<T>) {
        if self.masked {
            self.discard(column);
        } else {
            stack.discard(self.slot);
        }
    }

    /// Forgets what [`Transfer::peek`](super::transfer::Transfer::peek) has left on the stack: the value itself is in the column.
    #[inline]
    pub fn forget_saved<T>(&self, stack: &mut LaneStack<T>) {
        if !self.masked {
            stack.forget(self.slot);
        }
    }
}
