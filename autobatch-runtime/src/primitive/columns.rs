//! What arguments are gathered into: a column of values or of vectors, or what all members of a call share.

use std::marker::PhantomData;
use std::ops::Deref;

/// A column of the type: `(&Kind::<T>::new()).column(n)` finds [`OfVectors`] first, then [`OfValues`].
pub struct Kind<T>(PhantomData<T>);

impl<T> Kind<T> {
    /// The type as a value.
    #[expect(clippy::new_without_default, reason = "for generated code")]
    pub fn new() -> Self {
        Kind(PhantomData)
    }
}

/// Values of a fixed size: numbers, arrays, structures of such.
pub trait OfValues {
    /// Of what.
    type Value;
    /// An empty column with room for `members`.
    fn column(&self, members: usize) -> Values<Self::Value>;
}

impl<T: Copy> OfValues for &Kind<T> {
    type Value = T;
    fn column(&self, members: usize) -> Values<T> {
        Values(Vec::with_capacity(members))
    }
}

/// Vectors whose length is known at run time.
pub trait OfVectors {
    /// Of what.
    type Element;
    /// An empty column with room for `members`.
    fn column(&self, members: usize) -> Vectors<Self::Element>;
}

#[cfg(feature = "ndarray")]
impl<T: Copy> OfVectors for Kind<ndarray::Array1<T>> {
    type Element = T;
    fn column(&self, members: usize) -> Vectors<T> {
        Vectors::new(members)
    }
}

/// An argument of a call that waits, which is used once.
pub fn taken<T>(argument: &mut Option<T>) -> T {
    argument.take().expect("an argument is gathered once")
}

/// One value per member.
#[derive(Clone)]
pub struct Values<T>(pub(crate) Vec<T>);

impl<T: Copy> Values<T> {
    /// The next member's.
    #[inline]
    pub fn push(&mut self, value: &T) {
        self.0.push(*value);
    }
    /// Whether two members can be in one call.
    pub fn same(&self, _: usize, _: usize) -> bool {
        true
    }
    /// The column of some members.
    pub fn only(&self, some: Option<&[usize]>) -> Only<'_, Self> {
        Only::new(self, some.map(|some| self.some(some)))
    }
    pub(super) fn some(&self, some: &[usize]) -> Self {
        Values(some.iter().map(|&i| self.0[i]).collect())
    }
}

/// One vector per member, one behind the other.
#[derive(Clone)]
pub struct Vectors<T> {
    pub(crate) elements: Vec<T>,
    pub(crate) lens: Vec<usize>,
    /// Elements that were handed back.
    #[cfg(feature = "ndarray")]
    pub(super) read: usize,
}

impl<T: Copy> Vectors<T> {
    #[cfg(feature = "ndarray")]
    pub(super) fn new(members: usize) -> Self {
        Vectors { elements: Vec::new(), lens: Vec::with_capacity(members), read: 0 }
    }
    /// The next member's.
    #[cfg(feature = "ndarray")]
    pub fn push(&mut self, vector: impl std::borrow::Borrow<ndarray::Array1<T>>) {
        let vector = vector.borrow();
        if self.elements.is_empty() {
            self.elements.reserve(self.lens.capacity() * vector.len());
        }
        match vector.as_slice() {
            Some(elements) => self.elements.extend_from_slice(elements),
            None => self.elements.extend(vector.iter().copied()),
        }
        self.lens.push(vector.len());
    }
    /// Whether two members can be in one call: their vectors make a matrix.
    pub fn same(&self, a: usize, b: usize) -> bool {
        self.lens[a] == self.lens[b]
    }
    /// The column of some members, whose vectors are equally long.
    pub fn only(&self, some: Option<&[usize]>) -> Only<'_, Self> {
        Only::new(self, some.map(|some| self.some(some)))
    }
    pub(super) fn some(&self, some: &[usize]) -> Self {
        let begins = self.begins();
        let rows = some.iter().flat_map(|&i| &self.elements[begins[i]..][..self.lens[i]]);
        let lens = some.iter().map(|&i| self.lens[i]).collect();
        Vectors {
            elements: rows.copied().collect(),
            lens,
            #[cfg(feature = "ndarray")]
            read: 0,
        }
    }
    /// Where vectors begin.
    pub(super) fn begins(&self) -> Vec<usize> {
        let begin = self.lens.iter().scan(0, |end, len| Some(std::mem::replace(end, *end + len)));
        begin.collect()
    }
}

/// A reference that the members of a call share.
#[derive(Clone)]
pub struct Shared<'m, T: ?Sized>(pub(crate) Vec<&'m T>);

impl<'m, T: ?Sized> Shared<'m, T> {
    /// No member yet.
    #[expect(clippy::new_without_default, reason = "for generated code")]
    pub fn new() -> Self {
        Shared(Vec::new())
    }
    /// The next member's.
    #[inline]
    pub fn push(&mut self, reference: &'m T) {
        self.0.push(reference);
    }
    /// Whether two members share it.
    pub fn same(&self, a: usize, b: usize) -> bool {
        std::ptr::eq(self.0[a], self.0[b])
    }
    /// That of some members, who share it.
    pub fn only(&self, some: Option<&[usize]>) -> Only<'_, Self> {
        Only::new(self, some.map(|some| Shared(vec![self.0[some[0]]])))
    }
}

/// A value that the members of a call share.
#[derive(Clone)]
pub struct SharedValue<T>(pub(crate) Vec<T>);

impl<T: Copy + PartialEq> SharedValue<T> {
    /// No member yet.
    #[expect(clippy::new_without_default, reason = "for generated code")]
    pub fn new() -> Self {
        SharedValue(Vec::new())
    }
    /// The next member's.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }
    /// Whether two members share it.
    pub fn same(&self, a: usize, b: usize) -> bool {
        self.0[a] == self.0[b]
    }
    /// That of some members, who share it.
    pub fn only(&self, some: Option<&[usize]>) -> Only<'_, Self> {
        Only::new(self, some.map(|some| SharedValue(vec![self.0[some[0]]])))
    }
}

/// A column, or the part of it that belongs to some members.
pub enum Only<'a, C> {
    /// All of it, as it was gathered.
    All(&'a C),
    /// A part, copied.
    Some(C),
}

impl<'a, C> Only<'a, C> {
    fn new(all: &'a C, some: Option<C>) -> Self {
        some.map_or(Only::All(all), Only::Some)
    }
}

impl<C> Deref for Only<'_, C> {
    type Target = C;
    fn deref(&self) -> &C {
        match self {
            Only::All(column) => column,
            Only::Some(column) => column,
        }
    }
}
