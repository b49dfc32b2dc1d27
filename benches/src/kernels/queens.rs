//! The n queens: recursion inside a loop over the bits of a mask, for several sizes of the board.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
mod board {
    /// The ways to fill the rows that are left; the masks hold the columns and diagonals under attack.
    fn place(all: u32, columns: u32, left: u32, right: u32) -> u32 {
        if columns == all {
            return 1;
        }
        let mut free = all & !(columns | left | right);
        let mut count = 0;
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            count += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
        }
        count
    }

    pub(super) fn queens(size: u32, first: u32) -> u32 {
        let queen = 1 << first;
        place((1 << size) - 1, queen, queen << 1, queen >> 1)
    }
}

counterpart! {
    fn ispc_queens(columns(size: u32, first: u32)) -> u32
}

/// Boards of 6 to 10 squares a side, with the first queen on each square of its row in turn.
pub struct Queens {
    size: Vec<u32>,
    first: Vec<u32>,
}

impl Kernel for Queens {
    type Value = u32;
    const NAME: &'static str = "queens";
    const MEMBERS: usize = 4096;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        let board = |i: u32| (6 + i % 5, i / 5 % (6 + i % 5));
        let (size, first) = (0..members as u32).map(board).unzip();
        Queens { size, first }
    }

    fn members(&self) -> usize {
        self.size.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u32 {
        board::queens(self.size[i], self.first[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u32>, BatchError> {
        board::queens_batched_with(&self.size, &self.first, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u32]) {
        ispc_queens(target, first, &self.size, &self.first, out);
    }
}

#[cfg(test)]
mod tests {
    use super::board::queens;

    #[test]
    fn known_counts() {
        let solutions = |size| (0..size).map(|first| queens(size, first)).sum::<u32>();
        assert_eq!([6, 7, 8, 9].map(solutions), [4, 40, 92, 352]);
    }
}
