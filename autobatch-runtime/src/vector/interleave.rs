//! Interleaving: a loop over the lanes of a strip in which several vectors are under way.
//!
//! Long straight code, a chain of operations each of which needs the one before, keeps a core waiting: it can't look
//! ahead far enough to have begun with the next vector. LLVM puts the operations of several vectors side by side where
//! registers suffice, but of loops with more than a few operations only in those that reduce something. (Measured: prices
//! of Black and Scholes take a twentieth less time.)

use std::hint::black_box;

/// The lanes from the first on, and a reduction: of their numbers, which costs two operations a vector.
pub struct Interleaved {
    next: usize,
    lanes: usize,
    seen: u8,
}

/// The first `lanes` lanes.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn interleaved(lanes: usize) -> Interleaved {
    // Of a known number LLVM would compute the result.
    Interleaved { next: 0, lanes, seen: black_box(0) }
}

impl Iterator for Interleaved {
    type Item = usize;

    #[cfg_attr(optimised, inline(always))]
    fn next(&mut self) -> Option<usize> {
        let lane = self.next;
        if lane == self.lanes {
            black_box(self.seen);
            return None;
        }
        self.next += 1;
        self.seen ^= lane as u8;
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::interleaved;

    #[test]
    fn each_lane_once() {
        for lanes in [0, 1, 16, 64, 300] {
            assert_eq!(interleaved(lanes).collect::<Vec<_>>(), (0..lanes).collect::<Vec<_>>());
        }
    }
}
