//! Columns of borrows, one per member, shared or `&mut`.

use std::ffi::{CStr, OsStr};
use std::path::Path;

use super::super::fault::BatchError;
use super::source::{Source, States};

/// A column of borrowed values for `#[each]` parameters.
///
/// For `&[T]` and `&str` (also `&Path`, `&OsStr`, `&CStr`): `&[V]`, `&Vec<V>` or `&[V; N]` of anything
/// that is `AsRef` of it, such as `Vec<T>` or `String`; for slices also [`Ragged`](super::Ragged) and the rows of an
/// `ndarray` `ArrayView2<T>` or `&Array2<T>`, as far as their values lie side by side. For `&T`: `&[T]`,
/// `&Vec<T>` or `&[T; N]`.
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
    #[inline(always)]
    fn get(&self, member: usize) -> &'a T {
        &self.0[member]
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
    #[inline(always)]
    fn get(&self, member: usize) -> &'a T {
        self.0[member].as_ref()
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

/// A column of values that members change in place, for `#[each]` parameters.
///
/// For `&mut [T]` and `&mut str`: `&mut [V]`, `&mut Vec<V>` or `&mut [V; N]` of anything that is `AsMut`
/// of it, such as `Vec<T>` or `[T; N]`; for slices also [`RaggedMut`](super::RaggedMut) and the rows of an `ndarray`
/// `ArrayViewMut2<T>` or `&mut Array2<T>`. For `&mut T`: `&mut [T]`, `&mut Vec<T>` or `&mut [T; N]`.
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
    #[inline(always)]
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
