//! The members that a piece of scalar code runs, one after the other.

use std::cell::Cell;
use std::ops::Range;

use super::limits::{Allowance, begin_member, has_looked};

/// Members that a worker has taken and that have not begun. All of its pieces of code take from it.
#[derive(Default)]
pub(crate) struct Taken {
    next: Cell<usize>,
    end: Cell<usize>,
}

impl Taken {
    pub(crate) fn is_empty(&self) -> bool {
        self.next.get() == self.end.get()
    }

    /// More of them.
    pub(crate) fn put(&self, members: Range<usize>) {
        debug_assert!(self.is_empty());
        self.next.set(members.start);
        self.end.set(members.end);
    }

    /// All of them, for others.
    pub(crate) fn give(&self) -> Range<usize> {
        self.next.replace(self.end.get())..self.end.get()
    }

    #[cfg_attr(optimised, inline(always))]
    fn next(&self) -> Option<usize> {
        let next = self.next.get();
        if next == self.end.get() {
            return None;
        }
        self.next.set(next + 1);
        Some(next)
    }
}

/// A piece of code that runs some of them.
pub(crate) struct Running<'t> {
    taken: &'t Taken,
    /// The steps that each may make, if they are counted.
    steps: Option<Allowance>,
    /// How many it may begin until it is to be asked whether to go on, and how many of them still.
    most: Cell<u32>,
    left: Cell<u32>,
    /// The one that runs, or has run.
    member: Cell<usize>,
}

impl<'t> Running<'t> {
    pub(crate) fn of(taken: &'t Taken, steps: Option<u64>) -> Running<'t> {
        let (most, left, member) = (Cell::new(0), Cell::new(0), Cell::new(usize::MAX));
        Running { taken, steps: steps.map(Allowance::of), most, left, member }
    }

    /// It may begin so many.
    pub(crate) fn may_begin(&self, members: u32) {
        self.most.set(members);
        self.left.set(members);
    }

    /// The next member, which begins.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn begin(&self) -> Option<usize> {
        let left = self.left.get();
        if left == 0 {
            return None;
        }
        let member = self.taken.next()?;
        self.left.set(left - 1);
        self.member.set(member);
        begin_member(self.steps);
        Some(member)
    }

    /// Whether the member that has run is to be looked at.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn is_over(&self) -> bool {
        has_looked()
    }

    /// The member that runs, or has run.
    pub(crate) fn member(&self) -> usize {
        self.member.get()
    }

    /// How many have begun.
    pub(crate) fn begun(&self) -> usize {
        (self.most.get() - self.left.get()) as usize
    }
}
