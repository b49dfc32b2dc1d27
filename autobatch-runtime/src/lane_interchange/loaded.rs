//! A place in shared data that all lanes look at, looked at once before the loop over the lanes.
//!
//! A number is loaded then. Behind a reference LLVM would load it where lane code needs it; under a condition that is a branch, which
//! stops the vectoriser on CPUs without masked loads.

use std::mem::MaybeUninit;
use std::ops::Deref;

use crate::probes::type_id::is_plain;

/// What a place holds, for a number, else a reference to it.
pub struct Loaded<'a, T> {
    place: &'a T,
    /// A copy, if the type is plain.
    number: MaybeUninit<T>,
}

/// Looks at a place.
#[inline(always)]
pub fn loaded<T>(place: &T) -> Loaded<'_, T> {
    let number = match is_plain::<T>() {
        // SAFETY: the type is plain, so its values may be copied.
        true => MaybeUninit::new(unsafe { std::ptr::read(place) }),
        false => MaybeUninit::uninit(),
    };
    Loaded { place, number }
}

impl<T> Deref for Loaded<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        match is_plain::<T>() {
            // SAFETY: `loaded` has put a copy there.
            true => unsafe { self.number.assume_init_ref() },
            false => self.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_copies_and_all_else_is_where_it_is() {
        let (number, list) = (2.5f32, vec![1u8, 2]);
        assert!(*loaded(&number) == 2.5 && !std::ptr::eq(&*loaded(&number), &number));
        assert!(std::ptr::eq(&*loaded(&list), &list));
    }
}
