//! Results of the machine's lanes, on their way from a column to the caller.

use std::ops::Range;

use crate::api::output::{Out, have_one};
use crate::storage::LaneColumn;

impl<R> Out<'_, R> {
    /// The results of members, which are the values of lanes in a column: for each range of them the lane of
    /// the first, and the others are on the next ones.
    #[inline]
    pub fn receive(&self, runs: impl Iterator<Item = (usize, Range<usize>)>, column: &mut LaneColumn<R>) {
        /// Fewer neighbours are not worth the lock.
        const TOGETHER: usize = 256;
        for (first, members) in runs {
            if !self.copies() {
                (first..).zip(members).for_each(|(lane, member)| self.set(member, column.remove(lane)));
                continue;
            }
            if members.len() < TOGETHER {
                self.flags()[members.clone()].iter().for_each(have_one::<R>);
            } else {
                self.have(members.clone());
            }
            self.copy(members, &column.slots()[first..]);
        }
    }
}
