//! Columns of loops in vector frames.
//!
//! If all lanes of a frame run a loop, it begins in the frame's columns. Lanes that leave it are where they belong, and a loop of few
//! rounds moves nothing. When gaps are closed for the first time, a column becomes one of the loop's own.
//!
//! ```text
//! in place   | a | b | c | d | e | f | g | h |    the frame's column; b, d and e leave
//! gaps close | a | c | f | g | h |                a column of the loop; what leaves now is put into the frame's
//! ```
//!
//! **Invariant:** no slot of a [`LoopColumn::known`] is ever uninitialised, a pad's neither. It begins with a value of a variable that is
//! live, or with zeros. What it gets then are values, bits that it had, and, when the column closes its gaps, bits of other slots. Generated code
//! upholds it: what a lane leaves there is a value, and lanes that are not here, or after which nobody reads the
//! variable, leave what was there.

use std::mem::MaybeUninit;

use super::arena::Arena;
use super::columns::put;
use super::compaction::copied;
use super::lane_set::LaneSet;
use super::loops::LoopLanes;
use crate::simd;

type Column<T> = [MaybeUninit<T>];

/// A column of the lanes of a loop.
pub struct LoopColumn<'h, 'a, T> {
    /// The frame's, if lanes put there what they leave behind.
    frame: Option<&'h mut Column<T>>,
    /// The loop's own; `None` in place.
    own: Option<&'a mut Column<T>>,
}

impl<'h, 'a, T> LoopColumn<'h, 'a, T> {
    /// The frame's values.
    #[cfg_attr(optimised, inline(always))]
    pub fn new(
        lanes: &LoopLanes<'a>,
        arena: &mut Arena<'a>,
        frame: &'h mut Column<T>,
        set: &LaneSet<'_>,
    ) -> Self {
        let own = (!lanes.are_in_place()).then(|| gather(lanes, arena, frame, set));
        LoopColumn { frame: Some(frame), own }
    }

    /// The same, to be stored to by [`PlainStores::store`](crate::storage::PlainStores::store).
    #[cfg_attr(optimised, inline(always))]
    pub fn known(
        lanes: &LoopLanes<'a>,
        arena: &mut Arena<'a>,
        frame: &'h mut Column<T>,
        set: &LaneSet<'_>,
    ) -> Self {
        let mut column = LoopColumn::new(lanes, arena, frame, set);
        let pads = &mut column.slots()[lanes.len..lanes.room()];
        // SAFETY: the slots are one slice's, and any bits are a `MaybeUninit`.
        unsafe { pads.as_mut_ptr().write_bytes(0, pads.len()) };
        column
    }

    /// Without values.
    #[cfg_attr(optimised, inline(always))]
    pub fn empty(lanes: &LoopLanes<'a>, arena: &mut Arena<'a>, frame: &'h mut Column<T>) -> Self {
        let own = (!lanes.are_in_place()).then(|| arena.column(lanes.room()));
        LoopColumn { frame: Some(frame), own }
    }

    /// The values of a column that is read where the caller has it.
    #[cfg_attr(optimised, inline(always))]
    pub fn lent(lanes: &LoopLanes<'a>, arena: &mut Arena<'a>, frame: &Column<T>, set: &LaneSet<'_>) -> Self {
        LoopColumn { frame: None, own: Some(gather(lanes, arena, frame, set)) }
    }

    /// Never in place: results may stand among others' in the caller's column. With values, if lanes of `set` have some.
    #[cfg_attr(optimised, inline(always))]
    pub fn apart(
        lanes: &LoopLanes<'a>,
        arena: &mut Arena<'a>,
        frame: &'h mut Column<T>,
        set: Option<&LaneSet<'_>>,
    ) -> Self {
        let own = match set {
            Some(set) => gather(lanes, arena, frame, set),
            None => arena.column(lanes.room()),
        };
        LoopColumn { frame: Some(frame), own: Some(own) }
    }

    /// Where the lanes are.
    #[cfg_attr(optimised, inline(always))]
    pub fn slots(&mut self) -> &mut Column<T> {
        match (&mut self.own, &mut self.frame) {
            (Some(own), _) => own,
            (None, Some(frame)) => frame,
            (None, None) => unreachable!("a column that is lent has been copied"),
        }
    }

    /// A lane leaves its value to the frame.
    #[cfg_attr(optimised, inline(always))]
    pub fn put(&mut self, lane: usize, at: usize) {
        if let (Some(own), Some(frame)) = (&self.own, &mut self.frame) {
            put(frame, lane, own, at);
        }
    }

    /// Closes its gaps.
    #[cfg_attr(optimised, inline(always))]
    pub fn compact(&mut self, lanes: &LoopLanes<'a>, arena: &mut Arena<'a>) {
        let room = lanes.room();
        if self.own.is_none() {
            self.own = Some(copied(arena, &self.slots()[..room]));
        }
        simd::compact(self.slots(), lanes.on(), arena.level);
    }
}

#[cfg_attr(optimised, inline(always))]
fn gather<'a, T>(
    lanes: &LoopLanes<'a>,
    arena: &mut Arena<'a>,
    frame: &Column<T>,
    set: &LaneSet<'_>,
) -> &'a mut Column<T> {
    let column = arena.column(lanes.room());
    simd::compress(column, frame, set.words(), arena.level);
    column
}
