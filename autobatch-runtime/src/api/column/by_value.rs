//! Columns of values: slices that are cloned from, vectors that are moved from, one value for all.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::fault::BatchError;
use super::source::{Owned, Source};

/// A column of a batch: one `T` per member.
///
/// `&[T]`, `&Vec<T>`, `&[T; N]` and `ndarray` views of any stride are borrowed and cloned on entry;
/// `Vec<T>` by value is moved; [`same`] is one value for all members. A row of an `ArrayView2<T>` is
/// a member's `[T; D]`, `Array1<T>` or `ArrayView1<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a column of `{T}`",
    label = "expected one `{T}` per member",
    note = "columns of `{T}` are `&[{T}]`, `&Vec<{T}>`, `&[{T}; N]`, `Vec<{T}>`, `ndarray` views, or `autobatch::same(value)`"
)]
pub trait Column<T> {
    /// What hands the members out.
    #[doc(hidden)]
    type Source: Source<T>;

    /// Makes the source; `parameter` is the name for messages.
    #[doc(hidden)]
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError>;
}

/// A borrowed slice, cloned from.
#[doc(hidden)]
pub struct Borrowed<'a, T>(&'a [T]);

// SAFETY: `fill` writes every slot.
unsafe impl<T: Clone + Sync> Source<T> for Borrowed<'_, T> {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }
    #[inline(always)]
    fn get(&self, member: usize) -> T {
        self.0[member].clone()
    }
    fn repeatable(&self) -> bool {
        true
    }
    #[inline(always)]
    fn fill(&self, member: usize, slots: &mut [MaybeUninit<T>]) {
        let values = &self.0[member..member + slots.len()];
        for (slot, value) in slots.iter_mut().zip(values) {
            slot.write(value.clone());
        }
    }
    #[inline(always)]
    fn slice(&self, members: Range<usize>) -> Option<&[T]> {
        Some(&self.0[members])
    }
}

impl<'a, T: Clone + Sync> Column<T> for &'a [T] {
    type Source = Borrowed<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Borrowed(self))
    }
}

impl<'a, T: Clone + Sync> Column<T> for &'a Vec<T> {
    type Source = Borrowed<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Borrowed(self))
    }
}

impl<'a, T: Clone + Sync, const N: usize> Column<T> for &'a [T; N] {
    type Source = Borrowed<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Borrowed(self))
    }
}

/// One value for all members: a column without a length.
///
/// ```
/// let tolerance = autobatch_runtime::same(1e-9);
/// # let _ = tolerance;
/// ```
pub fn same<T>(value: T) -> Same<T> {
    Same(value)
}

/// The column that [`same`] makes.
#[derive(Clone, Copy, Debug)]
pub struct Same<T>(T);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T: Clone + Sync> Source<T> for Same<T> {
    fn len(&self) -> Option<usize> {
        None
    }
    #[inline(always)]
    fn get(&self, _: usize) -> T {
        self.0.clone()
    }
    fn repeatable(&self) -> bool {
        true
    }
}

impl<T: Clone + Sync> Column<T> for Same<T> {
    type Source = Self;
    fn into_source(self, _: &'static str) -> Result<Self, BatchError> {
        Ok(self)
    }
}

impl<T: Send> Column<T> for Vec<T> {
    type Source = Owned<T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(Owned::new(self))
    }
}
