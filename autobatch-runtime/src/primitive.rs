//! Calls of batched kernels: gathering arguments into columns, passing them in the form that the kernel
//! takes, taking its result apart. For generated code only.
//!
//! The macro knows no types. What a parameter is gathered into follows from the function's parameter
//! ([`Kind`]), the form in which it is passed from the kernel's ([`Pass`]), and how results are taken apart
//! from both results ([`Rows`]).

mod changed;
mod pass;
mod rows;

use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::vec::IntoIter;

use crate::fiber::Here;
pub use crate::fiber::{Call, gathers, wait};
pub use changed::{Back, Changed, NoneChanged, Part};
pub use pass::{Pass, PassMut};
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
    fn some(&self, some: &[usize]) -> Self {
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
    read: usize,
}

impl<T: Copy> Vectors<T> {
    #[cfg(feature = "ndarray")]
    fn new(members: usize) -> Self {
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
    fn some(&self, some: &[usize]) -> Self {
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
    fn begins(&self) -> Vec<usize> {
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

/// Results in the order in which members were gathered, and the columns that the kernel has changed.
pub struct Results<R, C = ()> {
    results: IntoIter<Result<R, Arc<str>>>,
    changed: C,
    member: usize,
}

impl<R> Results<R> {
    /// The same with columns that were changed.
    pub fn with<C: Back>(self, changed: C) -> Results<R, C> {
        Results { results: self.results, changed, member: 0 }
    }
}

impl<R, C> Results<R, C> {
    /// The next member's result, or why there is none.
    #[expect(clippy::should_implement_trait, reason = "it does not end by itself")]
    pub fn next(&mut self) -> Result<R, Arc<str>>
    where
        C: NoneChanged,
    {
        self.results.next().expect("one result per member")
    }
    /// The next member's result, or why there is none; if there is one, what the kernel has changed goes to the
    /// member's own places.
    pub fn next_into(&mut self, places: C::Places<'_>) -> Result<R, Arc<str>>
    where
        C: Back,
    {
        let result = self.results.next().expect("one result per member");
        self.changed.back(self.member, places, result.is_ok());
        self.member += 1;
        result
    }
}

/// Which members are in one call: all of them, or sets.
pub struct Sets(Option<Vec<Vec<usize>>>);

/// Members that do not share what is to be shared are in different sets.
pub fn sets(members: usize, same: &dyn Fn(usize, usize) -> bool) -> Sets {
    if (1..members).all(|member| same(0, member)) {
        return Sets(None);
    }
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for member in 0..members {
        match sets.iter_mut().find(|set| same(set[0], member)) {
            Some(set) => set.push(member),
            None => sets.push(vec![member]),
        }
    }
    Sets(Some(sets))
}

/// Calls the kernel once for each set.
pub fn run<R, K: Rows<R>>(
    name: &str,
    members: usize,
    sets: Sets,
    mut kernel: impl FnMut(Option<&[usize]>) -> K,
) -> Results<R> {
    let done = |results| Results { results, changed: (), member: 0 };
    let Some(sets) = sets.0 else {
        let mut all = Vec::with_capacity(members);
        match call(name, members, || kernel(None)) {
            Ok(rows) => all.extend(rows.take(members).map(Ok)),
            Err(message) => all.resize_with(members, || Err(message.clone())),
        }
        return done(all.into_iter());
    };
    let mut all: Vec<Option<Result<R, Arc<str>>>> = Vec::new();
    all.resize_with(members, || None);
    for set in sets {
        match call(name, set.len(), || kernel(Some(&set))) {
            Ok(rows) => set.iter().zip(rows).for_each(|(&member, row)| all[member] = Some(Ok(row))),
            Err(message) => set.iter().for_each(|&member| all[member] = Some(Err(message.clone()))),
        }
    }
    let all: Vec<_> = all.into_iter().map(|result| result.expect("each member is in a set")).collect();
    done(all.into_iter())
}

/// One call of the kernel; what it returns has to be for all `members`.
fn call<R, K: Rows<R>>(name: &str, members: usize, kernel: impl FnOnce() -> K) -> Result<K::Rows, Arc<str>> {
    // A kernel may call the function, which it is not to be called for then.
    let _nobody = Here::nobody();
    let returned = catch_unwind(AssertUnwindSafe(kernel)).map_err(|payload| {
        let message = crate::fault::message(&*payload);
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
