//! Handing out members, each at most once.
//!
//! **Invariant:** what an [`Owned`] or a [`States`] hands out it hands out once: `Once` checks it within a thread, and the queue gives each member
//! to one worker.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::native_stack::room;
use crate::probes::type_id::is_plain;

/// The proof that a type is `Copy`: there is none of others.
#[doc(hidden)]
pub struct IsCopy<T>(PhantomData<fn() -> T>);

impl<T: Copy> IsCopy<T> {
    /// Of this one.
    pub(super) fn proof() -> Self {
        IsCopy(PhantomData)
    }
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
    /// Hands out copies from here on, if it has moved values out.
    fn hand_out_copies(&mut self, _: IsCopy<T>) {}
    /// The values of neighbouring members.
    #[cfg_attr(optimised, inline(always))]
    fn fill(&self, member: usize, slots: &mut [MaybeUninit<T>]) {
        for (nth, slot) in slots.iter_mut().enumerate() {
            slot.write(self.get(member + nth));
        }
    }
    /// The values of neighbouring members where they are, if they stand side by side.
    #[cfg_attr(optimised, inline(always))]
    fn slice(&self, _members: Range<usize>) -> Option<&[T]> {
        None
    }
}

/// Which members were handed out: guards what may happen once only.
///
/// A load and a store rather than one atomic exchange (measured: 1 ns and 5 ns per member, which is
/// what a whole member of a cheap kernel takes). It is exact within a thread; that two threads never ask for the same member is the
/// protocol of generated code: the queue gives each member to one worker.
struct Once {
    taken: Vec<AtomicBool>,
    /// The members. Without memory for so many flags there are none.
    len: usize,
}

impl Once {
    fn new(len: usize) -> Once {
        let mut taken = Vec::new();
        if taken.try_reserve_exact(len).is_ok() {
            taken.resize_with(len, || AtomicBool::new(false));
        }
        Once { taken, len }
    }

    /// Marks the member.
    ///
    /// Panics if there is no such member, or if it was marked before.
    #[cfg_attr(optimised, inline(always))]
    fn claim(&self, member: usize) {
        self.check(member).store(true, Ordering::Relaxed);
    }

    /// The member's mark, which is not set.
    ///
    /// Panics if there is no such member, or if it was marked before.
    #[cfg_attr(optimised, inline(always))]
    fn check(&self, member: usize) -> &AtomicBool {
        let Some(taken) = self.taken.get(member) else { self.refused(member) };
        assert!(!taken.load(Ordering::Relaxed), "a member is handed out once");
        taken
    }

    /// Ends the member that nobody can take.
    #[cold]
    fn refused(&self, member: usize) -> ! {
        assert!(member < self.len, "there are {} members", self.len);
        room::refused()
    }
}

/// An owned column, moved from, or copied.
#[doc(hidden)]
pub struct Owned<T> {
    values: Vec<MaybeUninit<T>>,
    taken: Once,
    /// Whether `T` is `Copy`.
    copies: bool,
}

// SAFETY: `get` moves each value out at most once, on the one thread that has the member (see `Once`),
// so sharing the source only ever sends values to other threads.
unsafe impl<T: Send> Sync for Owned<T> {}

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T: Send> Source<T> for Owned<T> {
    fn len(&self) -> Option<usize> {
        Some(self.values.len())
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> T {
        if !self.repeatable() {
            self.taken.claim(member);
        }
        // SAFETY: initialised by construction, and `claim` lets only one caller through per member; numbers and what is `Copy`
        // may be copied.
        unsafe { self.values[member].assume_init_read() }
    }
    #[cfg_attr(optimised, inline(always))]
    fn repeatable(&self) -> bool {
        is_plain::<T>() || self.copies
    }
    fn hand_out_copies(&mut self, _: IsCopy<T>) {
        self.copies = true;
        self.taken = Once::new(0);
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // Neither numbers nor what is `Copy` has anything to drop.
        if is_plain::<T>() || self.copies {
            return;
        }
        let taken = &mut self.taken.taken;
        for (nth, value) in self.values.iter_mut().enumerate() {
            if !taken.get_mut(nth).is_some_and(|taken| *taken.get_mut()) {
                // SAFETY: initialised by construction and never moved out.
                unsafe { value.assume_init_drop() }
            }
        }
    }
}

impl<T> Owned<T> {
    /// Takes the values.
    pub(super) fn new(values: Vec<T>) -> Self {
        // Numbers may be copied.
        let taken = Once::new(if is_plain::<T>() { 0 } else { values.len() });
        Owned { values: values.into_iter().map(MaybeUninit::new).collect(), taken, copies: false }
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
        Some(self.taken.len)
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> &'a mut T {
        self.taken.claim(member);
        // SAFETY: `claim` has checked the index and lets only one caller through per element; the
        // slice is borrowed mutably for 'a by this source alone.
        unsafe { &mut *self.first.add(member) }
    }
}

/// States as values, for code that hands back what becomes of them.
#[doc(hidden)]
pub trait StateSource<T>: Sync {
    /// A copy of a member's state, which stays where it is.
    ///
    /// Panics if the member was handed out.
    fn value(&self, member: usize) -> T;
    /// A member's state from here on. The member is not handed out any more.
    fn put(&self, member: usize, state: T);
}

impl<T: Send> StateSource<T> for States<'_, T> {
    #[cfg_attr(optimised, inline(always))]
    fn value(&self, member: usize) -> T {
        // Not a constant: code for states that are owned exists, and is never run.
        assert!(!needs_drop::<T>(), "only states that own nothing are values");
        self.taken.check(member);
        // SAFETY: `check` has seen that there is such an element, and that no reference to it was handed out; the thread that has the
        // member is the one that asks (see `Once`). The copy owns nothing.
        unsafe { self.first.add(member).read() }
    }

    #[cfg_attr(optimised, inline(always))]
    fn put(&self, member: usize, state: T) {
        assert!(!needs_drop::<T>(), "only states that own nothing are values");
        *self.get(member) = state;
    }
}

/// Copies of the states of members, as a column.
#[doc(hidden)]
pub struct StateValues<'s, S>(pub &'s S);

// SAFETY: `fill` is the default, which writes every slot.
unsafe impl<T, S: StateSource<T>> Source<T> for StateValues<'_, S> {
    fn len(&self) -> Option<usize> {
        None
    }
    #[cfg_attr(optimised, inline(always))]
    fn get(&self, member: usize) -> T {
        self.0.value(member)
    }
    fn repeatable(&self) -> bool {
        true
    }
}
