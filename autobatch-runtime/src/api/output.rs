//! Where results go.
//!
//! **Invariant:** an [`Out`] writes to the place of a member only on the thread that has the member, and at most once, or the same bits again if they
//! need no drop; its maker has borrowed the memory of all places for as long as it lives.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::options::Options;
use crate::native_stack::budget::TooMuch;
use crate::native_stack::room;

/// The member has a result, of type `R`. Values that are copied may come twice, from two engines on one thread.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn have_one<R>(flag: &AtomicBool) {
    assert!(!needs_drop::<R>() || !flag.load(Ordering::Relaxed), "a member has one result");
    flag.store(true, Ordering::Relaxed);
}

/// Which members have a result. Compiled once, whatever the type of results.
struct Set {
    len: usize,
    /// Members whose result came by itself. Made with the first of them.
    singles: OnceLock<Box<[AtomicBool]>>,
    /// Neighbours whose results came at once: from which member to which, joined. (A flag each would cost a cheap kernel a
    /// twentieth of its time.)
    ranges: Mutex<BTreeMap<usize, usize>>,
}

/// Takes results from any thread, each member's at most once. For generated code only.
#[doc(hidden)]
pub struct Out<'o, R> {
    first: *mut R,
    stride: isize,
    len: usize,
    /// Whether the memory holds values that an assignment drops.
    assign: bool,
    set: Set,
    lifetime: PhantomData<&'o mut R>,
}

// SAFETY: each place is written on the one thread that has the member, so sharing an `Out` only sends results between
// threads.
unsafe impl<R: Send> Sync for Out<'_, R> {}

impl Set {
    fn new(len: usize) -> Set {
        Set { len, singles: OnceLock::new(), ranges: Mutex::new(BTreeMap::new()) }
    }

    /// The members have results, all of them; `once` if none may have had one.
    fn add(&self, members: Range<usize>, once: bool) {
        if members.is_empty() {
            return;
        }
        let Range { mut start, mut end } = members;
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        // The range behind, and those that begin in it or before it.
        end = ranges.remove(&end).unwrap_or(end);
        while let Some((from, until)) = ranges.range(..end).next_back().map(|(from, until)| (*from, *until))
            && until >= start
        {
            assert!(!once || until == start, "a member has one result");
            ranges.remove(&from);
            (start, end) = (start.min(from), end.max(until));
        }
        ranges.insert(start, end);
    }

    /// A flag for each member whose result comes by itself.
    #[cfg_attr(optimised, inline(always))]
    fn flags(&self) -> &[AtomicBool] {
        match self.singles.get() {
            Some(flags) => flags,
            None => self.make_flags(),
        }
    }

    #[cold]
    fn make_flags(&self) -> &[AtomicBool] {
        // Unwinds without memory: the member has no result.
        self.singles.get_or_init(|| {
            let flags = Box::into_raw(room::filled(false, self.len).into_boxed_slice());
            // SAFETY: an `AtomicBool` has the layout and the values of a `bool`. (One by one they would cost more
            // than the members of a cheap kernel.)
            unsafe { Box::from_raw(flags as *mut [AtomicBool]) }
        })
    }

    /// Whether the member has a result.
    fn has(&self, member: usize) -> bool {
        let singles = || self.singles.get().is_some_and(|flags| flags[member].load(Ordering::Relaxed));
        let ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        ranges.range(..=member).next_back().is_some_and(|(_, end)| member < *end) || singles()
    }

    /// Which members have a result; `None` if all have. An error without memory to say it.
    fn into_members(self) -> Result<Option<Vec<bool>>, TooMuch> {
        let ranges = self.ranges.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.len == 0 || ranges.get(&0) == Some(&self.len) {
            return Ok(None);
        }
        let mut set = match self.singles.into_inner() {
            Some(flags) => {
                let flags = Box::into_raw(flags);
                // SAFETY: as in `flags`.
                unsafe { Box::from_raw(flags as *mut [bool]) }.into_vec()
            }
            None => {
                let mut set = Vec::new();
                if !room::has(&mut set, self.len) {
                    return Err(TooMuch);
                }
                set.resize(self.len, false);
                set
            }
        };
        ranges.into_iter().for_each(|(start, end)| set[start..end].fill(true));
        // Without an early exit it is vector code.
        let all = set.iter().fold(true, |all, set| all & set);
        Ok((!all).then_some(set))
    }
}

impl<'o, R> Out<'o, R> {
    fn new(first: *mut R, len: usize, stride: isize, assign: bool) -> Self {
        Out { first, stride, len, assign, set: Set::new(len), lifetime: PhantomData }
    }

    /// The members have results, all of them.
    pub(crate) fn have(&self, members: Range<usize>) {
        self.set.add(members, needs_drop::<R>());
    }

    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn flags(&self) -> &[AtomicBool] {
        self.set.flags()
    }

    /// Results into uninitialised memory.
    pub(crate) fn fresh(memory: &'o mut [MaybeUninit<R>]) -> Self {
        Out::new(memory.as_mut_ptr().cast(), memory.len(), 1, false)
    }

    /// Results over the values of a slice.
    pub(crate) fn over(values: &'o mut [R]) -> Self {
        Out::new(values.as_mut_ptr(), values.len(), 1, true)
    }

