//! Columns: the values of one variable for many lanes. For generated code only.

use std::mem::MaybeUninit;
use std::ptr;

use crate::isa::{self, Level};
use crate::strip::Local;

/// An arena of slots that grows on demand. It does not know which slots hold a value, so it never
/// drops any: what is live at which point is static knowledge of the generated code.
pub struct Column<T> {
    slots: Vec<MaybeUninit<T>>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { slots: Vec::new() }
    }
}

impl<T> Column<T> {
    /// The strip at `at`, to be read or taken from only.
    #[inline(always)]
    pub fn read<const W: usize>(&mut self, at: usize) -> Local<'_, T, W, false> {
        Local::new(self.home(at))
    }

    /// The strip at `at`, to be changed.
    #[inline(always)]
    pub fn edit<const W: usize>(&mut self, at: usize) -> Local<'_, T, W, true> {
        Local::new(self.home(at))
    }

    /// Fills an empty slot.
    #[inline]
    pub fn put(&mut self, at: usize, value: T) {
        self.reserve(at + 1);
        self.slots[at].write(value);
    }

    /// Moves the value out of a slot that holds one.
    #[inline]
    pub fn remove(&mut self, at: usize) -> T {
        // SAFETY: by the protocol the slot holds a value, which is not used there again.
        unsafe { self.slots[at].assume_init_read() }
    }

    /// Drops the value of a slot that holds one.
    #[inline]
    pub(crate) fn discard(&mut self, at: usize) {
        // SAFETY: by the protocol the slot holds a value, which is not used again.
        unsafe { self.slots[at].assume_init_drop() }
    }

    /// A copy of the slot's bits: a move, or junk.
    #[inline]
    pub(crate) fn bits(&self, at: usize) -> MaybeUninit<T> {
        // SAFETY: any bits are a `MaybeUninit`; who treats them as a value is bound by the protocol.
        unsafe { ptr::read(&self.slots[at]) }
    }

    /// Overwrites the slot's bits.
    #[inline]
    pub(crate) fn set_bits(&mut self, at: usize, bits: MaybeUninit<T>) {
        self.reserve(at + 1);
        self.slots[at] = bits;
    }

    /// Moves the lanes of `from` that are set in `mask` (bit 0: slot `wide`) to consecutive slots
    /// from `dense` on.
    #[inline]
    pub(crate) fn compress(
        &mut self,
        dense: usize,
        from: &Column<T>,
        wide: usize,
        mask: &[u64],
        level: Level,
    ) {
        self.reserve(dense + isa::count(mask));
        isa::compress(&mut self.slots[dense..], from.slots.get(wide..).unwrap_or(&[]), mask, level);
    }

    /// The reverse of [`Column::compress`]; lanes that are not set keep their bits.
    #[inline]
    pub(crate) fn expand(&mut self, wide: usize, from: &Column<T>, dense: usize, mask: &[u64], level: Level) {
        self.reserve(wide + isa::extent(mask));
        isa::expand(&mut self.slots[wide..], from.slots.get(dense..).unwrap_or(&[]), mask, level);
    }

    /// [`Column::compress`] within one column; the dense slots lie behind all wide ones.
    #[inline]
    pub(crate) fn compress_within(&mut self, dense: usize, wide: usize, mask: &[u64], level: Level) {
        self.reserve(dense + isa::count(mask));
        let (front, back) = self.slots.split_at_mut(dense);
        isa::compress(back, &front[wide..], mask, level);
    }

    /// [`Column::expand`] within one column; the dense slots lie behind all wide ones.
    #[inline]
    pub(crate) fn expand_within(&mut self, wide: usize, dense: usize, mask: &[u64], level: Level) {
        self.reserve(dense);
        let (front, back) = self.slots.split_at_mut(dense);
        isa::expand(&mut front[wide..], back, mask, level);
    }

    #[inline(always)]
    fn home<const W: usize>(&mut self, at: usize) -> &mut [MaybeUninit<T>; W] {
        self.reserve(at + W);
        (&mut self.slots[at..at + W]).try_into().expect("the range has W slots")
    }

    #[inline(always)]
    fn reserve(&mut self, len: usize) {
        if len > self.slots.len() {
            self.grow(len);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        let len = len.max(2 * self.slots.len()).max(64);
        self.slots.reserve_exact(len - self.slots.len());
        // SAFETY: the capacity is there, and a `MaybeUninit` needs no initialisation.
        unsafe { self.slots.set_len(len) };
    }
}
