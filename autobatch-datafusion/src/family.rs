//! How [`udf!`](crate::udf!) calls `f_batched_with` without a signature.

use std::marker::PhantomData;

use autobatch::{BatchError, Column, Each, Options, Outcome};
use autobatch_arrow::{Argument, Number};

/// A function `f_batched_with` of `N` columns and options. Rust finds `N` and `R`, as each function has but one of these implementations.
#[diagnostic::on_unimplemented(
    message = "not every parameter of this function takes an argument of SQL",
    note = "values of shared parameters are written: `udf!(f(&shared, _))`",
    note = "a function that changes a state of its caller is none of SQL"
)]
pub trait Batched<'a, const N: usize, R> {
    /// Calls it.
    fn call(self, arguments: [Argument<'a>; N], options: &Options) -> Result<Outcome<R>, BatchError>;
}

macro_rules! batched {
    ($($count:literal: $($argument:ident)*;)*) => {$(
        impl<'a, R, F> Batched<'a, $count, R> for F
        where
            F: Fn($(one!($argument Argument<'a>),)* &Options) -> Result<Outcome<R>, BatchError>,
        {
            fn call(self, arguments: [Argument<'a>; $count], options: &Options) -> Result<Outcome<R>, BatchError> {
                let [$($argument),*] = arguments;
                self($($argument,)* options)
            }
        }
    )*};
}

macro_rules! one {
    ($argument:ident $ty:ty) => {
        $ty
    };
}

batched! {
    1: a;
    2: a b;
    3: a b c;
    4: a b c d;
    5: a b c d e;
    6: a b c d e f;
    7: a b c d e f g;
    8: a b c d e f g h;
    9: a b c d e f g h i;
    10: a b c d e f g h i j;
    11: a b c d e f g h i j k;
    12: a b c d e f g h i j k l;
}

/// The number of columns.
pub const fn columns<'a, const N: usize, R, F: Batched<'a, N, R>>(_: &F) -> usize {
    N
}

/// Calls the function.
pub fn call<'a, const N: usize, R>(
    function: impl Batched<'a, N, R>,
    arguments: [Argument<'a>; N],
    options: &Options,
) -> Result<Outcome<R>, BatchError> {
    function.call(arguments, options)
}

/// An argument for a parameter of type `T` only: it chooses the instance of a generic function.
pub struct Typed<'a, T>(Argument<'a>, PhantomData<fn() -> T>);

impl<'a, T> Typed<'a, T> {
    /// The argument, as of that type.
    pub fn new(argument: Argument<'a>) -> Self {
        Typed(argument, PhantomData)
    }
}

impl<'a, T> Column<T> for Typed<'a, T>
where
    Argument<'a>: Column<T>,
{
    type Source = <Argument<'a> as Column<T>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Column::<T>::into_source(self.0, parameter)
    }
}

impl<'a, T: Number> Each<'a, [T]> for Typed<'a, &[T]> {
    type Source = <Argument<'a> as Each<'a, [T]>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Each::<'a, [T]>::into_source(self.0, parameter)
    }
}

impl<'a> Each<'a, str> for Typed<'a, &str> {
    type Source = <Argument<'a> as Each<'a, str>>::Source;

    fn into_source(self, parameter: &'static str) -> Result<Self::Source, BatchError> {
        Each::<'a, str>::into_source(self.0, parameter)
    }
}
