//! Columns that a kernel changes in place: gathered as the others are, and handed back to the members' own
//! places, so that nothing is allocated for a member.

use super::columns::{Values, Vectors};

/// What a `&mut` parameter of a primitive may refer to.
#[diagnostic::on_unimplemented(
    message = "a primitive can't change `{Self}` in place",
    label = "not a number, an array or an `Array1`",
    note = "what a `&mut` parameter refers to is copied into a column for the kernel, and back: numbers, `[T; D]`, `Array1<T>`"
)]
pub trait Changed: Sized {
    /// One for each member.
    type Column: Back;
    /// An empty column with room for `members`.
    fn column(members: usize) -> Self::Column;
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl Changed for $T {
            type Column = Values<$T>;
            fn column(members: usize) -> Values<$T> {
                Values(Vec::with_capacity(members))
            }
        }
    )*};
}
numbers!(f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool char);

impl<T: Copy, const D: usize> Changed for [T; D] {
    type Column = Values<[T; D]>;
    fn column(members: usize) -> Values<[T; D]> {
        Values(Vec::with_capacity(members))
    }
}

#[cfg(feature = "ndarray")]
impl<T: Copy> Changed for ndarray::Array1<T> {
    type Column = Vectors<T>;
    fn column(members: usize) -> Vectors<T> {
        Vectors::new(members)
    }
}

/// No column is changed.
#[diagnostic::on_unimplemented(
    message = "what a primitive changes is written `&mut x` or `&mut x.field` where it is called",
    label = "an argument here is a `&mut` reference already",
    note = "write `&mut *x` for a variable `x` that is a `&mut` reference"
)]
pub trait NoneChanged {}

impl NoneChanged for () {}

/// A column, or a tuple of them, whose values go back to where they come from.
#[diagnostic::on_unimplemented(
    message = "this primitive changes none of its arguments",
    label = "an argument here is `&mut`",
    note = "write `&x` for `&mut x`"
)]
pub trait Back {
    /// The places of one member.
    type Places<'a>
    where
        Self: 'a;
    /// Hands a member's value back, if it has `arrived`. Members come in the order in which they were gathered.
    fn back(&mut self, member: usize, places: Self::Places<'_>, arrived: bool);
}

impl<T: Copy> Back for Values<T> {
    type Places<'a>
        = &'a mut T
    where
        T: 'a;
    #[inline]
    fn back(&mut self, member: usize, place: &mut T, arrived: bool) {
        if arrived {
            *place = self.0[member];
        }
    }
}

#[cfg(feature = "ndarray")]
impl<T: Copy> Back for Vectors<T> {
    type Places<'a>
        = &'a mut ndarray::Array1<T>
    where
        T: 'a;
    fn back(&mut self, member: usize, place: &mut ndarray::Array1<T>, arrived: bool) {
        let len = self.lens[member];
        let row = &self.elements[self.read..][..len];
        self.read += len;
        if !arrived {
            return;
        }
        match place.as_slice_mut() {
            Some(place) => place.copy_from_slice(row),
            None => place.iter_mut().zip(row).for_each(|(place, x)| *place = *x),
        }
    }
}

macro_rules! tuples {
    ($($C:ident $at:tt),*) => {
        impl<$($C: Back),*> Back for ($($C,)*) {
            type Places<'a> = ($($C::Places<'a>,)*) where $($C: 'a),*;
            fn back(&mut self, member: usize, places: Self::Places<'_>, arrived: bool) {
                $(self.$at.back(member, places.$at, arrived);)*
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// A column to be changed, or a copy of the part that belongs to some members.
pub struct Part<'a, C> {
    all: &'a mut C,
    part: Option<C>,
}

impl<C> Part<'_, C> {
    /// What the kernel changes.
    pub fn column(&mut self) -> &mut C {
        self.part.as_mut().unwrap_or(self.all)
    }
}

impl<T: Copy> Values<T> {
    /// The column of some members, to be changed.
    pub fn part(&mut self, some: Option<&[usize]>) -> Part<'_, Self> {
        let part = some.map(|some| self.some(some));
        Part { all: self, part }
    }
}

impl<T: Copy> Vectors<T> {
    /// The column of some members, to be changed.
    pub fn part(&mut self, some: Option<&[usize]>) -> Part<'_, Self> {
        let part = some.map(|some| self.some(some));
        Part { all: self, part }
    }
}

impl<T: Copy> Part<'_, Values<T>> {
    /// Puts a part back into its column.
    pub fn store(self, some: Option<&[usize]>) {
        for (&member, value) in some.into_iter().flatten().zip(self.part.iter().flat_map(|part| &part.0)) {
            self.all.0[member] = *value;
        }
    }
}

impl<T: Copy> Part<'_, Vectors<T>> {
    /// Puts a part back into its column.
    pub fn store(self, some: Option<&[usize]>) {
        let (Some(some), Some(part)) = (some, self.part) else { return };
        let begins = self.all.begins();
        let mut rest = &part.elements[..];
        for &member in some {
            let (row, behind) = rest.split_at(self.all.lens[member]);
            self.all.elements[begins[member]..][..row.len()].copy_from_slice(row);
            rest = behind;
        }
    }
}
