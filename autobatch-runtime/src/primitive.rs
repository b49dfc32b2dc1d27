//! Calls of batched kernels: gathering arguments into columns, passing them in the form that the kernel
//! takes, taking its result apart. For generated code only.
//!
//! The macro knows no types. What a parameter is gathered into follows from the function's parameter
//! ([`Kind`]), the form in which it is passed from the kernel's ([`Pass`]), and how results are taken apart
//! from both results ([`Rows`]).

mod pass;
mod rows;

use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::vec::IntoIter;

pub use pass::Pass;
pub use rows::Rows;

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
        Vectors { elements: Vec::new(), lens: Vec::with_capacity(members) }
    }
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
        Only::new(self, some.map(|some| Values(some.iter().map(|&i| self.0[i]).collect())))
    }
}

/// One vector per member, one behind the other.
#[derive(Clone)]
pub struct Vectors<T> {
    pub(crate) elements: Vec<T>,
    pub(crate) lens: Vec<usize>,
}

impl<T: Copy> Vectors<T> {
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
        let chosen = some.map(|some| {
            let mut begins = vec![0];
            begins.extend(self.lens.iter().scan(0, |end, len| {
                *end += len;
                Some(*end)
            }));
            let rows = some.iter().flat_map(|&i| &self.elements[begins[i]..begins[i] + self.lens[i]]);
            Vectors { elements: rows.copied().collect(), lens: some.iter().map(|&i| self.lens[i]).collect() }
        });
        Only::new(self, chosen)
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

/// Results in the order in which members were gathered.
pub struct Results<R>(IntoIter<Result<R, Arc<str>>>);

impl<R> Results<R> {
    /// The next member's result, or why there is none.
    #[expect(clippy::should_implement_trait, reason = "it does not end by itself")]
    pub fn next(&mut self) -> Result<R, Arc<str>> {
        self.0.next().expect("one result per member")
    }
}

/// Calls the kernel: once for all members, or where they do not share what is to be shared, once for each set
/// of those that do.
pub fn run<R, K: Rows<R>>(
    name: &str,
    members: usize,
    same: &dyn Fn(usize, usize) -> bool,
    kernel: impl Fn(Option<&[usize]>) -> K,
) -> Results<R> {
    if (1..members).all(|member| same(0, member)) {
        let mut all = Vec::with_capacity(members);
        match call(name, members, || kernel(None)) {
            Ok(rows) => all.extend(rows.map(Ok)),
            Err(message) => all.resize_with(members, || Err(message.clone())),
        }
        return Results(all.into_iter());
    }
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for member in 0..members {
        match sets.iter_mut().find(|set| same(set[0], member)) {
            Some(set) => set.push(member),
            None => sets.push(vec![member]),
        }
    }
    let mut all: Vec<Option<Result<R, Arc<str>>>> = Vec::new();
    all.resize_with(members, || None);
    for set in sets {
        match call(name, set.len(), || kernel(Some(&set))) {
            Ok(rows) => set.iter().zip(rows).for_each(|(&member, row)| all[member] = Some(Ok(row))),
            Err(message) => set.iter().for_each(|&member| all[member] = Some(Err(message.clone()))),
        }
    }
    let all: Vec<_> = all.into_iter().map(|result| result.expect("each member is in a set")).collect();
    Results(all.into_iter())
}

/// One call of the kernel; what it returns has to be for all `members`.
fn call<R, K: Rows<R>>(name: &str, members: usize, kernel: impl FnOnce() -> K) -> Result<K::Rows, Arc<str>> {
    let returned = catch_unwind(AssertUnwindSafe(kernel)).map_err(|payload| {
        let message = crate::launch::message(&*payload);
        Arc::from(format!("the batched kernel `{name}` panicked: {message}"))
    })?;
    returned.check(members).map_err(|found| {
        let rows = if members == 1 { "1 member".to_owned() } else { format!("{members} members") };
        Arc::from(format!("the batched kernel `{name}` was called for {rows} and returned {found}"))
    })?;
    Ok(returned.rows())
}

#[cfg(test)]
mod tests;
