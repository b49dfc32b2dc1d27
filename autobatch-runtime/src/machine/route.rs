//! Routes: how values travel between a caller's lanes and its callee's.

use std::mem::MaybeUninit;

use super::Place;
use crate::column::Column;
use crate::isa::{self, Level};
use crate::lockstep::is_plain;
use crate::stack::Stack;

/// The lanes of the current call or return step.
#[derive(Clone, Copy)]
pub struct Route<'a>(pub(super) Way<'a>);

#[derive(Clone, Copy)]
pub(super) enum Way<'a> {
    /// Masked: the caller's lanes `wide..` that are set in `mask`, and the callee's, `dense..` without gaps.
    Frame { mask: &'a [u64], wide: usize, dense: usize, level: Level },
    /// Masked, where the callee has a lane for each of the caller's `len`.
    Same { mask: &'a [u64], wide: usize, dense: usize, len: usize, level: Level },
    /// Program counter: caller and callee share their lane.
    Tile { lanes: &'a [u32] },
}

/// Argument values on their way, see [`Route::lift`].
pub struct Held<T>(Vec<MaybeUninit<T>>);

impl Route<'_> {
    /// Moves an argument to the callee's parameter.
    #[inline]
    pub fn pass<T>(&self, parameter: &mut Column<T>, argument: &Column<T>) {
        match self.0 {
            Way::Frame { mask, wide, dense, level } => parameter.compress(dense, argument, wide, mask, level),
            Way::Same { wide, dense, len, .. } => parameter.copy(dense, argument, wide, len),
            Way::Tile { lanes } => copy(parameter, argument, lanes),
        }
    }

    /// [`Route::pass`] where the argument is the parameter's own column.
    #[inline]
    pub fn pass_same<T>(&self, column: &mut Column<T>) {
        match self.0 {
            Way::Frame { mask, wide, dense, level } => column.compress_within(dense, wide, mask, level),
            Way::Same { wide, dense, len, .. } => column.copy_within(dense, wide, len),
            Way::Tile { .. } => {}
        }
    }

    /// [`Step::Compact`](super::Step::Compact): moves the lanes that go on to the front.
    #[inline]
    pub fn compact<T>(&self, column: &mut Column<T>) {
        if let Way::Frame { mask, level, .. } = self.0 {
            column.compact(mask, level);
        }
    }

    /// Takes an argument out that a later pass would overwrite.
    pub fn lift<T>(&self, argument: &Column<T>) -> Held<T> {
        match self.0 {
            Way::Frame { mask, wide, .. } | Way::Same { mask, wide, .. } => {
                Held(isa::lanes(mask).map(|lane| argument.bits(wide + lane)).collect())
            }
            Way::Tile { lanes } => Held(lanes.iter().map(|&lane| argument.bits(lane as usize)).collect()),
        }
    }

    /// Completes [`Route::lift`].
    pub fn land<T>(&self, parameter: &mut Column<T>, held: Held<T>) {
        match self.0 {
            Way::Frame { dense, .. } => {
                held.0.into_iter().enumerate().for_each(|(at, bits)| parameter.set_bits(dense + at, bits));
            }
            Way::Same { mask, dense, .. } => {
                let lanes = isa::lanes(mask).zip(held.0);
                lanes.for_each(|(lane, bits)| parameter.set_bits(dense + lane, bits));
            }
            Way::Tile { lanes } => {
                lanes.iter().zip(held.0).for_each(|(&lane, bits)| parameter.set_bits(lane as usize, bits));
            }
        }
    }

    /// Moves the callee's result to the call's destination.
    #[inline]
    pub fn give<T>(&self, destination: &mut Column<T>, result: &Column<T>) {
        match self.0 {
            Way::Frame { mask, wide, dense, level } => destination.expand(wide, result, dense, mask, level),
            Way::Same { mask, wide, dense, level, .. } => destination.merge(wide, result, dense, mask, level),
            Way::Tile { lanes } => copy(destination, result, lanes),
        }
    }

    /// [`Route::give`] where the destination is the result's own column.
    #[inline]
    pub fn give_same<T>(&self, column: &mut Column<T>) {
        match self.0 {
            Way::Frame { mask, wide, dense, level } => column.expand_within(wide, dense, mask, level),
            Way::Same { mask, wide, dense, level, .. } => column.merge_within(wide, dense, mask, level),
            Way::Tile { .. } => {}
        }
    }

    /// Saves a variable. In frames nothing overwrites it, so there this and the following do nothing.
    #[inline]
    pub fn push<T>(&self, stack: &mut Stack<T>, column: &Column<T>) {
        if let Way::Tile { lanes } = self.0 {
            stack.push(column, lanes);
        }
    }

    /// Restores a variable.
    #[inline]
    pub fn pop<T>(&self, stack: &mut Stack<T>, column: &mut Column<T>) {
        if let Way::Tile { lanes } = self.0 {
            stack.pop(column, lanes);
        }
    }

    /// Saves a variable in place of the value saved before.
    #[inline]
    pub fn update<T>(&self, stack: &mut Stack<T>, column: &Column<T>) {
        if let Way::Tile { lanes } = self.0 {
            stack.update(column, lanes);
        }
    }

    /// Keeps a variable saved that no code has assigned. Unless it is a number, it may have changed all the same, as a `Cell` does.
    #[inline]
    pub fn keep<T>(&self, stack: &mut Stack<T>, column: &Column<T>) {
        if !is_plain::<T>() {
            self.update(stack, column);
        }
    }

    /// Restores a variable that stays saved.
    #[inline]
    pub fn peek<T>(&self, stack: &Stack<T>, column: &mut Column<T>) {
        if let Way::Tile { lanes } = self.0 {
            stack.peek(column, lanes);
        }
    }
}

fn copy<T>(to: &mut Column<T>, from: &Column<T>, lanes: &[u32]) {
    for &lane in lanes {
        to.set_bits(lane as usize, from.bits(lane as usize));
    }
}

/// A dead member's activation, whose values have to be dropped.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// Where it was.
    pub place: Place,
    pub(super) slot: usize,
    pub(super) masked: bool,
}

impl Gone {
    /// Drops a variable's value in its column.
    #[inline]
    pub fn discard<T>(&self, column: &mut Column<T>) {
        if std::mem::needs_drop::<T>() {
            column.discard(self.slot);
        }
    }

    /// Drops a variable's value that the call has saved.
    #[inline]
    pub fn discard_saved<T>(&self, column: &mut Column<T>, stack: &mut Stack<T>) {
        if self.masked {
            self.discard(column);
        } else {
            stack.discard(self.slot);
        }
    }

    /// Forgets what [`Route::peek`] has left on the stack: the value itself is in the column.
    #[inline]
    pub fn forget_saved<T>(&self, stack: &mut Stack<T>) {
        if !self.masked {
            stack.forget(self.slot);
        }
    }
}
