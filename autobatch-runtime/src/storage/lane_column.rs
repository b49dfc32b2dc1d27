//! Columns: the values of one variable for many lanes. For generated code only.
//!
//! **Invariant:** a column has memory for `len` slots, aligned to cache lines; which of them hold a value is the protocol's.

use std::alloc::{Layout, alloc, dealloc};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::slice;

use super::strip::Home;
use crate::api::column::Source;
use crate::native_stack::{budget, room};
use crate::simd::{self, Level};

/// An arena of slots that grows on demand. It does not know which slots hold a value, so it never
/// drops any: what is live at which point is static knowledge of the generated code.
///
/// Its memory begins at a multiple of `ALIGN`, so that strips do not cross cache lines.
pub struct LaneColumn<T> {
    first: NonNull<MaybeUninit<T>>,
    len: usize,
    owns: PhantomData<T>,
}

/// The length of a cache line, and of the longest vector.
const ALIGN: usize = 64;

// SAFETY: a column owns its memory, like a `Vec`.
unsafe impl<T: Send> Send for LaneColumn<T> {}

// SAFETY: as above.
unsafe impl<T: Sync> Sync for LaneColumn<T> {}

impl<T> Default for LaneColumn<T> {
    fn default() -> Self {
        LaneColumn { first: NonNull::dangling(), len: 0, owns: PhantomData }
    }
}

impl<T> Drop for LaneColumn<T> {
    fn drop(&mut self) {
        if self.len > 0 && size_of::<T>() > 0 {
            budget::give(self.len * size_of::<T>());
            // SAFETY: `grow` has allocated this with the same layout.
            unsafe { dealloc(self.first.as_ptr().cast(), Self::layout(self.len)) };
        }
    }
}

