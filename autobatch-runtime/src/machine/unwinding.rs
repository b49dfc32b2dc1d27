//! Activations that leave their place: which variables hold values there is known by where each of them was. Those of dead members are dropped,
//! those of members that leave their frames move on.

use crate::storage::{LaneColumn, LaneStack};

/// Where an activation was when its member left.
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

/// What becomes of an activation's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// They are dropped: all are in the frame's slots, or those that calls have saved on the lane's stack.
    Dropped { in_frame: bool },
    /// They are in a frame's slots. Those that calls save are copied onto the lane's stack, the others to this slot.
    Copied { lane: u32, to: usize },
    /// The copies from there come to the lane's own slots.
    Settled { lane: u32 },
    /// The copies are no more.
    Undone { lane: u32 },
}

/// An activation that leaves its place.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// Where it was.
    pub unwind_point: UnwindPoint,
    pub(super) slot: usize,
    pub(super) fate: Fate,
}

impl Gone {
    /// A variable's value in its column.
    #[inline]
    pub fn discard<T>(&self, column: &mut LaneColumn<T>) {
        match self.fate {
            Fate::Dropped { .. } if std::mem::needs_drop::<T>() => column.discard(self.slot),
            Fate::Dropped { .. } | Fate::Undone { .. } => {}
            Fate::Copied { to, .. } => column.copy_bits(to, self.slot),
            Fate::Settled { lane } => column.copy_bits(lane as usize, self.slot),
        }
    }

    /// A variable's value that the call has saved.
    #[inline]
    pub fn discard_saved<T>(&self, column: &mut LaneColumn<T>, stack: &mut LaneStack<T>) {
        match self.fate {
            Fate::Dropped { in_frame: true } => self.discard(column),
            Fate::Dropped { in_frame: false } => stack.discard(self.slot),
            _ => self.forget_saved(column, stack),
        }
    }

    /// What [`Transfer::peek`](super::transfer::Transfer::peek) has left on the stack, and would have in a frame: the value itself is in the column.
    #[inline]
    pub fn forget_saved<T>(&self, column: &LaneColumn<T>, stack: &mut LaneStack<T>) {
        match self.fate {
            Fate::Dropped { in_frame: true } | Fate::Settled { .. } => {}
            Fate::Dropped { in_frame: false } => stack.forget(self.slot),
            Fate::Copied { lane, .. } => stack.push_bits(lane, column.bits(self.slot)),
            Fate::Undone { lane } => stack.clear(lane),
        }
    }
}
