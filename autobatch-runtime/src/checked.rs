//! Types that are known only where a function is sound. For generated code only.

use core::marker::{PhantomData, PhantomPinned};

/// Of an array whose length is unknown if a function is wrong: `T`, and an error without a message if it is.
pub trait Checked<T: ?Sized> {
    /// `T`.
    type Of: ?Sized;
    /// The value itself.
    fn value(value: T) -> Self::Of
    where
        T: Sized,
        Self::Of: Sized;
}

impl<T: ?Sized, const N: usize> Checked<T> for [(); N] {
    type Of = T;

    #[inline(always)]
    fn value(value: T) -> T
    where
        T: Sized,
    {
        value
    }
}

/// In generic code: what is found out of a [`Check`] decides on the types that values have.
#[derive(Clone, Copy)]
pub struct Known<V>(PhantomData<fn() -> V>);

impl<V> Known<V> {
    /// Of whatever is found.
    pub const NEW: Self = Known(PhantomData);

    /// The value itself, which must be a `T` if the function is sound, and may be of any type if it is wrong.
    #[inline(always)]
    pub fn value<T>(self, value: V::From) -> V::Into
    where
        V: Passes<T>,
    {
        V::pass(value)
    }

    /// A value, of a type that is known only if the function is sound.
    #[inline(always)]
    pub fn operand<T>(self, value: T) -> V::Into
    where
        V: Passes<T, From = T>,
    {
        V::pass(value)
    }
}

/// A function's check, with a type that is not `Unpin`, which rustc finds out only by looking at the function.
pub struct Check<H>(PhantomData<H>);

/// `V` is `Sound`. If the function is wrong, then `H` is no type, may be `Unpin` or not, and `V` is not known; nor are the types that
/// depend on it.
pub trait Found<V> {}

impl<H> Found<Sound> for Check<H> {}
impl<H: Unpin> Found<Wrong> for Check<H> {}

/// The same for an integer without a type: where rustc can't say which it is it takes an `i32`, and is left with a question about what is
/// no type, an error without a message. Of what it does not know otherwise it says nothing then.
pub trait Settled<V> {}

impl<H> Settled<u8> for Check<H> {}
impl<H: Unpin> Settled<i32> for Check<H> {}

/// A function is sound.
#[derive(Clone, Copy)]
pub enum Sound {}

/// It never says so.
pub enum Wrong {}

/// Which values go through [`Known::value`].
pub trait Passes<T> {
    /// `T`.
    type From;
    /// `T`, but rustc does not know that it is the same.
    type Into;
    /// The value.
    fn pass(value: Self::From) -> Self::Into;
}

impl<T> Passes<T> for Sound {
    type From = T;
    type Into = T;

    #[inline(always)]
    fn pass(value: T) -> T {
        value
    }
}

/// A type that is not `Unpin`, with `X` hidden in it.
pub trait Hidden {
    /// The type.
    type Of;
}

impl<X> Hidden for X {
    type Of = PhantomData<(fn() -> X, PhantomPinned)>;
}

/// `T`. An opaque type is captured and shown by different places in it.
pub type Same<T> = T;
