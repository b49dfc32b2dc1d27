//! Where results go.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::nest::Members;

/// Takes results from any thread, each member's at most once. For generated code only.
#[doc(hidden)]
pub struct Out<'o, R> {
    first: *mut R,
    stride: isize,
    /// Whether the memory holds values that an assignment drops.
    assign: bool,
    set: Box<[AtomicBool]>,
    lifetime: PhantomData<&'o mut R>,
}

// SAFETY: `set` writes each place at most once, on the one thread that has the member, so sharing an
// `Out` only sends results between threads.
unsafe impl<R: Send> Sync for Out<'_, R> {}

impl<'o, R> Out<'o, R> {
    fn flags(len: usize) -> Box<[AtomicBool]> {
        let flags = Box::into_raw(vec![false; len].into_boxed_slice());
        // SAFETY: an `AtomicBool` has the layout and the values of a `bool`. (One by one they would cost more
        // than the members of a cheap kernel.)
        unsafe { Box::from_raw(flags as *mut [AtomicBool]) }
    }

    /// The flags of members that only this thread has, all of them without a result.
    fn flags_of(&self, members: &Range<usize>) -> &[AtomicBool] {
        let set = &self.set[members.clone()];
        // SAFETY: a `bool` each (see `flags`), which no other thread writes: it does not have the members.
        let plain = unsafe { std::slice::from_raw_parts(set.as_ptr().cast::<bool>(), set.len()) };
        // Without an early exit, so that it is vector code.
        assert!(!plain.iter().fold(false, |any, set| any | set), "a member has one result");
        set
    }

    /// Results into uninitialised memory.
    pub(crate) fn fresh(memory: &'o mut [MaybeUninit<R>]) -> Self {
        let set = Self::flags(memory.len());
        Out { first: memory.as_mut_ptr().cast(), stride: 1, assign: false, set, lifetime: PhantomData }
    }

    /// Results over the values of a slice.
    pub(crate) fn over(values: &'o mut [R]) -> Self {
        let set = Self::flags(values.len());
        Out { first: values.as_mut_ptr(), stride: 1, assign: true, set, lifetime: PhantomData }
    }

    /// The member's result.
    ///
    /// Panics if there is no such member, or if it has a result already. That is exact within a thread;
    /// that two threads never have the same member is the protocol of generated code (an atomic
    /// exchange here would cost as much as the whole member in a cheap kernel).
    #[inline(always)]
    pub fn set(&self, member: usize, value: R) {
        let set = &self.set[member];
        assert!(!set.load(Ordering::Relaxed), "a member has one result");
        set.store(true, Ordering::Relaxed);
        // SAFETY: the index is in range (checked above), so the place lies in the borrowed memory; the
        // flag makes this the only access to it. Memory to assign to holds a value.
        unsafe {
            let place = self.first.offset(self.stride * member as isize);
            if self.assign { *place = value } else { place.write(value) }
        }
    }

