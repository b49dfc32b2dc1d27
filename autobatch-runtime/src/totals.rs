//! Sums and products, one element at a time, of the types whose own `sum` and `product` take a whole iterator.
//! For generated code only.
//!
//! Which way it goes the types decide, by the method that rustc finds first on `&&&Adding<S, I>`: where a type is a sum of its like,
//! and so are the elements, it grows by steps; else the elements are kept until all are there. The library's types that stop
//! asking for elements, `Option` and `Result`, do so either way; a type of the user's that does, and is no sum of its
//! like, gets all of them.

use std::iter::{self, Product, Sum};
use std::marker::PhantomData;

/// Elements that are kept, for a total of type `S`.
pub struct Elements<S, I>(Vec<I>, PhantomData<S>);

impl<S, I> Elements<S, I> {
    fn and(mut self, next: I) -> Self {
        self.0.push(next);
        self
    }
}

/// Elements of type `I` make a total of type `S`.
pub struct Adding<S, I>(PhantomData<(S, I)>);

impl<S, I> Adding<S, I> {
    /// By the type of an element.
    #[inline(always)]
    pub fn of(_: &I) -> Self {
        Adding(PhantomData)
    }
}

macro_rules! totals {
    ($($of:ident $fold:ident $begin:ident $total:ident $none:ident $whole:ident $by_step:ident $step:ident)*) => {
        $(
            /// What is kept between elements.
            pub trait $begin {
                /// What there is before the first element.
                fn none() -> Self;
            }

            impl<S: $of<S>> $begin for S {
                #[inline(always)]
                fn none() -> S {
                    iter::empty().$fold()
                }
            }

            impl<S, I> $begin for Elements<S, I> {
                fn none() -> Self {
                    Elements(Vec::new(), PhantomData)
                }
            }

            /// What becomes a total of type `S`.
            pub trait $total<S> {
                /// The total.
                fn whole(self) -> S;
            }

            impl<S: $of<S>> $total<S> for S {
                #[inline(always)]
                fn whole(self) -> S {
                    self
                }
            }

            impl<I, S: $of<I>> $total<S> for Elements<S, I> {
                fn whole(self) -> S {
                    self.0.into_iter().$fold()
                }
            }

            /// What there is before the first element.
            #[inline(always)]
            pub fn $none<X: $begin>() -> X {
                X::none()
            }

            /// The total.
            #[inline(always)]
            pub fn $whole<S, X: $total<S>>(all: X) -> S {
                all.whole()
            }

            /// The total is one of its like.
            pub trait $by_step<S> {
                /// The total so far and the next element; and whether it ends here, as that of `Option`s does at a `None`.
                fn $step(&self, so_far: S, next: S) -> (S, bool);
            }

            impl<S: $of<S>> $by_step<S> for &&Adding<S, S> {
                #[inline(always)]
                fn $step(&self, so_far: S, next: S) -> (S, bool) {
                    let mut all = false;
                    let total = [so_far, next].into_iter().chain(end(&mut all)).$fold();
                    (total, !all)
                }
            }
        )*
    };
}
totals! {
    Sum sum BeginSum SumOf sum_of_none sum_of_all SumByStep sum_step
    Product product BeginProduct ProductOf product_of_none product_of_all ProductByStep product_step
}

/// Totals of `Option`s and `Result`s, which end at the first element that has no value.
pub trait ToFirstNone<S, I> {
    /// The elements so far and the next one; and whether that is the last.
    fn sum_step(&self, so_far: Elements<S, I>, next: I) -> (Elements<S, I>, bool);
    /// The same of a product.
    fn product_step(&self, so_far: Elements<S, I>, next: I) -> (Elements<S, I>, bool) {
        self.sum_step(so_far, next)
    }
}

impl<S, I> ToFirstNone<Option<S>, Option<I>> for &Adding<Option<S>, Option<I>> {
    fn sum_step(&self, so_far: Optional<S, I>, next: Option<I>) -> (Optional<S, I>, bool) {
        let last = next.is_none();
        (so_far.and(next), last)
    }
}

impl<S, I, E> ToFirstNone<Result<S, E>, Result<I, E>> for &Adding<Result<S, E>, Result<I, E>> {
    fn sum_step(&self, so_far: Fallible<S, I, E>, next: Result<I, E>) -> (Fallible<S, I, E>, bool) {
        let last = next.is_err();
        (so_far.and(next), last)
    }
}

