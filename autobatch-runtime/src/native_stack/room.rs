//! Room in what grows with the batch or with its depth. Memory that is refused ends members, or is an error of the call; it never ends the
//! process.

use std::panic::resume_unwind;

use super::budget::TooMuch;

/// Whether a vector has room for so many more items, made if there is memory.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn has<T>(items: &mut Vec<T>, more: usize) -> bool {
    items.capacity() - items.len() >= more || grow(items, more)
}

/// Whether it has room for so many items in all, made if there is memory.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn has_all<T>(items: &mut Vec<T>, len: usize) -> bool {
    len <= items.capacity() || grow(items, len - items.len())
}

#[cold]
#[inline(never)]
fn grow<T>(items: &mut Vec<T>, more: usize) -> bool {
    items.try_reserve(more).is_ok()
}

/// Memory is refused: the member, the tile or the worker that asked for it ends, without the panic hook.
#[cold]
pub(crate) fn refused() -> ! {
    resume_unwind(Box::new(TooMuch))
}

/// The same unless a vector has room for so many more items.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn make<T>(items: &mut Vec<T>, more: usize) {
    if !has(items, more) {
        refused();
    }
}

/// So many items, or the same.
pub(crate) fn filled<T: Clone>(item: T, len: usize) -> Vec<T> {
    let mut items = Vec::new();
    // As many as there will be: nothing of this grows.
    if items.try_reserve_exact(len).is_err() {
        refused();
    }
    items.resize(len, item);
    items
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn refused_memory_unwinds_and_leaves_what_was_there() {
        let mut items = vec![1u64, 2];
        assert!(has(&mut items, 100) && items.capacity() >= 102);
        assert!(has_all(&mut items, 2) && !has_all(&mut items, usize::MAX / 8));
        assert!(!has(&mut items, usize::MAX / 8 - 2));
        assert_eq!(items, [1, 2]);
        assert_eq!(filled(7, 3), [7; 3]);
        let payload = catch_unwind(|| filled(0u64, usize::MAX / 8)).unwrap_err();
        assert!(payload.is::<TooMuch>());
        let payload = catch_unwind(|| make(&mut vec![0u64], usize::MAX / 8 - 1)).unwrap_err();
        assert!(payload.is::<TooMuch>());
    }
}
