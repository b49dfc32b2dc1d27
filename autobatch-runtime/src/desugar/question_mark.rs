//! `?` on stable Rust: what `std::ops::Try` does, for the types that have it. For generated code only.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Deref};
use std::task::Poll;

/// A type that `?` can be applied to.
#[diagnostic::on_unimplemented(
    message = "the `?` operator can't be applied to type `{Self}` in a batched function"
)]
pub trait Question {
    /// The value that goes on.
    type Output;
    /// What leaves the function.
    type Residual;
    /// Goes on or leaves.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
}

/// A return type that a `?` can leave with.
#[diagnostic::on_unimplemented(
    message = "a `?` can't leave a function that returns `{Self}` with this residual"
)]
pub trait FromResidual<R> {
    /// The result to return.
    fn from_residual(residual: R) -> Self;
}

impl<T> Question for Option<T> {
    type Output = T;
    type Residual = Option<Infallible>;
    #[cfg_attr(optimised, inline(always))]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
}

impl<T> FromResidual<Option<Infallible>> for Option<T> {
    #[cfg_attr(optimised, inline(always))]
    fn from_residual(_: Option<Infallible>) -> Self {
        None
    }
}

impl<T, E> Question for Result<T, E> {
    type Output = T;
    type Residual = Result<Infallible, E>;
    #[cfg_attr(optimised, inline(always))]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T, E, F: From<E>> FromResidual<Result<Infallible, E>> for Result<T, F> {
    #[cfg_attr(optimised, inline(always))]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        match residual {
            Err(error) => Err(F::from(error)),
            Ok(never) => match never {},
        }
    }
}

impl<B, C> Question for ControlFlow<B, C> {
    type Output = C;
    type Residual = ControlFlow<B, Infallible>;
    #[cfg_attr(optimised, inline(always))]
    fn branch(self) -> ControlFlow<Self::Residual, C> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

impl<B, C> FromResidual<ControlFlow<B, Infallible>> for ControlFlow<B, C> {
    #[cfg_attr(optimised, inline(always))]
    fn from_residual(residual: ControlFlow<B, Infallible>) -> Self {
        match residual {
            ControlFlow::Break(value) => ControlFlow::Break(value),
            ControlFlow::Continue(never) => match never {},
        }
    }
}

impl<T, E> Question for Poll<Result<T, E>> {
    type Output = Poll<T>;
    type Residual = Result<Infallible, E>;
    #[cfg_attr(optimised, inline(always))]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<T>> {
        match self {
            Poll::Ready(Ok(value)) => ControlFlow::Continue(Poll::Ready(value)),
            Poll::Ready(Err(error)) => ControlFlow::Break(Err(error)),
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
        }
    }
}

impl<T, E> Question for Poll<Option<Result<T, E>>> {
    type Output = Poll<Option<T>>;
    type Residual = Result<Infallible, E>;
    #[cfg_attr(optimised, inline(always))]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<Option<T>>> {
        match self {
            Poll::Ready(Some(Ok(value))) => ControlFlow::Continue(Poll::Ready(Some(value))),
            Poll::Ready(Some(Err(error))) => ControlFlow::Break(Err(error)),
            Poll::Ready(None) => ControlFlow::Continue(Poll::Ready(None)),
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
        }
    }
}

impl<T, E, F: From<E>> FromResidual<Result<Infallible, E>> for Poll<Result<T, F>> {
    #[cfg_attr(optimised, inline(always))]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        Poll::Ready(FromResidual::from_residual(residual))
    }
}

impl<T, E, F: From<E>> FromResidual<Result<Infallible, E>> for Poll<Option<Result<T, F>>> {
    #[cfg_attr(optimised, inline(always))]
    fn from_residual(residual: Result<Infallible, E>) -> Self {
        Poll::Ready(Some(FromResidual::from_residual(residual)))
    }
}

/// What a `?` is applied to. Where `?` does not fit the type, rustc says so of the user's function, and this goes on without a word.
pub struct Asked<T>(pub T);

/// Any value.
pub struct Unasked<T>(PhantomData<T>);

impl<T: Question> Asked<T> {
    /// Goes on or leaves.
    #[cfg_attr(optimised, inline(always))]
    pub fn branch(self) -> ControlFlow<T::Residual, T::Output> {
        self.0.branch()
    }
}

