//! Sequences of different lengths in one piece of memory.

use super::super::fault::{BadOffsets, BatchError};
use super::by_reference::{Each, EachMut};
use super::by_value::Column;
use super::source::{Owned, Source};

/// Sequences of different lengths in one piece of memory, a column for `#[each] x: &[T]`: member `i` is
/// `values[offsets[i]..offsets[i + 1]]`.
///
/// There is one more offset than members. Offsets begin with 0, ascend, and end with the number of values. A
/// batched call checks that, and says what is wrong with [`BatchError::Offsets`].
///
/// ```
/// # extern crate autobatch_runtime as autobatch;
/// # use autobatch_macros::autobatch;
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
/// ```
#[derive(Debug)]
pub struct Ragged<'a, T> {
    values: &'a [T],
    offsets: &'a [usize],
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
    /// # use autobatch_runtime as autobatch;
    /// use autobatch::Ragged;
    ///
    /// let rows = Ragged::new(&[1.0, 2.0, 3.0], &[0, 2, 2, 3]);
    /// assert_eq!((rows.len(), rows.row(0)), (3, &[1.0, 2.0][..]));
    /// ```
    pub fn new(values: &'a [T], offsets: &'a [usize]) -> Self {
        Ragged { values, offsets }
    }

    /// The number of sequences, one less than there are offsets.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
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
        &self.values[self.offsets[member]..self.offsets[member + 1]]
    }
}

/// Says what is wrong with the offsets, if anything is.
fn check(values: usize, offsets: &[usize], parameter: &'static str) -> Result<(), BatchError> {
    let wrong = match (offsets.first(), offsets.last()) {
        (Some(0), Some(last)) => match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            Some(at) => BadOffsets::Descend { at, offset: offsets[at], next: offsets[at + 1] },
            None if *last == values => return Ok(()),
            None => BadOffsets::End { last: *last, values },
        },
        (Some(first), _) => BadOffsets::Start { first: *first },
        (None, _) => BadOffsets::None,
    };
    Err(BatchError::Offsets { parameter, wrong })
}

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: Sync> Source<&'a [T]> for Ragged<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(Ragged::len(self))
    }
    #[inline(always)]
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
        check(self.values.len(), self.offsets, parameter)?;
        Ok(self)
    }
}

/// [`Ragged`] sequences that members change in place, a column for `x: &mut [T]`.
///
/// ```
/// # extern crate autobatch_runtime as autobatch;
/// # use autobatch_macros::autobatch;
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
    offsets: &'a [usize],
}

impl<'a, T> RaggedMut<'a, T> {
    /// Sequences in `values`, cut at `offsets`. The batched call checks the offsets.
    pub fn new(values: &'a mut [T], offsets: &'a [usize]) -> Self {
        RaggedMut { values, offsets }
    }

    /// The number of sequences, one less than there are offsets.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence of one member, to change before or after a batched call.
    ///
    /// ```
    /// # use autobatch_runtime as autobatch;
    /// let mut values = [3, 1, 2, 9, 8];
    /// autobatch::RaggedMut::new(&mut values, &[0, 3, 3, 5]).row(2).reverse();
    /// assert_eq!(values, [3, 1, 2, 8, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such member, or if its offsets are not of the form that [`Ragged`] describes.
    pub fn row(&mut self, member: usize) -> &mut [T] {
        &mut self.values[self.offsets[member]..self.offsets[member + 1]]
    }
}

impl<'a, T: Send> EachMut<'a, [T]> for RaggedMut<'a, T> {
    type Source = Owned<&'a mut [T]>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        check(self.values.len(), self.offsets, parameter)?;
        let mut rest = self.values;
        let rows: Vec<&'a mut [T]> = (self.offsets.windows(2))
            .map(|pair| {
                let (row, behind) = std::mem::take(&mut rest).split_at_mut(pair[1] - pair[0]);
                rest = behind;
                row
            })
            .collect();
        Column::into_source(rows, parameter)
    }
}
