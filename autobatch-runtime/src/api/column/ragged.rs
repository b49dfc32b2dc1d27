//! Sequences of different lengths in one piece of memory.

use super::super::fault::BatchError;
use super::by_reference::{Each, EachMut};
use super::by_value::Column;
use super::offsets::Offsets;
use super::source::{Owned, Source};

/// Sequences of different lengths in one piece of memory, a column for `#[each] x: &[T]`: member `i` is
/// `values[offsets[i]..offsets[i + 1]]`.
///
/// There is one more offset than members. Offsets ascend, from 0 or more, up to the number of values or less: values before the first and
/// behind the last are no member's. A batched call checks that, and says what is wrong with [`BatchError::Offsets`]. Offsets are `usize`, `i32`
/// or `i64`, as [`Offsets`] says.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::Ragged;
///
/// #[autobatch]
/// fn sum(#[each] values: &[f64]) -> f64 {
///     let mut sum = 0.0;
///     for value in values {
///         sum += value;
///     }
///     sum
/// }
///
/// let rows = Ragged::new(&[1.0, 2.0, 3.0], &[0, 2, 2, 3]);
/// assert_eq!(sum_batched(rows), [3.0, 0.0, 3.0]);
///
/// // The last two of them, with the offsets that an Arrow list has.
/// let offsets: &[i32] = &[2, 2, 3];
/// assert_eq!(sum_batched(Ragged::new(&[1.0, 2.0, 3.0], offsets)), [0.0, 3.0]);
/// ```
#[derive(Debug)]
pub struct Ragged<'a, T> {
    values: &'a [T],
    offsets: Offsets<'a>,
}

impl<T> Clone for Ragged<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ragged<'_, T> {}

impl<'a, T> Ragged<'a, T> {
    /// Sequences in `values`, cut at `offsets`. The batched call checks the offsets.
    ///
    /// ```
    /// use autobatch::Ragged;
    ///
    /// let rows = Ragged::new(&[1.0, 2.0, 3.0], &[0, 2, 2, 3]);
    /// assert_eq!((rows.len(), rows.row(0)), (3, &[1.0, 2.0][..]));
    /// ```
    pub fn new(values: &'a [T], offsets: impl Into<Offsets<'a>>) -> Self {
        Ragged { values, offsets: offsets.into() }
    }

    /// The number of sequences, one less than there are offsets.
    pub fn len(&self) -> usize {
        self.offsets.members()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence of one member.
    ///
    /// # Panics
    ///
    /// If there is no such member, or if its offsets are not of the form that [`Ragged`] describes.
    pub fn row(&self, member: usize) -> &'a [T] {
        &self.values[self.offsets.range(member)]
    }
}

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: Sync> Source<&'a [T]> for Ragged<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(Ragged::len(self))
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a [T] {
        self.row(member)
    }
    fn repeatable(&self) -> bool {
        true
    }
}

impl<'a, T: Sync> Each<'a, [T]> for Ragged<'a, T> {
    type Source = Self;
    fn into_source(self, parameter: &'static str) -> Result<Self, BatchError> {
        self.offsets.check(self.values.len(), parameter)?;
        Ok(self)
    }
}

/// [`Ragged`] sequences that members change in place, a column for `x: &mut [T]`.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::RaggedMut;
///
/// /// Each value becomes the sum of all up to it.
/// #[autobatch]
/// fn accumulate(values: &mut [i32]) {
///     for i in 1..values.len() {
///         values[i] += values[i - 1];
///     }
/// }
///
/// let mut values = [3, 1, 2, 9, 8];
/// accumulate_batched(RaggedMut::new(&mut values, &[0, 3, 3, 5]));
/// assert_eq!(values, [3, 4, 6, 9, 17]);
/// ```
#[derive(Debug)]
pub struct RaggedMut<'a, T> {
    values: &'a mut [T],
    offsets: Offsets<'a>,
}

impl<'a, T> RaggedMut<'a, T> {
    /// Sequences in `values`, cut at `offsets`. The batched call checks the offsets.
    pub fn new(values: &'a mut [T], offsets: impl Into<Offsets<'a>>) -> Self {
        RaggedMut { values, offsets: offsets.into() }
    }

    /// The number of sequences, one less than there are offsets.
    pub fn len(&self) -> usize {
        self.offsets.members()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence of one member, to change before or after a batched call.
    ///
    /// ```
    /// let mut values = [3, 1, 2, 9, 8];
    /// autobatch::RaggedMut::new(&mut values, &[0, 3, 3, 5]).row(2).reverse();
    /// assert_eq!(values, [3, 1, 2, 8, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such member, or if its offsets are not of the form that [`Ragged`] describes.
    pub fn row(&mut self, member: usize) -> &mut [T] {
        &mut self.values[self.offsets.range(member)]
    }
}

impl<'a, T: Send> EachMut<'a, [T]> for RaggedMut<'a, T> {
    type Source = Owned<&'a mut [T]>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        self.offsets.check(self.values.len(), parameter)?;
        let mut rest = &mut self.values[self.offsets.first()..];
        let rows: Vec<&'a mut [T]> = (0..self.offsets.members())
            .map(|member| {
                let (row, behind) = std::mem::take(&mut rest).split_at_mut(self.offsets.range(member).len());
                rest = behind;
                row
            })
            .collect();
        Column::into_source(rows, parameter)
    }
}
