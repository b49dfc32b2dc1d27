//! The owner of a worker's columns and stacks. For generated code only.
//!
//! **Invariant:** an item is lent to one body at a time, and has one type, up to lifetimes: both are checked. That lifetimes are the same is
//! the protocol's: one store serves one call of one program.

use std::any::type_name;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::lane_column::LaneColumn;
use super::lane_stack::LaneStack;
use crate::probes::admission::Shape;

/// Columns and stacks by id, each made on first use. They live outside the generated body, so that
/// they survive a panic that unwinds out of it, and are lent to the body while it runs.
#[derive(Default)]
pub struct Store {
    columns: RefCell<Vec<Option<Erased>>>,
    stacks: RefCell<Vec<Option<Erased>>>,
}

/// A `Shelf<C>` whose type is forgotten.
struct Erased {
    shelf: NonNull<()>,
    /// To catch a second use with another type. Lifetimes are not part of it.
    name: &'static str,
    free: unsafe fn(NonNull<()>),
}

impl Drop for Erased {
    fn drop(&mut self) {
        // SAFETY: `free` belongs to the type of `shelf`, and nothing is lent, as that borrows the
        // store. Columns and stacks free memory only, so it is no matter if what their (forgotten)
        // lifetimes stood for is gone.
        unsafe { (self.free)(self.shelf) };
    }
}

/// One item and whether it is lent.
struct Shelf<C> {
    lent: Cell<bool>,
    item: UnsafeCell<C>,
}

/// A borrowed column or stack; returned when dropped.
pub struct Loan<'s, C>(&'s Shelf<C>);

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Store::default()
    }

    /// The column with this id. The same id always has the same type.
    ///
    /// # Panics
    /// If it is lent already, or exists with another type.
    pub fn column<T>(&self, id: usize) -> Loan<'_, LaneColumn<T>> {
        lend(&self.columns, id)
    }

    /// The same for the type of a variable.
    pub fn column_of<T>(&self, _: &Shape<T>, id: usize) -> Loan<'_, LaneColumn<T>> {
        self.column(id)
    }

    /// The stack with this id. The same id always has the same type.
    ///
    /// # Panics
    /// If it is lent already, or exists with another type.
    pub fn stack<T>(&self, id: usize) -> Loan<'_, LaneStack<T>> {
        lend(&self.stacks, id)
    }
}

fn lend<C: Default>(items: &RefCell<Vec<Option<Erased>>>, id: usize) -> Loan<'_, C> {
    let mut items = items.borrow_mut();
    if id >= items.len() {
        items.resize_with(id + 1, || None);
    }
    let erased = items[id].get_or_insert_with(|| {
        let shelf = Box::new(Shelf { lent: Cell::new(false), item: UnsafeCell::new(C::default()) });
        Erased { shelf: NonNull::from(Box::leak(shelf)).cast(), name: type_name::<C>(), free: free::<C> }
    });
    assert_eq!(erased.name, type_name::<C>(), "item {id} of the store has one type");
    // SAFETY: the box was made for the same type (up to lifetimes: by the protocol one store serves
    // one call of one program) and lives as long as the store, which `'_` borrows.
    let shelf: &Shelf<C> = unsafe { erased.shelf.cast().as_ref() };
    assert!(!shelf.lent.replace(true), "item {id} of the store is lent twice");
    Loan(shelf)
}

/// Frees what `lend` made.
///
/// # Safety
/// `shelf` comes from a leaked `Box<Shelf<C>>` and is not used afterwards.
unsafe fn free<C>(shelf: NonNull<()>) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(shelf.cast::<Shelf<C>>().as_ptr()) });
}

impl<C> Deref for Loan<'_, C> {
    type Target = C;
    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &C {
        // SAFETY: `lent` makes this the only handle, so references are limited by borrows of it.
        unsafe { &*self.0.item.get() }
    }
}

impl<C> DerefMut for Loan<'_, C> {
    #[cfg_attr(optimised, inline(always))]
    fn deref_mut(&mut self) -> &mut C {
        // SAFETY: as for `deref`.
        unsafe { &mut *self.0.item.get() }
    }
}

impl<C> Drop for Loan<'_, C> {
    fn drop(&mut self) {
        self.0.lent.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_persist_and_grow() {
        let store = Store::new();
        for round in 0..3usize {
            let mut column = store.column::<String>(2);
            if round > 0 {
                assert_eq!(column.remove(round - 1), format!("{}", round - 1));
            }
            column.put(round, round.to_string());
            let _other = store.column::<u8>(0);
            let _stack = store.stack::<String>(2);
        }
        assert_eq!(store.column::<String>(2).remove(2), "2");
    }

    #[test]
    #[should_panic(expected = "lent twice")]
    fn lending_is_exclusive() {
        let store = Store::new();
        let _a = store.column::<u8>(1);
        let _b = store.column::<u8>(1);
    }

    #[test]
    #[should_panic(expected = "has one type")]
    fn types_are_checked() {
        let store = Store::new();
        drop(store.column::<u8>(1));
        drop(store.column::<u16>(1));
    }

    #[test]
    fn unwinding_returns_the_loan() {
        let store = Store::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut column = store.column::<u32>(0);
            column.put(5, 7);
            panic!("out");
        }));
        assert!(result.is_err());
        assert_eq!(store.column::<u32>(0).remove(5), 7);
    }
}
