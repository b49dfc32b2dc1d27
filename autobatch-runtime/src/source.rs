//! Where members' values come from: columns of every kind.

use std::ffi::{CStr, OsStr};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fault::BatchError;
use crate::lockstep::is_plain;

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

/// Hands out members; each at most once. For generated code only.
///
/// # Safety
///
/// `fill` writes every slot that it is given: they count as values behind it.
#[doc(hidden)]
// A source without a length is not empty either.
#[allow(clippy::len_without_is_empty)]
pub unsafe trait Source<T>: Sync {
    /// The number of members, unless any number will do.
    fn len(&self) -> Option<usize>;
    /// The value of one member.
    fn get(&self, member: usize) -> T;
    /// Whether a member's value can be had again.
    fn repeatable(&self) -> bool {
        false
    }
    /// The values of neighbouring members.
    #[inline(always)]
    fn fill(&self, member: usize, slots: &mut [MaybeUninit<T>]) {
        for (nth, slot) in slots.iter_mut().enumerate() {
            slot.write(self.get(member + nth));
        }
    }
    /// The values of neighbouring members where they are, if they stand side by side.
    #[inline(always)]
    fn slice(&self, _members: Range<usize>) -> Option<&[T]> {
        None
    }
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

/// Which members were handed out: guards what may happen once only.
///
/// A load and a store rather than one atomic exchange (measured: 1 ns and 5 ns per member, which is
/// what a whole member of a cheap kernel takes). It is exact within a thread; that two threads never ask for the same member is the
/// protocol of generated code: the queue gives each member to one worker.
struct Once(Box<[AtomicBool]>);

impl Once {
    fn new(len: usize) -> Once {
        Once((0..len).map(|_| AtomicBool::new(false)).collect())
    }

    /// Marks the member.
    ///
    /// Panics if there is no such member, or if it was marked before.
    #[inline(always)]
    fn claim(&self, member: usize) {
        let taken = &self.0[member];
        assert!(!taken.load(Ordering::Relaxed), "a member is handed out once");
        taken.store(true, Ordering::Relaxed);
    }
}

/// An owned column, moved from.
#[doc(hidden)]
pub struct Owned<T> {
    values: Vec<MaybeUninit<T>>,
    taken: Once,
}

// SAFETY: `get` moves each value out at most once, on the one thread that has the member (see `Once`),
// so sharing the source only ever sends values to other threads.
unsafe impl<T: Send> Sync for Owned<T> {}

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T: Send> Source<T> for Owned<T> {
    fn len(&self) -> Option<usize> {
        Some(self.values.len())
    }
    #[inline(always)]
    fn get(&self, member: usize) -> T {
        if !self.repeatable() {
            self.taken.claim(member);
        }
        // SAFETY: initialised by construction, and `claim` lets only one caller through per member; numbers
        // may be copied.
        unsafe { self.values[member].assume_init_read() }
    }
    #[inline(always)]
    fn repeatable(&self) -> bool {
        is_plain::<T>()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        for (value, taken) in self.values.iter_mut().zip(&mut self.taken.0) {
            if !*taken.get_mut() {
                // SAFETY: initialised by construction and never moved out.
                unsafe { value.assume_init_drop() }
            }
        }
    }
}

impl<T: Send> Column<T> for Vec<T> {
    type Source = Owned<T>;
    fn into_source(self, _: &'static str) -> Result<Self::Source, BatchError> {
        let taken = Once::new(self.len());
        Ok(Owned { values: self.into_iter().map(MaybeUninit::new).collect(), taken })
    }
}

/// Per-member state for `&mut T` parameters: hands out each element's reference once.
#[doc(hidden)]
pub struct States<'a, T> {
    first: *mut T,
    taken: Once,
    lifetime: PhantomData<&'a mut [T]>,
}

// SAFETY: each element's reference is handed out at most once, to the one thread that has the member
// (see `Once`), so sharing the source sends disjoint `&mut T` to other threads, which needs `T: Send`.
unsafe impl<T: Send> Sync for States<'_, T> {}

impl<'a, T> States<'a, T> {
    /// Takes the borrow of all states.
    pub fn new(states: &'a mut [T]) -> Self {
        States { taken: Once::new(states.len()), first: states.as_mut_ptr(), lifetime: PhantomData }
    }
}

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<'a, T: Send> Source<&'a mut T> for States<'a, T> {
    fn len(&self) -> Option<usize> {
        Some(self.taken.0.len())
    }
    #[inline(always)]
    fn get(&self, member: usize) -> &'a mut T {
        self.taken.claim(member);
        // SAFETY: `claim` has checked the index and lets only one caller through per element; the
        // slice is borrowed mutably for 'a by this source alone.
        unsafe { &mut *self.first.add(member) }
    }
}

/// A column of borrowed values for `#[each]` parameters.
///
/// For `&[T]` and `&str` (also `&Path`, `&OsStr`, `&CStr`): `&[V]`, `&Vec<V>` or `&[V; N]` of anything
/// that is `AsRef` of it, such as `Vec<T>` or `String`; for slices also [`Ragged`] and the rows of an
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
/// of it, such as `Vec<T>` or `[T; N]`; for slices also [`RaggedMut`] and the rows of an `ndarray`
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

#[cfg(feature = "ndarray")]
mod arrays;
mod ragged;

pub use ragged::{Ragged, RaggedMut};

#[cfg(test)]
mod tests;
