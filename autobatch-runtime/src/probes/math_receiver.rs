//! The choice that `vector_math` makes: elementary functions that vectorise for `f32` and `f64`, the user's
//! methods for every other type. For generated code only.
//!
//! `Typed::of(&x).which()` is an inherent method for the numbers, which rustc prefers to that of the trait, which
//! all other types have.

use std::marker::PhantomData;

use crate::math;

/// The type of a receiver.
pub struct Typed<T>(PhantomData<T>);

impl<T> Typed<T> {
    /// The type of this value.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(_: &T) -> Typed<T> {
        Typed(PhantomData)
    }
}

/// The receiver is a number.
#[derive(Clone, Copy)]
pub struct Number;

/// The receiver is something else.
#[derive(Clone, Copy)]
pub struct Other;

/// For types that are no number.
pub trait OtherType {
    /// Which of the two it is.
    fn which(self) -> Other;
}

impl<T> OtherType for Typed<T> {
    #[cfg_attr(optimised, inline(always))]
    fn which(self) -> Other {
        Other
    }
}

/// A number, or what method calls reach one through.
pub trait Reaches: Copy {
    /// The number's type.
    type Number: math::Real;
    /// The number.
    fn number(self) -> Self::Number;
}

macro_rules! numbers {
    ($($reaches:ty, $number:ty, |$x:ident| $get:expr;)*) => {
        $(
            impl Typed<$reaches> {
                /// Which of the two it is.
                #[cfg_attr(optimised, inline(always))]
                pub fn which(self) -> Number {
                    Number
                }
            }
            impl Reaches for $reaches {
                type Number = $number;
                #[cfg_attr(optimised, inline(always))]
                fn number(self) -> $number {
                    let $x = self;
                    $get
                }
            }
        )*
    };
}

numbers! {
    f32, f32, |x| x;
    f64, f64, |x| x;
    &f32, f32, |x| *x;
    &f64, f64, |x| *x;
    &&f32, f32, |x| **x;
    &&f64, f64, |x| **x;
    &&mut f32, f32, |x| **x;
    &&mut f64, f64, |x| **x;
}

macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        impl Number {
            $(
                #[allow(missing_docs)]
                #[cfg_attr(optimised, inline(always))]
                pub fn $name<X: Reaches>(self, x: X, $($arg: $ty,)* _: impl FnOnce(X, $($ty),*) -> $result) -> $result {
                    math::$name(x.number(), $($arg),*)
                }
            )*
        }
    };
}

functions! {
    exp() -> X::Number;
    exp2() -> X::Number;
    exp_m1() -> X::Number;
    ln() -> X::Number;
    log2() -> X::Number;
    log10() -> X::Number;
    ln_1p() -> X::Number;
    sin() -> X::Number;
    cos() -> X::Number;
    sin_cos() -> (X::Number, X::Number);
    tan() -> X::Number;
    asin() -> X::Number;
    acos() -> X::Number;
    atan() -> X::Number;
    sinh() -> X::Number;
    cosh() -> X::Number;
    tanh() -> X::Number;
    cbrt() -> X::Number;
    powf(y: X::Number) -> X::Number;
    powi(n: i32) -> X::Number;
    hypot(y: X::Number) -> X::Number;
    atan2(y: X::Number) -> X::Number;
}

macro_rules! others {
    ($($name:ident)*; $($name2:ident)*) => {
        impl Other {
            $(
                #[allow(missing_docs)]
                #[cfg_attr(optimised, inline(always))]
                pub fn $name<X, R>(self, x: X, method: impl FnOnce(X) -> R) -> R {
                    method(x)
                }
            )*
            $(
                #[allow(missing_docs)]
                #[cfg_attr(optimised, inline(always))]
                pub fn $name2<X, A, R>(self, x: X, arg: A, method: impl FnOnce(X, A) -> R) -> R {
                    method(x, arg)
                }
            )*
        }
    };
}

others! {
    exp exp2 exp_m1 ln log2 log10 ln_1p sin cos sin_cos tan asin acos atan sinh cosh tanh cbrt;
    powf powi hypot atan2
}
