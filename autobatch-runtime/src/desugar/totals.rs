//! Sums and products, one element at a time, of the types whose own `sum` and `product` take a whole iterator.
//! For generated code only.
//!
//! A user's type may stop asking for elements where it likes, or add them up in a way that steps don't have. So this is for the
//! library's numbers, and `Option`s and `Result`s of them, which stop at the first element without a value; for others generated
//! code calls `sum` itself ([`adds_all`]). How a total is kept the types decide, by the method that rustc finds first on
//! `&&&Adding<O, S, I>`: it grows by steps, or, where a generic type is only known to be a sum of references, the elements are kept
//! until all are there.

use std::any::TypeId;
use std::iter::{self, Product, Sum};
use std::marker::PhantomData;
use std::num::Wrapping;

use crate::probes::admission::{Ask, IsWhole, Same, SameCopied};
use crate::probes::type_id::id;

/// A sum, or a product: what elements of type `I` make.
pub trait Total<S, I> {
    /// The whole.
    fn of(all: impl Iterator<Item = I>) -> S;
}

/// The operation of `sum`.
pub struct Sums;

impl<S: Sum<I>, I> Total<S, I> for Sums {
    #[cfg_attr(optimised, inline(always))]
    fn of(all: impl Iterator<Item = I>) -> S {
        all.sum()
    }
}

/// The operation of `product`.
pub struct Products;

impl<S: Product<I>, I> Total<S, I> for Products {
    #[cfg_attr(optimised, inline(always))]
    fn of(all: impl Iterator<Item = I>) -> S {
        all.product()
    }
}

/// A number of the library's, which elements of type `I` are added to one after the other.
#[diagnostic::on_unimplemented(
    message = "`strict`: this runs the scalar code for each member: a `sum` or `product` may stop early if its type is not one of the library's numbers: then the calls in it are made one by one",
    label = "`{Self}` is not one of the library's numbers, added up from its like",
    note = "write `.fold(zero, |total, x| total + x)`, which asks for all elements, or leave `strict` out"
)]
pub trait Number<I> {}