impl<T> LaneColumn<T> {
    /// The strip at `at`, to be read or taken from only.
    #[cfg_attr(optimised, inline(always))]
    pub fn read<const W: usize>(&mut self, at: usize) -> Home<'_, T, W, false> {
        Home(self.home(at))
    }

    /// The strip at `at`, to be changed.
    #[cfg_attr(optimised, inline(always))]
    pub fn edit<const W: usize>(&mut self, at: usize) -> Home<'_, T, W, true> {
        Home(self.home(at))
    }

    /// Fills an empty slot.
    #[inline]
    pub fn put(&mut self, at: usize, value: T) {
        self.reserve(at + 1);
        self.slots_mut()[at].write(value);
    }

    /// Empty slots, to be filled.
    #[cfg_attr(optimised, inline(always))]
    pub fn room(&mut self, at: usize, len: usize) -> &mut [MaybeUninit<T>] {
        self.reserve(at + len);
        &mut self.slots_mut()[at..at + len]
    }

    /// Whether values need not be dropped.
    #[cfg_attr(optimised, inline(always))]
    pub fn needs_no_drop(&self) -> bool {
        !std::mem::needs_drop::<T>()
    }

    /// Moves the value out of a slot that holds one.
    #[inline]
    pub fn remove(&mut self, at: usize) -> T {
        // SAFETY: by the protocol the slot holds a value, which is not used there again.
        unsafe { self.slots_mut()[at].assume_init_read() }
    }

    /// Drops the value of a slot that holds one.
    #[inline]
    pub(crate) fn discard(&mut self, at: usize) {
        // SAFETY: by the protocol the slot holds a value, which is not used again.
        unsafe { self.slots_mut()[at].assume_init_drop() }
    }

    /// A copy of the slot's bits: a move, or junk.
    #[inline]
    pub(crate) fn bits(&self, at: usize) -> MaybeUninit<T> {
        // SAFETY: any bits are a `MaybeUninit`; who treats them as a value is bound by the protocol.
        unsafe { ptr::read(&self.slots()[at]) }
    }

    /// Overwrites the slot's bits.
    #[inline]
    pub(crate) fn set_bits(&mut self, at: usize, bits: MaybeUninit<T>) {
        self.reserve(at + 1);
        self.slots_mut()[at] = bits;
    }

    /// Copies the bits of a slot to another, if there is such a slot. Unwinds if there is no memory; nothing has changed then.
    pub(crate) fn copy_bits(&mut self, to: usize, from: usize) {
        if from < self.len {
            self.set_bits(to, self.bits(from));
        }
    }

    /// Moves the lanes of `from` that are set in `mask` (bit 0: slot `wide`) to consecutive slots
    /// from `dense` on.
    #[inline]
    pub(crate) fn compress(
        &mut self,
        dense: usize,
        from: &LaneColumn<T>,
        wide: usize,
        mask: &[u64],
        level: Level,
    ) {
        self.reserve(dense + simd::count(mask));
        simd::compress(&mut self.slots_mut()[dense..], from.slots_from(wide), mask, level);
    }

    /// The reverse of [`LaneColumn::compress`]; lanes that are not set keep their bits.
    #[inline]
    pub(crate) fn expand(
        &mut self,
        wide: usize,
        from: &LaneColumn<T>,
        dense: usize,
        mask: &[u64],
        level: Level,
    ) {
        self.reserve(wide + simd::extent(mask));
        simd::expand(&mut self.slots_mut()[wide..], from.slots_from(dense), mask, level);
    }

    /// Copies the slots of `from` from `wide` on to those from `dense` on, `len` of them, as far as there are
    /// any.
    #[inline]
    pub(crate) fn copy(&mut self, dense: usize, from: &LaneColumn<T>, wide: usize, len: usize) {
        self.reserve(dense + len);
        let from = from.slots_from(wide);
        let len = len.min(from.len());
        // SAFETY: both ranges are in bounds, of different columns, and any bits are a `MaybeUninit`.
        unsafe {
            ptr::copy_nonoverlapping(from.as_ptr(), self.slots_mut()[dense..dense + len].as_mut_ptr(), len)
        };
    }

    /// [`LaneColumn::copy`] within one column; the dense slots lie behind all wide ones.
    #[inline]
    pub(crate) fn copy_within(&mut self, dense: usize, wide: usize, len: usize) {
        let (front, back) = self.split(dense, dense + len);
        // SAFETY: both ranges are in bounds and apart, and any bits are a `MaybeUninit`.
        unsafe { ptr::copy_nonoverlapping(front[wide..wide + len].as_ptr(), back[..len].as_mut_ptr(), len) };
    }

    /// Moves the slots of `from` from `dense` on that are set in `mask` to the same lanes from `wide` on.
    #[inline]
    pub(crate) fn merge(
        &mut self,
        wide: usize,
        from: &LaneColumn<T>,
        dense: usize,
        mask: &[u64],
        level: Level,
    ) {
        self.reserve(wide + simd::extent(mask));
        simd::merge(&mut self.slots_mut()[wide..], from.slots_from(dense), mask, level);
    }

    /// [`LaneColumn::merge`] within one column; the dense slots lie behind all wide ones.
    #[inline]
    pub(crate) fn merge_within(&mut self, wide: usize, dense: usize, mask: &[u64], level: Level) {
        let (front, back) = self.split(dense, dense);
        simd::merge(&mut front[wide..], back, mask, level);
    }

    /// [`LaneColumn::compress`] within one column; the dense slots lie behind all wide ones.
    #[inline]
    pub(crate) fn compress_within(&mut self, dense: usize, wide: usize, mask: &[u64], level: Level) {
        let (front, back) = self.split(dense, dense + simd::count(mask));
        simd::compress(back, &front[wide..], mask, level);
    }

    /// [`LaneColumn::expand`] within one column; the dense slots lie behind all wide ones.
    #[inline]
    pub(crate) fn expand_within(&mut self, wide: usize, dense: usize, mask: &[u64], level: Level) {
        let (front, back) = self.split(dense, dense);
        simd::expand(&mut front[wide..], back, mask, level);
    }

    /// [`LaneColumn::compress`] of the first lanes to the front.
    #[inline]
    pub(crate) fn compact(&mut self, mask: &[u64], level: Level) {
        simd::compact(self.slots_mut(), mask, level);
    }

    #[cfg_attr(optimised, inline(always))]
    fn home<const W: usize>(&mut self, at: usize) -> &mut [MaybeUninit<T>; W] {
        self.reserve(at + W);
        (&mut self.slots_mut()[at..at + W]).try_into().expect("the range has W slots")
    }

    /// Slots up to `len`. Unwinds if there is no memory for them; nothing has changed then.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn reserve(&mut self, len: usize) {
        if len > self.len {
            self.grow(len);
        }
    }

    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn slots(&self) -> &[MaybeUninit<T>] {
        // SAFETY: there are `len` slots, and any bits are a `MaybeUninit`.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }

    /// The slots from `at` on; none if there are fewer.
    #[cfg_attr(optimised, inline(always))]
    fn slots_from(&self, at: usize) -> &[MaybeUninit<T>] {
        self.slots().get(at..).unwrap_or(&[])
    }

    /// The slots before and from `at` on, of a column of at least `len`.
    #[cfg_attr(optimised, inline(always))]
    fn split(&mut self, at: usize, len: usize) -> (&mut [MaybeUninit<T>], &mut [MaybeUninit<T>]) {
        self.reserve(len);
        self.slots_mut().split_at_mut(at)
    }

    #[cfg_attr(optimised, inline(always))]
    fn slots_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: as above; the column is borrowed alone.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }

    fn layout(len: usize) -> Layout {
        Self::fits(len).expect("there is memory for the column")
    }

    fn fits(len: usize) -> Option<Layout> {
        Layout::array::<MaybeUninit<T>>(len).and_then(|layout| layout.align_to(ALIGN)).ok()
    }

    /// Unwinds if there is no memory; nothing has changed then.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        let len = len.max(2 * self.len).max(64);
        if size_of::<T>() > 0 {
            let Some(layout) = Self::fits(len) else { room::refused() };
            // SAFETY: the layout has a size.
            let new = unsafe { alloc(layout) };
            let Some(new) = NonNull::new(new.cast::<MaybeUninit<T>>()) else { room::refused() };
            // The old memory is given back when it is dropped.
            budget::take(len * size_of::<T>());
            // SAFETY: the new memory is larger than the old, and apart from it.
            unsafe { ptr::copy_nonoverlapping(self.first.as_ptr(), new.as_ptr(), self.len) };
            drop(std::mem::replace(self, LaneColumn { first: new, len, owns: PhantomData }));
        }
        self.len = len;
    }
}

/// Whether a column can be filled from a source in one go: nothing is lost if that is done again.
#[cfg_attr(optimised, inline(always))]
pub fn simple<T>(source: &impl Source<T>, column: &LaneColumn<T>) -> bool {
    column.needs_no_drop() && source.repeatable()
}
