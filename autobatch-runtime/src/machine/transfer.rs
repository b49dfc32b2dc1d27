//! Transfers: how values travel between a caller's lanes and its callee's.

use std::cell::Cell;
use std::mem::MaybeUninit;

use crate::native_stack::room;
use crate::probes::type_id::is_plain;
use crate::simd::{self, Level};
use crate::storage::{LaneColumn, LaneStack};

/// The lanes of the current call or return step.
#[derive(Clone, Copy)]
pub struct Transfer<'a> {
    pub(super) moves: Moves<'a>,
    /// Says which lane has no room.
    pub(super) lane: &'a Cell<u32>,
}

#[derive(Clone, Copy)]
pub(super) enum Moves<'a> {
    /// Masked: the caller's lanes `wide..` that are set in `mask`, and the callee's, `dense..` without gaps.
    Compressed { mask: &'a [u64], wide: usize, dense: usize, level: Level },
    /// Masked, where the callee has a lane for each of the caller's `len`.
    Copied { mask: &'a [u64], wide: usize, dense: usize, len: usize, level: Level },
    /// Program counter: caller and callee share their lane.
    InPlace { lanes: &'a [u32] },
}

/// Argument values on their way, see [`Transfer::lift`].
pub struct Lifted<T>(Vec<MaybeUninit<T>>);

impl Transfer<'_> {
    /// Makes room for a variable to be saved. Like the two below it unwinds if there is no memory, so all of them come before anything moves.
    #[inline]
    pub fn make_room<T>(&self, stack: &mut LaneStack<T>) {
        if let Moves::InPlace { lanes } = self.moves
            && let Err(lane) = stack.make_room(lanes)
        {
            self.lane.set(lane);
            room::refused();
        }
    }

    /// Makes room for what [`Transfer::pass`] puts into the callee's parameter.
    #[inline]
    pub fn make_room_to_pass<T>(&self, parameter: &mut LaneColumn<T>) {
        parameter.reserve(match self.moves {
            Moves::Compressed { mask, dense, .. } => dense + simd::count(mask),
            Moves::Copied { dense, len, .. } => dense + len,
            Moves::InPlace { lanes } => end(lanes),
        });
    }

    /// Makes room for what [`Transfer::give`] will put into the call's destination.
    #[inline]
    pub fn make_room_to_give<T>(&self, destination: &mut LaneColumn<T>) {
        destination.reserve(match self.moves {
            Moves::Compressed { mask, wide, .. } | Moves::Copied { mask, wide, .. } => {
                wide + simd::extent(mask)
            }
            Moves::InPlace { lanes } => end(lanes),
        });
    }

    /// Moves an argument to the callee's parameter.
    #[inline]
    pub fn pass<T>(&self, parameter: &mut LaneColumn<T>, argument: &LaneColumn<T>) {
        match self.moves {
            Moves::Compressed { mask, wide, dense, level } => {
                parameter.compress(dense, argument, wide, mask, level)
            }
            Moves::Copied { wide, dense, len, .. } => parameter.copy(dense, argument, wide, len),
            Moves::InPlace { lanes } => copy(parameter, argument, lanes),
        }
    }

    /// [`Transfer::pass`] where the argument is the parameter's own column.
    #[inline]
    pub fn pass_same<T>(&self, column: &mut LaneColumn<T>) {
        match self.moves {
            Moves::Compressed { mask, wide, dense, level } => {
                column.compress_within(dense, wide, mask, level)
            }
            Moves::Copied { wide, dense, len, .. } => column.copy_within(dense, wide, len),
            Moves::InPlace { .. } => {}
        }
    }

    /// [`Step::Compact`](super::step::Step::Compact): moves the lanes that go on to the front.
    #[inline]
    pub fn compact<T>(&self, column: &mut LaneColumn<T>) {
        if let Moves::Compressed { mask, level, .. } = self.moves {
            column.compact(mask, level);
        }
    }

    /// Takes an argument out that a later pass would overwrite.
    pub fn lift<T>(&self, argument: &LaneColumn<T>) -> Lifted<T> {
        match self.moves {
            Moves::Compressed { mask, wide, .. } | Moves::Copied { mask, wide, .. } => {
                Lifted(simd::lanes(mask).map(|lane| argument.bits(wide + lane)).collect())
            }
            Moves::InPlace { lanes } => {
                Lifted(lanes.iter().map(|&lane| argument.bits(lane as usize)).collect())
            }
        }
    }

    /// Completes [`Transfer::lift`].
    pub fn land<T>(&self, parameter: &mut LaneColumn<T>, held: Lifted<T>) {
        match self.moves {
            Moves::Compressed { dense, .. } => {
                held.0.into_iter().enumerate().for_each(|(at, bits)| parameter.set_bits(dense + at, bits));
            }
            Moves::Copied { mask, dense, .. } => {
                let lanes = simd::lanes(mask).zip(held.0);
                lanes.for_each(|(lane, bits)| parameter.set_bits(dense + lane, bits));
            }
            Moves::InPlace { lanes } => {
                lanes.iter().zip(held.0).for_each(|(&lane, bits)| parameter.set_bits(lane as usize, bits));
            }
        }
    }

    /// Moves the callee's result to the call's destination.
    #[inline]
    pub fn give<T>(&self, destination: &mut LaneColumn<T>, result: &LaneColumn<T>) {
        match self.moves {
            Moves::Compressed { mask, wide, dense, level } => {
                destination.expand(wide, result, dense, mask, level)
            }
            Moves::Copied { mask, wide, dense, level, .. } => {
                destination.merge(wide, result, dense, mask, level)
            }
            Moves::InPlace { lanes } => copy(destination, result, lanes),
        }
    }

    /// [`Transfer::give`] where the destination is the result's own column.
    #[inline]
    pub fn give_same<T>(&self, column: &mut LaneColumn<T>) {
        match self.moves {
            Moves::Compressed { mask, wide, dense, level } => column.expand_within(wide, dense, mask, level),
            Moves::Copied { mask, wide, dense, level, .. } => column.merge_within(wide, dense, mask, level),
            Moves::InPlace { .. } => {}
        }
    }

    /// Saves a variable. In frames nothing overwrites it, so there this and the following do nothing.
    #[inline]
    pub fn push<T>(&self, stack: &mut LaneStack<T>, column: &LaneColumn<T>) {
        if let Moves::InPlace { lanes } = self.moves {
            stack.push(column, lanes);
        }
    }

    /// Restores a variable.
    #[inline]
    pub fn pop<T>(&self, stack: &mut LaneStack<T>, column: &mut LaneColumn<T>) {
        if let Moves::InPlace { lanes } = self.moves {
            stack.pop(column, lanes);
        }
    }

    /// Saves a variable in place of the value saved before.
    #[inline]
    pub fn update<T>(&self, stack: &mut LaneStack<T>, column: &LaneColumn<T>) {
        if let Moves::InPlace { lanes } = self.moves {
            stack.update(column, lanes);
        }
    }

    /// Keeps a variable saved that no code has assigned. Unless it is a number, it may have changed all the same, as a `Cell` does.
    #[inline]
    pub fn keep<T>(&self, stack: &mut LaneStack<T>, column: &LaneColumn<T>) {
        if !is_plain::<T>() {
            self.update(stack, column);
        }
    }

    /// Restores a variable that stays saved.
    #[inline]
    pub fn peek<T>(&self, stack: &LaneStack<T>, column: &mut LaneColumn<T>) {
        if let Moves::InPlace { lanes } = self.moves {
            stack.peek(column, lanes);
        }
    }
}

/// The lane behind all of `lanes`, which ascend.
fn end(lanes: &[u32]) -> usize {
    lanes.last().map_or(0, |lane| *lane as usize + 1)
}

fn copy<T>(to: &mut LaneColumn<T>, from: &LaneColumn<T>, lanes: &[u32]) {
    for &lane in lanes {
        to.set_bits(lane as usize, from.bits(lane as usize));
    }
}