    /// The member's result.
    ///
    /// Panics if there is no such member, or if it has a result already that needs to be dropped. That is exact within a thread;
    /// that two threads never have the same member is the protocol of generated code (an atomic
    /// exchange here would cost as much as the whole member in a cheap kernel).
    #[cfg_attr(optimised, inline(always))]
    pub fn set(&self, member: usize, value: R) {
        have_one::<R>(&self.flags()[member]);
        // SAFETY: the index is in range (checked above), so the place lies in the borrowed memory; no other thread
        // has the member. Memory to assign to holds a value.
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
        /// Counts results, and notes them all at once.
        struct Filled<'a, 'o, R> {
            out: &'a Out<'o, R>,
            members: &'a mut Range<usize>,
            done: usize,
        }
        impl<R> Drop for Filled<'_, '_, R> {
            fn drop(&mut self) {
                let start = self.members.start;
                self.members.start += self.done;
                self.out.have(start..self.members.start);
            }
        }
        assert!(members.end <= self.len, "there are {} members", self.len);
        let (start, len) = (members.start, members.len());
        let mut filled = Filled { out: self, members, done: 0 };
        for done in 0..len {
            // Only written here: counting in memory would take longer than the members of a cheap kernel.
            filled.done = done;
            let member = start + done;
            let value = f(member);
            // SAFETY: the member's place lies in the borrowed memory (checked above), and no other thread has the member.
            unsafe { self.first.offset(self.stride * member as isize).write(value) };
        }
        filled.done = len;
    }

    /// Whether neighbours' results are copied in one go.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn copies(&self) -> bool {
        self.stride == 1 && !needs_drop::<R>()
    }

    /// Results that are copied: the first of `values`, which by the protocols are there, and used once.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn copy(&self, members: Range<usize>, values: &[MaybeUninit<R>]) {
        assert!(self.copies() && members.end <= self.len, "there are {} members", self.len);
        let values = &values[..members.len()];
        // SAFETY: the members' places lie in the borrowed memory, which no other thread writes to and where no value needs
        // dropping.
        unsafe {
            ptr::copy_nonoverlapping(values.as_ptr().cast::<R>(), self.first.add(members.start), values.len())
        };
    }

    /// Whether the member has a result.
    pub(crate) fn is_set(&self, member: usize) -> bool {
        self.set.has(member)
    }

    /// Which members have a result; `None` if all have. An error without memory to say it.
    pub(crate) fn into_set(self) -> Result<Option<Vec<bool>>, TooMuch> {
        self.set.into_members()
    }
}

/// Memory of the caller's for the results, the last argument of `f_batched_into`: `&mut [R]`, `&mut [R; N]`, `&mut Vec<R>`,
/// `ArrayViewMut1<R>` of any stride, `&mut Array1<R>`, and each of them [`with_options`].
///
/// It has one place for each member. Another length is a [`BatchError::Output`](crate::BatchError::Output), with which `f_batched_into` panics. The old values are
/// dropped. If a member is at fault, `f_batched_into` panics as `f_batched` does; places of faulty members keep their old values.
///
/// ```
/// # use autobatch::autobatch;
/// #[autobatch]
/// fn square(x: f64) -> f64 {
///     x * x
/// }
///
/// let mut squares = vec![0.0; 3];
/// square_batched_into(&[1.0, 2.0, 3.0], &mut squares);
/// assert_eq!(squares, [1.0, 4.0, 9.0]);
/// ```
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
    /// How the batch is run, if it says so.
    #[doc(hidden)]
    fn options(&self) -> Option<&Options> {
        None
    }
}

/// An output with options: `f_batched_into` runs as they say.
///
/// Places of members that are absent, see [`Options::only`], keep what they hold. A member at fault is a panic, as without options.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Options, with_options};
///
/// #[autobatch]
/// fn share(whole: u32, parts: u32) -> u32 {
///     whole / parts
/// }
///
/// let mut shares = [9; 3];
/// let options = Options::default().threads(1).only([true, false, true]);
/// share_batched_into(&[6, 7, 8], &[3, 0, 2], with_options(&mut shares, &options));
/// assert_eq!(shares, [2, 9, 4]);
/// ```
pub fn with_options<O>(output: O, options: &Options) -> WithOptions<'_, O> {
    WithOptions { output, options }
}

/// The output that [`with_options`] makes.
#[derive(Debug)]
pub struct WithOptions<'a, O> {
    output: O,
    options: &'a Options,
}

impl<R, O: Output<R>> Output<R> for WithOptions<'_, O> {
    fn room(&self) -> usize {
        self.output.room()
    }
    fn out(&mut self) -> Out<'_, R> {
        self.output.out()
    }
    fn options(&self) -> Option<&Options> {
        Some(self.options)
    }
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
    use ndarray::{Array1, ArrayViewMut1};

    use super::{Out, Output};

    /// Results over the values of a view, whatever its stride.
    fn over<'o, R>(view: &'o mut ArrayViewMut1<'_, R>) -> Out<'o, R> {
        // The pointer is that of element 0, also where the stride is negative.
        Out::new(view.as_mut_ptr(), view.len(), view.strides()[0], true)
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
            Out::new(self.as_mut_ptr(), self.len(), self.strides()[0], true)
        }
    }
}

#[cfg(test)]
mod tests;
