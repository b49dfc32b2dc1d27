//! Columns of borrows, one per member, shared or `&mut`.

use std::ffi::{CStr, OsStr};
use std::path::Path;

use super::super::fault::BatchError;
use super::source::{Source, States};

/// A column for an `#[each]` parameter: one borrowed value per member.
///
/// | parameter | column |
/// |---|---|
/// | `#[each] x: &T` of any kind | `Vec<&T>`; [`OneOrMany`](crate::OneOrMany) of `&T` and another of these columns |
/// | `#[each] x: &T` | `&[T]`, `&Vec<T>`, `&[T; N]` |
/// | `#[each] x: &[T]` | `&[V]`, `&Vec<V>`, `&[V; N]` with `V: AsRef<[T]>`, such as `Vec<T>`; [`Ragged`](super::Ragged); rows of `ndarray`'s `ArrayView2<T>`, `&Array2<T>` |
/// | `#[each] x: &str`, `&Path`, `&OsStr`, `&CStr` | `&[V]`, `&Vec<V>`, `&[V; N]` with `V: AsRef<…>`, such as `String` |
///
/// Rows whose values don't lie side by side are a [`BatchError::Scattered`], offsets that don't fit a [`BatchError::Offsets`].
///
/// ```
/// # use autobatch::autobatch;
/// #[autobatch]
/// fn digits(#[each] text: &str) -> u32 {
///     let mut sum = 0;
///     for character in text.chars() {
///         sum += character.to_digit(10).unwrap_or(0);
///     }
///     sum
/// }
///
/// assert_eq!(digits_batched(&["12", "3 + 4", ""]), [3, 7, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a column of borrowed `{T}`",
    label = "expected one borrowed `{T}` per member",
    note = "an `#[each]` column is `&[V]` with `V: AsRef<[T]>` for slices, `V: AsRef<str>` for strings, `&[T]` for `&T`, or `Ragged`"
)]
pub trait Each<'a, T: ?Sized + 'a> {
    /// What hands the members out.
    #[doc(hidden)]
    type Source: Source<&'a T>;
    /// Makes the source; `parameter` is the name for messages.
    #[doc(hidden)]
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError>;
}

/// Members borrowed as they are.
#[doc(hidden)]
pub struct EachItem<'a, T>(&'a [T]);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: Sync> Source<&'a T> for EachItem<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a T {
        &self.0[member]
    }
    fn repeatable(&self) -> bool {
        true
    }
}

/// Members borrowed one by one.
#[doc(hidden)]
pub struct EachOf<'a, T: ?Sized>(Vec<&'a T>);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: ?Sized + Sync> Source<&'a T> for EachOf<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a T {
        self.0[member]
    }
    fn repeatable(&self) -> bool {
        true
    }
}

impl<'a, T: ?Sized + Sync> Each<'a, T> for Vec<&'a T> {
    type Source = EachOf<'a, T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        Ok(EachOf(self))
    }
}

/// Members borrowed through `AsRef`.
#[doc(hidden)]
pub struct EachRef<'a, V>(&'a [V]);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: ?Sized + 'a, V: AsRef<T> + Sync> Source<&'a T> for EachRef<'a, V> {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a T {
        self.0[member].as_ref()
    }
    fn repeatable(&self) -> bool {
        true
    }
}

/// What a slice of members is a column of. One list per target rather than one `impl` for all, so
/// that values which are not `AsRef` of themselves can be members as they are.
macro_rules! each {
    ($($source:ident, [$($generics:tt)*], $target:ty, $item:ty;)*) => {$(
        impl<'a, $($generics)*> Each<'a, $target> for &'a [$item] {
            type Source = $source<'a, $item>;
            fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
                Ok($source(self))
            }
        }

        impl<'a, $($generics)*> Each<'a, $target> for &'a Vec<$item> {
            type Source = $source<'a, $item>;
            fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
                Ok($source(self))
            }
        }

        impl<'a, $($generics)*, const N: usize> Each<'a, $target> for &'a [$item; N] {
            type Source = $source<'a, $item>;
            fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
                Ok($source(self))
            }
        }
    )*};
}