macro_rules! numbers {
    ($($t:ty)*) => {
        $(
            impl Number<$t> for $t {}
            impl Number<&$t> for $t {}
        )*

        #[cfg_attr(optimised, inline(always))]
        fn is_number<S, I>() -> bool {
            let (s, i) = (id::<S>(), id::<I>());
            $((s == TypeId::of::<$t>() && (i == s || i == TypeId::of::<&'static $t>())))||*
        }
    };
}

numbers! {
    f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize
    Wrapping<i8> Wrapping<i16> Wrapping<i32> Wrapping<i64> Wrapping<i128> Wrapping<isize>
    Wrapping<u8> Wrapping<u16> Wrapping<u32> Wrapping<u64> Wrapping<u128> Wrapping<usize>
}

/// What is kept between elements for a total of type `S`.
pub trait SoFar<O, S> {
    /// What there is before the first element.
    fn none() -> Self;
    /// Whether the total is one of [`Number`]s.
    fn adds_all() -> bool;
    /// The total.
    fn whole(self) -> S;
}

/// The total of the elements so far, of type `I`.
pub struct Grown<S, I>(S, PhantomData<I>);

impl<O: Total<S, S>, S, I> SoFar<O, S> for Grown<S, I> {
    #[cfg_attr(optimised, inline(always))]
    fn none() -> Self {
        Grown(O::of(iter::empty()), PhantomData)
    }
    #[cfg_attr(optimised, inline(always))]
    fn adds_all() -> bool {
        is_number::<S, I>()
    }
    #[cfg_attr(optimised, inline(always))]
    fn whole(self) -> S {
        self.0
    }
}

/// The same of elements that may have no value.
pub struct Valued<S, I>(S, PhantomData<I>);

impl<O: Total<S, S>, S, I> SoFar<O, Option<S>> for Valued<Option<S>, Option<I>> {
    #[cfg_attr(optimised, inline(always))]
    fn none() -> Self {
        Valued(Some(O::of(iter::empty())), PhantomData)
    }
    #[cfg_attr(optimised, inline(always))]
    fn adds_all() -> bool {
        is_number::<S, I>()
    }
    #[cfg_attr(optimised, inline(always))]
    fn whole(self) -> Option<S> {
        self.0
    }
}

impl<O: Total<S, S>, S, I, E> SoFar<O, Result<S, E>> for Valued<Result<S, E>, Result<I, E>> {
    #[cfg_attr(optimised, inline(always))]
    fn none() -> Self {
        Valued(Ok(O::of(iter::empty())), PhantomData)
    }
    #[cfg_attr(optimised, inline(always))]
    fn adds_all() -> bool {
        is_number::<S, I>()
    }
    #[cfg_attr(optimised, inline(always))]
    fn whole(self) -> Result<S, E> {
        self.0
    }
}

/// Elements that are kept.
pub struct Elements<S, I>(Vec<I>, PhantomData<S>);

impl<O: Total<S, I>, S, I> SoFar<O, S> for Elements<S, I> {
    fn none() -> Self {
        Elements(Vec::new(), PhantomData)
    }
    #[cfg_attr(optimised, inline(always))]
    fn adds_all() -> bool {
        is_number::<S, I>()
    }
    fn whole(self) -> S {
        O::of(self.0.into_iter())
    }
}

/// Says to rustc that the total is one of [`Number`]s.
pub trait AddsAll {}

impl<S: Number<I>, I> AddsAll for Grown<S, I> {}
impl<S: Number<I>, I> AddsAll for Valued<Option<S>, Option<I>> {}
impl<S: Number<I>, I, E> AddsAll for Valued<Result<S, E>, Result<I, E>> {}
impl<S: Number<I>, I> AddsAll for Elements<S, I> {}

/// What there is before the first element.
#[cfg_attr(optimised, inline(always))]
pub fn total_of_none<O, S, X: SoFar<O, S>>() -> X {
    X::none()
}

/// Whether the total asks for all elements, and is what the steps make of them.
#[cfg_attr(optimised, inline(always))]
pub fn adds_all<O, S, X: SoFar<O, S>>(_: &X) -> bool {
    X::adds_all()
}

/// The same, or it does not compile.
#[cfg_attr(optimised, inline(always))]
pub fn must_add_all<X: AddsAll>(_: &X) {}

/// The total.
#[cfg_attr(optimised, inline(always))]
pub fn total_of_all<O, S, X: SoFar<O, S>>(all: X) -> S {
    all.whole()
}

/// Around a total that is left to its type: its calls run as scalar code, which leaves a note.
#[cfg_attr(optimised, inline(always))]
pub fn left_to_type<S>(total: S) -> S {
    total
}

/// The same where the type is a number by its name, so that it will not happen.
#[cfg_attr(optimised, inline(always))]
pub fn left_to_number<S>(total: S) -> S {
    total
}

/// Elements of type `I` make a total of type `S`.
pub struct Adding<O, S, I>(PhantomData<(O, S, I)>);

impl<O, S, I> Adding<O, S, I> {
    /// By the type of an element.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(_: &I) -> Self {
        Adding(PhantomData)
    }

    #[cfg_attr(optimised, inline(always))]
    fn add(so_far: S, next: I) -> S
    where
        O: Total<S, S> + Total<S, I>,
    {
        O::of([so_far, O::of(iter::once(next))].into_iter())
    }
}

/// Totals that end at the first element that has no value.
pub trait ToFirstNone<X, I> {
    /// The total with one more element; and whether that is the last.
    fn total_step(&self, so_far: X, next: I) -> (X, bool);
}

impl<O: Total<S, S> + Total<S, I>, S, I> ToFirstNone<Valued<Option<S>, Option<I>>, Option<I>>
    for &&Adding<O, Option<S>, Option<I>>
{
    #[cfg_attr(optimised, inline(always))]
    fn total_step(
        &self,
        so_far: Valued<Option<S>, Option<I>>,
        next: Option<I>,
    ) -> (Valued<Option<S>, Option<I>>, bool) {
        let total = match (so_far.0, next) {
            (Some(so_far), Some(next)) => Some(Adding::<O, S, I>::add(so_far, next)),
            _ => None,
        };
        let last = total.is_none();
        (Valued(total, PhantomData), last)
    }
}

impl<O: Total<S, S> + Total<S, I>, S, I, E> ToFirstNone<Valued<Result<S, E>, Result<I, E>>, Result<I, E>>
    for &&Adding<O, Result<S, E>, Result<I, E>>
{
    #[cfg_attr(optimised, inline(always))]
    fn total_step(
        &self,
        so_far: Valued<Result<S, E>, Result<I, E>>,
        next: Result<I, E>,
    ) -> (Valued<Result<S, E>, Result<I, E>>, bool) {
        let total = match (so_far.0, next) {
            (Ok(so_far), Ok(next)) => Ok(Adding::<O, S, I>::add(so_far, next)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        let last = total.is_err();
        (Valued(total, PhantomData), last)
    }
}

/// Totals that grow.
pub trait ByStep<X, I> {
    /// The total with one more element; and whether that is the last.
    fn total_step(&self, so_far: X, next: I) -> (X, bool);
}

impl<O: Total<S, S> + Total<S, I>, S, I> ByStep<Grown<S, I>, I> for &Adding<O, S, I> {
    #[cfg_attr(optimised, inline(always))]
    fn total_step(&self, so_far: Grown<S, I>, next: I) -> (Grown<S, I>, bool) {
        (Grown(Adding::<O, S, I>::add(so_far.0, next), PhantomData), false)
    }
}

/// All others.
pub trait ToTheEnd<X, I> {
    /// The elements with one more; and whether that is the last.
    fn total_step(&self, so_far: X, next: I) -> (X, bool);
}

impl<O, S, I> ToTheEnd<Elements<S, I>, I> for Adding<O, S, I> {
    fn total_step(&self, mut so_far: Elements<S, I>, next: I) -> (Elements<S, I>, bool) {
        so_far.0.push(next);
        (so_far, false)
    }
}

impl<S: IsWhole, I: IsWhole> IsWhole for Grown<S, I> {}
impl<S: IsWhole, I: IsWhole> IsWhole for Valued<S, I> {}
impl<S: IsWhole, I: IsWhole> IsWhole for Elements<S, I> {}

/// Of a type parameter's values nothing is known but that the parameter has no lifetime.
impl<S> Same for Ask<Grown<S, S>, fn(S)> {}
impl<S: Copy> SameCopied for Ask<Grown<S, S>, fn(S)> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The total as generated code makes it, and how many elements it asks for; or that it is left to the type.
    macro_rules! total {
        ($O:ident $S:ty, $elements:expr) => {{
            let (mut total, mut asked) = (total_of_none::<$O, $S, _>(), 0);
            let adds_all = adds_all::<$O, $S, _>(&total);
            for next in $elements {
                let (so_far, done) = (&&&Adding::<$O, $S, _>::of(&next)).total_step(total, next);
                (total, asked) = (so_far, asked + 1);
                if done {
                    break;
                }
            }
            let total = total_of_all::<$O, $S, _>(total);
            if adds_all { Some((total, asked)) } else { None }
        }};
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        for numbers in [&[][..], &[-0.0], &[0.0], &[1e16, 1.0, -1e16], &[0.1, 0.2, f64::INFINITY]] {
            let all = || numbers.iter().copied();
            let bits = |total: Option<(f64, usize)>| total.map(|(total, _)| total.to_bits());
            let whole = Some(all().sum::<f64>().to_bits());
            assert_eq!(bits(total!(Sums f64, all())), whole);
            assert_eq!(bits(total!(Sums f64, numbers)), whole);
            let whole = Some(all().product::<f64>().to_bits());
            assert_eq!(bits(total!(Products f64, all())), whole);
            assert_eq!(bits(total!(Products f64, numbers)), whole);
        }
    }

    #[test]
    fn options_end_the_sum() {
        assert_eq!(total!(Sums Option<i32>, [Some(1), Some(2)]), Some((Some(3), 2)));
        assert_eq!(total!(Sums Option<i32>, [Some(1), None, Some(2)]), Some((None, 2)));
        assert_eq!(total!(Sums Option<i32>, [Some(&1), None, Some(&2)]), Some((None, 2)));
        assert_eq!(total!(Sums Result<i32, &str>, [Ok(1), Err("no"), Err("later")]), Some((Err("no"), 2)));
        assert_eq!(total!(Products Result<i32, &str>, [Ok(&1), Err("no"), Err("")]), Some((Err("no"), 2)));
        assert_eq!(total!(Products Option<i32>, [Some(2), Some(0), Some(3)]), Some((Some(0), 3)));
        assert_eq!(total!(Products Option<i32>, [None, Some(2)]), Some((None, 1)));
    }

    #[test]
    fn generic_totals_are_those_of_their_types() {
        fn sum<'a, T: Sum<&'a T>>(all: &'a [T]) -> Option<(T, usize)> {
            total!(Sums T, all)
        }
        fn optional<T: Sum + Copy>(all: &[T]) -> Option<(Option<T>, usize)> {
            total!(Sums Option<T>, all.iter().map(|x| Some(*x)))
        }
        assert_eq!(sum(&[1.0, 2.0, 6.0]), Some((9.0, 3)));
        assert_eq!(optional(&[Wrapping(200_u8), Wrapping(100)]), Some((Some(Wrapping(44)), 2)));
        assert_eq!(optional(&[std::time::Duration::ZERO]), None);
    }

    #[test]
    fn other_types_make_their_totals_themselves() {
        #[derive(PartialEq, Debug)]
        struct Mean(f64);
        impl Sum<f64> for Mean {
            fn sum<I: Iterator<Item = f64>>(all: I) -> Mean {
                let (count, sum) = all.fold((0.0, 0.0), |(count, sum), x| (count + 1.0, sum + x));
                Mean(sum / count)
            }
        }
        impl Sum<Mean> for f64 {
            fn sum<I: Iterator<Item = Mean>>(mut all: I) -> f64 {
                all.next().map_or(0.0, |mean| mean.0)
            }
        }
        assert_eq!(total!(Sums Mean, [1.0, 2.0, 6.0]), None);
        assert_eq!(total!(Sums f64, [Mean(1.0), Mean(2.0)]), None);
        assert_eq!(total!(Sums Option<f64>, [Some(Mean(1.0)), None]), None);
    }
}
