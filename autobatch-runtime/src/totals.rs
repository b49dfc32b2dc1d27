//! Sums and products, one element at a time, of the types whose own `sum` and `product` take a whole iterator.
//! For generated code only.

use std::iter::{self, Product, Sum};

/// The sum of nothing.
#[inline(always)]
pub fn sum_of_none<S: Sum<S>>() -> S {
    iter::empty().sum()
}

/// The product of nothing.
#[inline(always)]
pub fn product_of_none<S: Product<S>>() -> S {
    iter::empty().product()
}

/// The sum so far and the next element; and whether the sum ends here, as that of `Option`s does at a `None`.
#[inline(always)]
pub fn sum_step<S: Sum<S>>(sum: S, next: S) -> (S, bool) {
    let mut all = false;
    let sum = [sum, next].into_iter().chain(end(&mut all)).sum();
    (sum, !all)
}

/// [`sum_step`] of a product.
#[inline(always)]
pub fn product_step<S: Product<S>>(product: S, next: S) -> (S, bool) {
    let mut all = false;
    let product = [product, next].into_iter().chain(end(&mut all)).product();
    (product, !all)
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

    #[test]
    fn steps_add_up_to_the_whole() {
        for numbers in [&[][..], &[-0.0], &[0.0], &[1e16, 1.0, -1e16], &[0.1, 0.2, f64::INFINITY]] {
            let whole: f64 = numbers.iter().copied().sum();
            let steps = numbers.iter().fold(sum_of_none(), |sum, x| sum_step(sum, *x).0);
            assert_eq!(whole.to_bits(), steps.to_bits());
            let whole: f64 = numbers.iter().copied().product();
            let steps = numbers.iter().fold(product_of_none(), |product, x| product_step(product, *x).0);
            assert_eq!(whole.to_bits(), steps.to_bits());
        }
    }

    #[test]
    fn options_end_the_sum() {
        assert_eq!(sum_step(Some(1), Some(2)), (Some(3), false));
        assert_eq!(sum_step(Some(1), None), (None, true));
        assert_eq!(sum_step::<Result<i32, &str>>(Ok(1), Err("no")), (Err("no"), true));
        assert_eq!(product_step(Some(2), Some(0)), (Some(0), false));
        assert_eq!(product_step(None::<i32>, Some(2)), (None, true));
    }
}
