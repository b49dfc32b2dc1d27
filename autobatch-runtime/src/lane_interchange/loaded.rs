//! A place in shared data that all lanes look at, looked at once before the loop over the lanes.
//!
//! A number is loaded then. Behind a reference LLVM would load it where lane code needs it; under a condition that is a branch, which
//! stops the vectoriser on CPUs without masked loads.

use std::ops::Deref;

use crate::probes::type_id::is_plain;
use crate::storage::copied;

/// What a place holds, for a number, else a reference to it.
pub struct Loaded<'a, T> {
    place: &'a T,
    /// A copy, if the type is plain.
    number: Option<T>,
}

/// Looks at a place.
#[cfg_attr(optimised, inline(always))]
pub fn loaded<T>(place: &T) -> Loaded<'_, T> {
    Loaded { place, number: is_plain::<T>().then(|| copied(place)) }
}

impl<T> Deref for Loaded<'_, T> {
    type Target = T;

    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &T {
        self.number.as_ref().unwrap_or(self.place)
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
