//! Whether the values of a column are `Copy`, asked by method resolution where their type is spelled.
//!
//! A column of numbers can be read again, so its members can run on vectors, and once more as scalar code. The same holds for arrays,
//! tuples and structures that are `Copy`, but [`is_plain`](crate::probes::type_id::is_plain) knows numbers only.
//!
//! **Invariant:** a source hands out copies only if rustc has seen that the type is `Copy`.

use std::marker::PhantomData;

use super::source::{IsCopy, Source};

/// The values of a column.
pub struct Values<T>(PhantomData<fn() -> T>);

impl<T> Values<T> {
    /// Those of a type.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Values(PhantomData)
    }
}

impl<T: Copy> Values<T> {
    /// Their source, which hands out copies.
    pub fn handed_out_by<S: Source<T>>(self, mut source: S) -> S {
        source.hand_out_copies(IsCopy::proof());
        source
    }
}

/// Those of any other type.
pub trait MovedValues<T>: Sized {
    /// Their source, as it is.
    fn handed_out_by<S: Source<T>>(self, source: S) -> S {
        source
    }
}

impl<T> MovedValues<T> for Values<T> {}

#[cfg(test)]
mod tests {
    use super::super::by_value::Column;
    use super::super::one_or_many::OneOrMany;
    use super::*;

    #[test]
    #[allow(unused_imports)]
    fn arrays_can_be_had_again_and_strings_cannot() {
        use super::MovedValues as _;
        let rows = Values::<[f64; 2]>::new()
            .handed_out_by(vec![[1.0, 2.0], [3.0, 4.0]].into_source("rows").unwrap());
        assert!(rows.repeatable());
        assert_eq!((rows.get(1), rows.get(1), rows.get(0)), ([3.0, 4.0], [3.0, 4.0], [1.0, 2.0]));
        let many = OneOrMany::<_, [u8; 2]>::Many(vec![[1, 2], [3, 4]]);
        let many = Values::<[u8; 2]>::new().handed_out_by(many.into_source("many").unwrap());
        assert_eq!((many.repeatable(), many.get(0), many.get(0)), (true, [1, 2], [1, 2]));
        let texts =
            Values::<String>::new().handed_out_by(vec![String::from("a")].into_source("texts").unwrap());
        assert!(!texts.repeatable());
        assert_eq!(texts.get(0), "a");
    }
}