each! {
    EachItem, [T: Sync], T, T;
    EachRef, [T: 'a, V: AsRef<[T]> + Sync], [T], V;
    EachRef, [V: AsRef<str> + Sync], str, V;
    EachRef, [V: AsRef<Path> + Sync], Path, V;
    EachRef, [V: AsRef<OsStr> + Sync], OsStr, V;
    EachRef, [V: AsRef<CStr> + Sync], CStr, V;
}

/// A column of values that members change in place, for a parameter `x: &mut [T]` (or `#[each] x: &mut T`, `&mut str`).
///
/// | parameter | column |
/// |---|---|
/// | `#[each] x: &mut T` | `&mut [T]`, `&mut Vec<T>`, `&mut [T; N]` |
/// | `x: &mut [T]` | `&mut [V]`, `&mut Vec<V>`, `&mut [V; N]` with `V: AsMut<[T]>`, such as `Vec<T>`; [`RaggedMut`](super::RaggedMut); rows of `ndarray`'s `ArrayViewMut2<T>`, `&mut Array2<T>` |
/// | `#[each] x: &mut str` | `&mut [V]`, `&mut Vec<V>`, `&mut [V; N]` with `V: AsMut<str>` |
///
/// Rows whose values don't lie side by side are a [`BatchError::Scattered`]. What a member at fault was to change is valid, its value unspecified.
///
/// ```
/// # use autobatch::autobatch;
/// /// Makes the values sum up to 1, and returns what the sum was.
/// #[autobatch]
/// fn normalise(values: &mut [f64]) -> f64 {
///     let sum: f64 = values.iter().sum();
///     for value in values {
///         *value /= sum;
///     }
///     sum
/// }
///
/// let mut rows = vec![vec![1.0, 3.0], vec![2.0]];
/// assert_eq!(normalise_batched(&mut rows), [4.0, 2.0]);
/// assert_eq!(rows, [vec![0.25, 0.75], vec![1.0]]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a column of mutable `{T}`",
    label = "expected one mutable `{T}` per member",
    note = "an `#[each] &mut` column is `&mut [V]` with `V: AsMut<[T]>` for slices, `&mut [T]` for `&mut T`, or `RaggedMut`"
)]
pub trait EachMut<'a, T: ?Sized + 'a> {
    /// What hands the members out.
    #[doc(hidden)]
    type Source: Source<&'a mut T>;
    /// Makes the source; `parameter` is the name for messages.
    #[doc(hidden)]
    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError>;
}

/// Members borrowed mutably through `AsMut`.
#[doc(hidden)]
pub struct EachState<'a, V>(States<'a, V>);

impl<'a, V> EachState<'a, V> {
    fn new(members: &'a mut [V]) -> Self {
        EachState(States::new(members))
    }
}

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: ?Sized + 'a, V: AsMut<T> + Send> Source<&'a mut T> for EachState<'a, V> {
    fn len(&self) -> Option<usize> {
        Source::len(&self.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a mut T {
        self.0.get(member).as_mut()
    }
}

macro_rules! each_mut {
    ($($source:ident, [$($generics:tt)*], $target:ty, $item:ty;)*) => {$(
        impl<'a, $($generics)*> EachMut<'a, $target> for &'a mut [$item] {
            type Source = $source<'a, $item>;
            fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
                Ok($source::new(self))
            }
        }

        impl<'a, $($generics)*> EachMut<'a, $target> for &'a mut Vec<$item> {
            type Source = $source<'a, $item>;
            fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
                Ok($source::new(self))
            }
        }

        impl<'a, $($generics)*, const N: usize> EachMut<'a, $target> for &'a mut [$item; N] {
            type Source = $source<'a, $item>;
            fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
                Ok($source::new(self))
            }
        }
    )*};
}

each_mut! {
    States, [T: Send], T, T;
    EachState, [T: 'a, V: AsMut<[T]> + Send], [T], V;
    EachState, [V: AsMut<str> + Send], str, V;
}
