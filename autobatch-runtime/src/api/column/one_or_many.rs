//! A column that turns out at run time to be one value for all members, or another column.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::super::fault::BatchError;
use super::by_reference::Each;
use super::by_value::{Column, Same, same};
use super::source::{IsCopy, Source};

/// One value for all members, as [`same`] has it, or a column with a value for each, whichever it is at run time.
///
/// It is for hosts whose arguments may be either, such as the columns and literals of a query, or the operands of a broadcast. For `x: T` the
/// column is any [`Column`] of `T`; for `#[each] x: &T` the value is a `&T`, and the column any [`Each`]. Neighbours are still read at once:
/// what the column is, is asked for many members at a time.
///
/// If all columns of a call are one value the batch has no length: a [`BatchError::NoLength`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::OneOrMany;
///
/// #[autobatch]
/// fn power(x: f64, n: u32) -> f64 {
///     let mut power = 1.0;
///     for _ in 0..n {
///         power *= x;
///     }
///     power
/// }
///
/// fn powers(x: OneOrMany<&[f64], f64>, n: OneOrMany<&[u32], u32>) -> Vec<f64> {
///     power_batched(x, n)
/// }
///
/// assert_eq!(powers(OneOrMany::Many(&[2.0, 3.0]), OneOrMany::One(2)), [4.0, 9.0]);
/// assert_eq!(powers(OneOrMany::One(2.0), OneOrMany::Many(&[0, 10])), [1.0, 1024.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum OneOrMany<C, T> {
    /// One value for all members.
    One(T),
    /// A column.
    Many(C),
}

/// Either source.
#[doc(hidden)]
pub enum OneOrManySource<S, T> {
    One(Same<T>),
    Many(S),
}

// SAFETY: `fill` is that of a source, which writes every slot.
unsafe impl<T: Clone + Sync, S: Source<T>> Source<T> for OneOrManySource<S, T> {
    fn len(&self) -> Option<usize> {
        match self {
            OneOrManySource::One(_) => None,
            OneOrManySource::Many(source) => source.len(),
        }
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> T {
        match self {
            OneOrManySource::One(source) => source.get(member),
            OneOrManySource::Many(source) => source.get(member),
        }
    }
    fn repeatable(&self) -> bool {
        match self {
            OneOrManySource::One(_) => true,
            OneOrManySource::Many(source) => source.repeatable(),
        }
    }
    fn hand_out_copies(&mut self, is_copy: IsCopy<T>) {
        if let OneOrManySource::Many(source) = self {
            source.hand_out_copies(is_copy);
        }
    }
    #[cfg_attr(optimised, inline(always))]
    fn fill(&self, member: usize, slots: &mut [MaybeUninit<T>]) {
        match self {
            OneOrManySource::One(source) => source.fill(member, slots),
            OneOrManySource::Many(source) => source.fill(member, slots),
        }
    }
    #[cfg_attr(optimised, inline(always))]
    fn slice(&self, members: Range<usize>) -> Option<&[T]> {
        match self {
            OneOrManySource::One(_) => None,
            OneOrManySource::Many(source) => source.slice(members),
        }
    }
}

impl<T: Clone + Sync, C: Column<T>> Column<T> for OneOrMany<C, T> {
    type Source = OneOrManySource<C::Source, T>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Ok(match self {
            OneOrMany::One(value) => OneOrManySource::One(same(value)),
            OneOrMany::Many(column) => OneOrManySource::Many(column.into_source(parameter)?),
        })
    }
}

impl<'a, T: ?Sized + Sync + 'a, C: Each<'a, T>> Each<'a, T> for OneOrMany<C, &'a T> {
    type Source = OneOrManySource<C::Source, &'a T>;
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Ok(match self {
            OneOrMany::One(value) => OneOrManySource::One(same(value)),
            OneOrMany::Many(column) => OneOrManySource::Many(column.into_source(parameter)?),
        })
    }
}
