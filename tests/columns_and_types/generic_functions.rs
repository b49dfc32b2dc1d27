//! Several generic functions in one program: they mean each other's types.

use crate::common::{agree_at, column};
use autobatch::{autobatch, same};

const SIZES: [usize; 3] = [0, 1, 29];

#[autobatch(strict)]
mod numeric {
    use num_traits::Float;

    /// Adaptive quadrature of a polynomial.
    pub(crate) fn integral<T: Float>(a: T, b: T, tolerance: T, depth: u32) -> T {
        let whole = rule(a, b);
        let middle = (a + b) / (T::one() + T::one());
        let halves = rule(a, middle) + rule(middle, b);
        if depth == 0 || (whole - halves).abs() < tolerance {
            return halves;
        }
        let half = tolerance / (T::one() + T::one());
        integral(a, middle, half, depth - 1) + integral::<T>(middle, b, half, depth - 1)
    }

    fn rule<T: Float>(a: T, b: T) -> T {
        let mut sum = T::zero();
        let mut i = 0;
        while i < 3 {
            let x = a + (b - a) * T::from(i).unwrap() / (T::one() + T::one());
            sum = sum + power(x, 3) - x;
            i += 1;
        }
        sum * (b - a)
    }

    fn power<T: Float>(x: T, n: u32) -> T {
        if n == 0 { T::one() } else { x * power(x, n - 1) }
    }
}

#[autobatch(strict)]
mod arrays {
    pub(crate) fn sorted<const N: usize>(values: [i32; N], from: usize) -> [i32; N] {
        if from + 1 >= N {
            return values;
        }
        sorted(with_least_first(values, from, from), from + 1)
    }

    fn with_least_first<const N: usize>(mut values: [i32; N], from: usize, at: usize) -> [i32; N] {
        if at == N {
            return values;
        }
        if values[at] < values[from] {
            values.swap(at, from);
        }
        with_least_first::<N>(values, from, at + 1)
    }
}

/// Calls of other types than the caller's are scalar.
#[autobatch]
mod others {
    use std::ops::Add;

    pub(crate) fn power<T: Copy + From<u8> + Add<Output = T>>(n: u32, x: T) -> T {
        if n == 0 { x } else { power(n - 1, x) + x }
    }

    pub(crate) fn made<T: Copy + From<u8> + Add<Output = T>>(n: u32) -> T {
        if n == 0 { T::from(1) } else { made::<T>(n - 1) + made(n / 2) }
    }

    pub(crate) fn all<T: Copy + From<u8> + Add<Output = T>>(n: u32, x: T) -> T {
        if n == 0 {
            return x;
        }
        let small = 2u8;
        let k: u8 = made(n % 4);
        let other = power(n % 3, small);
        let own: T = made(n);
        let fewer: u8 = if k > 2 { all(n / 3, 3) } else { 1 };
        all(n - 1, x) + own + T::from(k) + T::from(other) + T::from(fewer) + all(n / 2, own)
    }
}

#[test]
fn calls_at_other_types_are_scalar() {
    let inputs: Vec<u32> = (0..9).collect();
    agree_at(&SIZES, &inputs, |n| others::all(*n, 2u64), |n, o| others::all_batched_with(n, same(2u64), o));
}

#[test]
fn numbers_and_arrays_of_any_type() {
    let ends: Vec<(f64, f64)> = (0..7).map(|i| (f64::from(i) * 0.1, f64::from(i % 7) - 2.0)).collect();
    agree_at(
        &SIZES,
        &ends,
        |(a, b)| numeric::integral(*a, *b, 1e-6, 2),
        |x, o| numeric::integral_batched_with(column(x, |x| x.0), column(x, |x| x.1), same(1e-6), same(2), o),
    );
    agree_at(
        &SIZES,
        &ends,
        |(a, b)| numeric::integral(*a as f32, *b as f32, 1e-3, 1),
        |x, o| {
            let (a, b) = (column(x, |x| x.0 as f32), column(x, |x| x.1 as f32));
            numeric::integral_batched_with(a, b, same(1e-3), same(1), o)
        },
    );
    let rows: Vec<[i32; 6]> = (0..7).map(|i| std::array::from_fn(|k| (k as i32 * 7 + i * 13) % 11)).collect();
    agree_at(&SIZES, &rows, |v| arrays::sorted(*v, 0), |v, o| arrays::sorted_batched_with(v, same(0), o));
}

trait Evaluate {
    fn value(&self, n: u32) -> u32;
}

struct Line(u32);

impl Evaluate for Line {
    fn value(&self, n: u32) -> u32 {
        self.0 * n + 1
    }
}

/// What is only shared need not be `Send`, nor sized.
#[autobatch(strict)]
fn judged<E: Evaluate + ?Sized + Sync>(judge: &E, n: u32) -> u32 {
    let mut sum = 0;
    for k in 0..n % 5 {
        sum += judge.value(k);
    }
    if n == 0 { sum } else { sum + judged(judge, n / 2) }
}

#[test]
fn shared_values_need_not_be_send() {
    let ns: Vec<u32> = (0..29).collect();
    let line = Line(3);
    let judge: &(dyn Evaluate + Sync) = &line;
    agree_at(&SIZES, &ns, |n| judged(judge, *n), |n, o| judged_batched_with(judge, n, o));
    agree_at(&SIZES, &ns, |n| judged(&line, *n), |n, o| judged_batched_with(&line, n, o));
}