impl<T> Unasked<T> {
    /// Never called.
    pub fn branch(&self) -> ControlFlow<Infallible, T> {
        unreachable!()
    }
}

/// Methods of types that don't meet the bounds above are looked for here.
impl<T> Deref for Asked<T> {
    type Target = Unasked<T>;
    fn deref(&self) -> &Unasked<T> {
        unreachable!()
    }
}

/// What a `?` leaves a function that returns `O` with; as above.
pub struct Leaving<R, O>(R, PhantomData<O>);

/// Any result.
pub struct Staying<O>(PhantomData<O>);

/// What a `?` leaves with.
#[cfg_attr(optimised, inline(always))]
pub fn leaving<R, O>(residual: R) -> Leaving<R, O> {
    Leaving(residual, PhantomData)
}

impl<R, O: FromResidual<R>> Leaving<R, O> {
    /// The result to return.
    #[cfg_attr(optimised, inline(always))]
    pub fn leave(self) -> O {
        O::from_residual(self.0)
    }
}

impl<O> Staying<O> {
    /// Never called.
    pub fn leave(&self) -> O {
        unreachable!()
    }
}

impl<R, O> Deref for Leaving<R, O> {
    type Target = Staying<O>;
    fn deref(&self) -> &Staying<O> {
        unreachable!()
    }
}

/// A type that `try_fold` can end with when nothing has left it.
pub trait FromOutput: Question {
    /// The whole of a value that goes on.
    fn from_output(output: Self::Output) -> Self;
}

impl<T> FromOutput for Option<T> {
    #[cfg_attr(optimised, inline(always))]
    fn from_output(output: T) -> Self {
        Some(output)
    }
}

impl<T, E> FromOutput for Result<T, E> {
    #[cfg_attr(optimised, inline(always))]
    fn from_output(output: T) -> Self {
        Ok(output)
    }
}

impl<B, C> FromOutput for ControlFlow<B, C> {
    #[cfg_attr(optimised, inline(always))]
    fn from_output(output: C) -> Self {
        ControlFlow::Continue(output)
    }
}

impl<T, E> FromOutput for Poll<Result<T, E>> {
    #[cfg_attr(optimised, inline(always))]
    fn from_output(output: Poll<T>) -> Self {
        output.map(Ok)
    }
}

impl<T, E> FromOutput for Poll<Option<Result<T, E>>> {
    #[cfg_attr(optimised, inline(always))]
    fn from_output(output: Poll<Option<T>>) -> Self {
        output.map(|value| value.map(Ok))
    }
}

/// One step of a `try_fold`: goes on with a value, or ends with the whole.
#[cfg_attr(optimised, inline(always))]
pub fn try_step<R>(step: R) -> ControlFlow<R, R::Output>
where
    R: Question + FromResidual<<R as Question>::Residual>,
{
    match step.branch() {
        ControlFlow::Continue(value) => ControlFlow::Continue(value),
        ControlFlow::Break(residual) => ControlFlow::Break(R::from_residual(residual)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leave<T: Question, R: FromResidual<T::Residual>>(value: T) -> Result<T::Output, R> {
        match value.branch() {
            ControlFlow::Continue(value) => Ok(value),
            ControlFlow::Break(residual) => Err(R::from_residual(residual)),
        }
    }

    #[test]
    fn values_go_on_and_residuals_convert() {
        assert_eq!(leave::<_, Option<u8>>(Some(1)), Ok(1));
        assert_eq!(leave::<Option<u8>, Option<u16>>(None), Err(None));
        assert_eq!(leave::<Result<u8, &str>, Result<(), String>>(Err("no")), Err(Err("no".to_owned())));
        assert_eq!(leave::<Poll<Result<u8, u8>>, Result<(), u16>>(Poll::Ready(Err(3))), Err(Err(3)));
        assert_eq!(
            leave::<Result<(), u8>, Poll<Option<Result<(), u16>>>>(Err(3)),
            Err(Poll::Ready(Some(Err(3))))
        );
        assert_eq!(
            leave::<ControlFlow<u8, u8>, ControlFlow<u8, ()>>(ControlFlow::Break(2)),
            Err(ControlFlow::Break(2))
        );
    }
}