type Optional<S, I> = Elements<Option<S>, Option<I>>;
type Fallible<S, I, E> = Elements<Result<S, E>, Result<I, E>>;

/// All others.
pub trait ToTheEnd<S, I> {
    /// The elements so far and the next one; and whether that is the last.
    fn sum_step(&self, so_far: Elements<S, I>, next: I) -> (Elements<S, I>, bool);
    /// The same of a product.
    fn product_step(&self, so_far: Elements<S, I>, next: I) -> (Elements<S, I>, bool) {
        self.sum_step(so_far, next)
    }
}

impl<S, I> ToTheEnd<S, I> for Adding<S, I> {
    fn sum_step(&self, so_far: Elements<S, I>, next: I) -> (Elements<S, I>, bool) {
        (so_far.and(next), false)
    }
}

/// Nothing but the types.
#[inline(always)]
pub fn holds<T>(_: &Option<T>, _: &T) {}

/// Nothing but the types.
#[inline(always)]
pub fn holds_keyed<K, T>(_: &Option<(K, T)>, _: &K, _: &T) {}

/// No element; notes that it was asked for one.
fn end<S>(asked: &mut bool) -> impl Iterator<Item = S> {
    iter::from_fn(move || {
        *asked = true;
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The total as generated code makes it, and how many elements it asks for.
    macro_rules! stepwise {
        ($S:ty, $elements:expr, $none:ident, $step:ident, $all:ident) => {{
            let (mut total, mut asked) = ($none(), 0);
            for next in $elements {
                let (so_far, done) = (&&&Adding::<$S, _>::of(&next)).$step(total, next);
                (total, asked) = (so_far, asked + 1);
                if done {
                    break;
                }
            }
            ($all::<$S, _>(total), asked)
        }};
    }

    macro_rules! sum {
        ($S:ty, $elements:expr) => {
            stepwise!($S, $elements, sum_of_none, sum_step, sum_of_all)
        };
    }

    macro_rules! product {
        ($S:ty, $elements:expr) => {
            stepwise!($S, $elements, product_of_none, product_step, product_of_all)
        };
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        for numbers in [&[][..], &[-0.0], &[0.0], &[1e16, 1.0, -1e16], &[0.1, 0.2, f64::INFINITY]] {
            let whole: f64 = numbers.iter().copied().sum();
            assert_eq!(whole.to_bits(), sum!(f64, numbers.iter().copied()).0.to_bits());
            assert_eq!(whole.to_bits(), sum!(f64, numbers).0.to_bits());
            let whole: f64 = numbers.iter().copied().product();
            assert_eq!(whole.to_bits(), product!(f64, numbers.iter().copied()).0.to_bits());
            assert_eq!(whole.to_bits(), product!(f64, numbers).0.to_bits());
        }
    }

    #[test]
    fn options_end_the_sum() {
        assert_eq!(sum!(Option<i32>, [Some(1), Some(2)]), (Some(3), 2));
        assert_eq!(sum!(Option<i32>, [Some(1), None, Some(2)]), (None, 2));
        assert_eq!(sum!(Option<i32>, [Some(&1), None, Some(&2)]), (None, 2));
        assert_eq!(sum!(Result<i32, &str>, [Ok(1), Err("no"), Err("later")]), (Err("no"), 2));
        assert_eq!(product!(Result<i32, &str>, [Ok(&1), Err("no"), Err("later")]), (Err("no"), 2));
        assert_eq!(product!(Option<i32>, [Some(2), Some(0), Some(3)]), (Some(0), 3));
        assert_eq!(product!(Option<i32>, [None, Some(2)]), (None, 1));
    }

    #[test]
    fn a_type_that_is_no_sum_of_its_like() {
        #[derive(PartialEq, Debug)]
        struct Mean(f64);
        impl Sum<f64> for Mean {
            fn sum<I: Iterator<Item = f64>>(all: I) -> Mean {
                let (count, sum) = all.fold((0.0, 0.0), |(count, sum), x| (count + 1.0, sum + x));
                Mean(sum / count)
            }
        }
        assert_eq!(sum!(Mean, [1.0, 2.0, 6.0]), (Mean(3.0), 3));
    }
}