    /// The results of consecutive members, in order. `members` are those that are left, also when `f`
    /// unwinds: then the first of them is the one that did.
    pub(crate) fn fill(&self, members: &mut Range<usize>, f: impl Fn(usize) -> R) {
        if self.assign {
            while members.start < members.end {
                self.set(members.start, f(members.start));
                members.start += 1;
            }
            return;
        }
        /// Counts results, and flags them all at once.
        struct Filled<'a> {
            members: &'a mut Range<usize>,
            set: &'a [AtomicBool],
            done: usize,
        }
        impl Drop for Filled<'_> {
            fn drop(&mut self) {
                let set = self.set[..self.done].as_ptr().cast_mut().cast::<bool>();
                // SAFETY: flags may be written through a shared reference, and no other thread has the members.
                unsafe { set.write_bytes(1, self.done) };
                self.members.start += self.done;
            }
        }
        let (start, set) = (members.start, self.flags_of(members));
        let mut filled = Filled { members, set, done: 0 };
        for done in 0..set.len() {
            // Only written here: counting in memory would take longer than the members of a cheap kernel.
            filled.done = done;
            let member = start + done;
            let value = f(member);
            // SAFETY: the member is one of `set`, so its place lies in the borrowed memory; no result has
            // been written there, and none will be elsewhere, since the flags follow.
            unsafe { self.first.offset(self.stride * member as isize).write(value) };
        }
        filled.done = set.len();
    }

    /// The results of consecutive members, which are the values of the first lanes of a column.
    #[inline(always)]
    pub fn store(&self, members: Members, column: &[MaybeUninit<R>]) {
        let mut members = members.range();
        let first = members.start;
        let column = &column[..members.len()];
        if self.stride == 1 && !needs_drop::<R>() {
            let set = self.flags_of(&members);
            // SAFETY: the members are some of `set`, so that their places lie in the borrowed memory, which no
            // other thread writes to and where no value needs dropping. By the protocol of nested frames each
            // of these lanes has a value, which is used once. Flags may be written through a shared reference.
            unsafe {
                ptr::copy_nonoverlapping(column.as_ptr().cast::<R>(), self.first.add(first), column.len());
                set.as_ptr().cast_mut().cast::<bool>().write_bytes(1, set.len());
            }
            return;
        }
        // SAFETY: by the protocol of nested frames each of these lanes has a value, which is used once.
        self.fill(&mut members, |member| unsafe { column[member - first].assume_init_read() });
    }

    /// Whether the member has a result.
    pub(crate) fn is_set(&self, member: usize) -> bool {
        self.set[member].load(Ordering::Relaxed)
    }

    /// Which members have a result.
    pub(crate) fn into_set(self) -> Vec<bool> {
        let flags = Box::into_raw(self.set);
        // SAFETY: as in `flags`.
        unsafe { Box::from_raw(flags as *mut [bool]) }.into_vec()
    }
}

/// Memory for results that the caller owns: `&mut [R]`, `&mut Vec<R>`, `ArrayViewMut1<R>` of any
/// stride, `&mut Array1<R>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't take results of type `{R}`",
    note = "results go into `&mut [{R}]`, `&mut Vec<{R}>`, `ArrayViewMut1<{R}>` or `&mut Array1<{R}>`"
)]
pub trait Output<R> {
    /// The number of results it has room for.
    #[doc(hidden)]
    fn room(&self) -> usize;
    /// Where they go.
    #[doc(hidden)]
    fn out(&mut self) -> Out<'_, R>;
}

impl<R> Output<R> for &mut [R] {
    fn room(&self) -> usize {
        self.len()
    }
    fn out(&mut self) -> Out<'_, R> {
        Out::over(self)
    }
}

impl<R, const N: usize> Output<R> for &mut [R; N] {
    fn room(&self) -> usize {
        N
    }
    fn out(&mut self) -> Out<'_, R> {
        Out::over(&mut self[..])
    }
}

impl<R> Output<R> for &mut Vec<R> {
    fn room(&self) -> usize {
        self.len()
    }
    fn out(&mut self) -> Out<'_, R> {
        Out::over(self)
    }
}

#[cfg(feature = "ndarray")]
mod arrays {
    use std::marker::PhantomData;

    use ndarray::{Array1, ArrayViewMut1};

    use super::{Out, Output};

    /// Results over the values of a view, whatever its stride.
    fn over<'o, R>(view: &'o mut ArrayViewMut1<'_, R>) -> Out<'o, R> {
        let set = Out::<R>::flags(view.len());
        // The pointer is that of element 0, also where the stride is negative.
        Out { stride: view.strides()[0], first: view.as_mut_ptr(), assign: true, set, lifetime: PhantomData }
    }

    impl<R> Output<R> for ArrayViewMut1<'_, R> {
        fn room(&self) -> usize {
            self.len()
        }
        fn out(&mut self) -> Out<'_, R> {
            over(self)
        }
    }

    impl<R> Output<R> for &mut ArrayViewMut1<'_, R> {
        fn room(&self) -> usize {
            self.len()
        }
        fn out(&mut self) -> Out<'_, R> {
            over(self)
        }
    }

    impl<R> Output<R> for &mut Array1<R> {
        fn room(&self) -> usize {
            self.len()
        }
        fn out(&mut self) -> Out<'_, R> {
            let set = Out::<R>::flags(self.len());
            Out {
                stride: self.strides()[0],
                first: self.as_mut_ptr(),
                assign: true,
                set,
                lifetime: PhantomData,
            }
        }
    }
}

#[cfg(test)]
mod tests;
