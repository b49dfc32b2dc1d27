//! Locals lent to a batched call. For generated code only.
//!
//! Values in columns move: frames are compressed, columns grow. A local that is lent is moved to the heap for the call, and
//! the callee gets a reference to there.
//!
//! What follows is not safe for everyone: references last as long as the caller says. Generated code lends only to a
//! call, and takes back when the call has returned; what it calls has been checked by rustc as the user has written it,
//! with a lifetime that ends there (see `lower/lent.rs` in the compiler). When a member dies, the activations inside
//! are dropped before the one that lends.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// A value that is lent.
pub struct Lent<T> {
    /// Not a `Box`: moving that would end what has been borrowed from it.
    value: NonNull<T>,
    owns: PhantomData<T>,
}

// SAFETY: it owns its value, as a `Box` does.
unsafe impl<T: Send> Send for Lent<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// Moves the value to a place where it stays.
    pub fn new(value: T) -> Lent<T> {
        Lent { value: NonNull::from(Box::leak(Box::new(value))), owns: PhantomData }
    }

    /// The value, for the call that it is lent to.
    pub fn share<'a>(&self) -> &'a T
    where
        T: 'a,
    {
        // SAFETY: the value stays until `self` is dropped or taken back, which is behind the call.
        unsafe { self.value.as_ref() }
    }

    /// The same to change.
    pub fn lend<'a>(&self) -> &'a mut T
    where
        T: 'a,
    {
        let mut value = self.value;
        // SAFETY: as in `share`; generated code borrows once for a call.
        unsafe { value.as_mut() }
    }

    /// The value, for a method of which signatures say that what it yields borrows nothing: so rustc is asked.
    pub fn peek(&self) -> &T {
        self.share()
    }

    /// The same to change.
    #[allow(clippy::mut_from_ref)] // as `lend`
    pub fn change(&self) -> &mut T {
        self.lend()
    }

    /// The value is the caller's again.
    pub fn back(self) -> T {
        let value = self.value;
        std::mem::forget(self);
        // SAFETY: `new` has leaked this box, and `self`, which owned it, is forgotten.
        *unsafe { Box::from_raw(value.as_ptr()) }
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        // SAFETY: `new` has leaked this box, and it is `self`'s.
        drop(unsafe { Box::from_raw(self.value.as_ptr()) });
    }
}

/// A temporary that is kept in place for the rest of its statement, if that comes to make it.
pub struct Kept<T>(Option<Lent<T>>);

impl<T> Kept<T> {
    /// Before it is made.
    #[allow(clippy::new_without_default)] // for generated code
    pub fn new() -> Kept<T> {
        Kept(None)
    }

    /// It is made.
    pub fn keep(&mut self, value: T) {
        self.0 = Some(Lent::new(value));
    }

    /// The value, for the rest of the statement.
    ///
    /// # Panics
    ///
    /// If it has not been made.
    #[allow(clippy::mut_from_ref)] // as `Lent::lend`
    pub fn lend<'a>(&self) -> &'a mut T
    where
        T: 'a,
    {
        self.0.as_ref().expect("it is made before").lend()
    }

    /// The end of the statement.
    pub fn back(self) {}
}

/// A `&mut` whose target is lent.
pub struct LentRef<'r, T: ?Sized> {
    target: NonNull<T>,
    reference: PhantomData<&'r mut T>,
}

// SAFETY: it is a `&mut`.
unsafe impl<T: ?Sized + Send> Send for LentRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for LentRef<'_, T> {}

impl<'r, T: ?Sized> LentRef<'r, T> {
    /// Keeps the reference meanwhile.
    pub fn new(reference: &'r mut T) -> LentRef<'r, T> {
        LentRef { target: NonNull::from(reference), reference: PhantomData }
    }

    /// The target, for the call that it is lent to.
    pub fn share<'a>(&self) -> &'a T
    where
        T: 'a,
    {
        // SAFETY: the target outlives the reference, which is not used before `back`.
        unsafe { self.target.as_ref() }
    }

    /// The same to change.
    pub fn lend<'a>(&self) -> &'a mut T
    where
        T: 'a,
    {
        let mut target = self.target;
        // SAFETY: as in `share`; generated code borrows once for a call.
        unsafe { target.as_mut() }
    }

    /// The target, for a method of which signatures say that what it yields borrows nothing: so rustc is asked.
    pub fn peek(&self) -> &T {
        self.share()
    }

    /// The same to change.
    #[allow(clippy::mut_from_ref)] // as `lend`
    pub fn change(&self) -> &mut T {
        self.lend()
    }

    /// The reference is the caller's again.
    pub fn back(self) -> &'r mut T {
        let mut target = self.target;
        // SAFETY: it came from this reference, and what was borrowed from it is gone.
        unsafe { target.as_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let lent = Lent::new(vec![1, 2]);
        lent.lend().push(3);
        let moved = lent;
        assert_eq!(moved.share().len(), 3);
        assert_eq!(moved.back(), [1, 2, 3]);
    }

    #[test]
    fn values_are_dropped_once() {
        let count = std::rc::Rc::new(());
        let lent = Lent::new(count.clone());
        assert_eq!(std::rc::Rc::strong_count(&count), 2);
        drop(lent);
        assert_eq!(std::rc::Rc::strong_count(&count), 1);
        drop(Lent::new(count.clone()).back());
        assert_eq!(std::rc::Rc::strong_count(&count), 1);
    }

    #[test]
    fn what_is_kept_is_dropped_once() {
        let count = std::rc::Rc::new(());
        let mut kept = Kept::new();
        for _ in 0..2 {
            kept.keep(vec![count.clone()]);
            let borrowed: &mut Vec<_> = kept.lend();
            let moved = kept;
            assert_eq!(borrowed.len(), 1);
            assert_eq!(std::rc::Rc::strong_count(&count), 2);
            kept = moved;
        }
        kept.back();
        assert_eq!(std::rc::Rc::strong_count(&count), 1);
        Kept::<String>::new().back();
    }

    #[test]
    fn references_come_back() {
        let mut text = String::from("a");
        let lent = LentRef::new(&mut text);
        lent.lend().push('b');
        let back = lent.back();
        back.push('c');
        assert_eq!(text, "abc");
    }
}
