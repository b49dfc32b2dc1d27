//! Columns of values: slices that are cloned from, vectors that are moved from, one value for all.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::fault::BatchError;
use super::source::{Owned, Source};

/// A column of a batch: one `T` per member, for a parameter `x: T`.
///
/// | column | members | each member's value is |
/// |---|---|---|
/// | `&[T]`, `&Vec<T>`, `&[T; N]` | the elements | cloned when the member begins |
/// | `Vec<T>` | the elements | moved |
/// | [`same`]`(value)` | as many as the other columns have | cloned |
/// | [`OneOrMany`](crate::OneOrMany) | either, as it turns out at run time | cloned, or as the column has it |
/// | `ndarray`'s `ArrayView1<T>` of any stride, `&Array1<T>` | the elements | cloned |
/// | `ArrayView2<T>`, `&Array2<T>` for `[T; D]`, `Array1<T>` | the rows | cloned |
/// | `ArrayView2<T>`, `&Array2<T>` for `ArrayView1<'_, T>` | the rows | borrowed |
///
/// All columns of a call have the same length; another length is a [`BatchError::Length`]. An array for `[T; D]` has D columns; another
/// number is a [`BatchError::Shape`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::same;
/// use ndarray::array;
///
/// #[autobatch]
/// fn distance(point: [f64; 2], from: [f64; 2], scale: f64) -> f64 {
///     scale * (point[0] - from[0]).hypot(point[1] - from[1])
/// }
///
/// # #[cfg(feature = "ndarray")] {
/// let points = array![[3.0, 4.0], [0.0, 0.0]]; // row i is member i
/// let from = vec![[0.0, 0.0], [5.0, 12.0]];    // moved
/// assert_eq!(distance_batched(&points, from, same(2.0)), [10.0, 26.0]);
/// # }
/// ```
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
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> T {
        self.0[member].clone()
    }
    fn repeatable(&self) -> bool {
        true
    }
    #[cfg_attr(optimised, inline(always))]
    fn fill(&self, member: usize, slots: &mut [MaybeUninit<T>]) {
        let values = &self.0[member..member + slots.len()];
        for (slot, value) in slots.iter_mut().zip(values) {
            slot.write(value.clone());
        }
    }
    #[cfg_attr(optimised, inline(always))]
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

/// One value for all members, cloned for each: a column without a length.
///
/// At least one other column has to have a length, else the call is a [`BatchError::NoLength`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::same;
///
/// #[autobatch]
/// fn root(x: f64, tolerance: f64) -> f64 {
///     let mut y = x;
///     while (y * y - x).abs() > tolerance {
///         y = 0.5 * (y + x / y);
///     }
///     y
/// }
///
/// let roots = root_batched(&[4.0, 9.0], same(1e-9));
/// assert_eq!(roots, [root(4.0, 1e-9), root(9.0, 1e-9)]);
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
    #[cfg_attr(optimised, inline(always))]
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
