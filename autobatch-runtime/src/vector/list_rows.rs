//! Members' lists, transposed for loops that read each element more than once: an element is a strip.
//!
//! ```text
//! lane 0: a b c d        a e g
//! lane 1: e f        ──▶ b f h       one row per index, zeros behind a list's end
//! lane 2: g h i          c 0 i
//!                        d 0 0
//! ```
//!
//! All lanes then look at one row, instead of each at a list of its own.
//!
//! **Invariant:** there is at least one row, and every row holds values of a plain type.

use std::mem::MaybeUninit;
use std::ptr;

use crate::lane_interchange::get;
use crate::probes::type_id::is_plain;
use crate::vector::lookup::give_up;

/// The most bytes that the rows of a strip take.
const LARGEST: usize = 1 << 24;

/// The lists of a strip's lanes.
pub struct ListRows<T, const W: usize> {
    rows: Vec<[T; W]>,
    lengths: [u32; W],
}

impl<T, const W: usize> ListRows<T, W> {
    /// No lists yet. Strips that run one after the other take the same memory.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        ListRows { rows: Vec::new(), lengths: [0; W] }
    }

    /// Takes the lists of a strip. They are given up if they are too long, or so different that most of the rows would be zeros.
    #[cfg_attr(optimised, inline(always))]
    pub fn fill(&mut self, lists: &[MaybeUninit<&[T]>; W]) {
        let (mut longest, mut all) = (0, 0usize);
        for lane in 0..W {
            let len = get(lists, lane).len();
            longest = longest.max(len);
            all = all.saturating_add(len);
        }
        let fits = longest.checked_mul(size_of::<[T; W]>()).is_some_and(|bytes| bytes <= LARGEST);
        if !fits || longest / 8 > all / W || !self.reserve(longest.max(1)) {
            give_up();
        }
        for lane in 0..W {
            let list = get(lists, lane);
            // No list has more elements than there are bytes.
            self.lengths[lane] = list.len() as u32;
            for (row, element) in self.rows.iter_mut().zip(list) {
                // SAFETY: rows are made of plain values only, which may be copied.
                row[lane] = unsafe { ptr::read(element) };
            }
        }
    }

    /// Makes so many rows; whether the memory was there.
    #[inline(never)]
    fn reserve(&mut self, rows: usize) -> bool {
        assert!(is_plain::<T>());
        if self.rows.len() >= rows {
            return true;
        }
        if self.rows.try_reserve_exact(rows - self.rows.len()).is_err() {
            return false;
        }
        // SAFETY: all bits zero are a value of every plain type.
        self.rows.resize_with(rows, || unsafe { std::mem::zeroed() });
        true
    }

    /// The rows, and how long each lane's list is.
    #[cfg_attr(optimised, inline(always))]
    pub fn rows(&self) -> (&[[T; W]], &[u32; W]) {
        (&self.rows, &self.lengths)
    }
}

/// The row at an index; another one, if there is none. Values only: LLVM forgets in a loop what it knows of references to functions in it.
#[cfg_attr(optimised, inline(always))]
pub fn row(at: usize, rows: usize) -> usize {
    if at < rows { at } else { 0 }
}

/// Whether a lane's list, of so many elements, has none at an index in this row.
#[cfg_attr(optimised, inline(always))]
pub fn is_outside(at: usize, row: usize, length: u32) -> bool {
    row as u32 >= length || row != at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::lookup::Fault;

    fn filled<const W: usize>(rows: &mut ListRows<u16, W>, lists: [&[u16]; W]) {
        rows.fill(&lists.map(MaybeUninit::new));
    }

    #[test]
    fn every_element_is_found() {
        let mut rows = ListRows::new();
        for lists in [[&[1u16, 2, 3][..], &[4], &[]], [&[5], &[6, 7], &[8]]] {
            filled(&mut rows, lists);
            for (lane, list) in lists.iter().enumerate() {
                for at in (0..5).chain([1 << 32, usize::MAX]) {
                    let fault = Fault::new();
                    let (rows, lengths) = rows.rows();
                    let row = row(at, rows.len());
                    fault.note(is_outside(at, row, lengths[lane]));
                    let found = rows[row][lane];
                    assert_eq!(fault.is_noted(), at >= list.len(), "{at} of {list:?}");
                    assert!(fault.is_noted() || found == list[at]);
                }
            }
        }
    }

    #[test]
    fn lists_that_are_too_long_or_too_different_are_given_up() {
        let long = vec![7u16; LARGEST / 16];
        let gives_up =
            |lists: [&[u16]; 16]| std::panic::catch_unwind(|| filled(&mut ListRows::new(), lists)).is_err();
        assert!(gives_up([&long; 16]));
        assert!(!gives_up([&long[..1000]; 16]) && !gives_up([&[]; 16]));
        let mut lists = [&long[..1]; 16];
        lists[3] = &long[..1000];
        assert!(gives_up(lists));
    }
}
