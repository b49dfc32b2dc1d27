//! Calls get views of `ndarray`'s arrays: of locals, of parameters, and parts of other views.

use crate::common::{agree_at, column};
use autobatch::autobatch;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, s};

const SIZES: [usize; 3] = [0, 1, 97];

/// A view by value, of which a part is given on.
#[autobatch]
fn sum(x: ArrayView1<f64>) -> f64 {
    if x.is_empty() { 0.0 } else { x[0] + sum(x.slice(s![1..])) }
}

/// A reference to a view that a method makes.
#[autobatch]
fn product(#[each] x: &ArrayView1<'_, f64>) -> f64 {
    if x.is_empty() { 1.0 } else { x[0] * product(&x.slice(s![1..])) }
}

#[autobatch]
fn halves(x: ArrayView1<'_, f64>, depth: u32) -> f64 {
    let n = x.len();
    if n <= 1 || depth == 0 {
        return x.sum();
    }
    let (a, b) = x.split_at(Axis(0), n / 2);
    halves(a, depth - 1) - 0.5 * halves(b, depth - 1)
}

/// A view of an array that is used on both sides of a loop.
#[autobatch]
fn shorter(x: Array1<f64>) -> f64 {
    let front = x.slice(s![..x.len() / 2]);
    let (mut sum, mut i) = (0.0, 0);
    while i < front.len() && sum < 10.0 {
        sum += front[i];
        i += 1;
    }
    if i > 1 { shorter(front.to_owned()) + sum } else { sum }
}

/// By minors, which are borrowed.
#[autobatch]
fn determinant(m: ArrayView2<f64>) -> f64 {
    if m.nrows() == 0 {
        return 1.0;
    }
    let mut sum = 0.0;
    for c in 0..m.ncols() {
        let mut minor = Array2::zeros((m.nrows() - 1, m.ncols() - 1));
        for i in 1..m.nrows() {
            for (k, j) in (0..m.ncols()).filter(|j| *j != c).enumerate() {
                minor[[i - 1, k]] = m[[i, j]];
            }
        }
        let sign = if c % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * m[[0, c]] * determinant(minor.view());
    }
    sum
}

#[autobatch]
mod borrowed {
    use super::{Array1, Array2, ArrayView1, ArrayViewMut1, s};

    pub(crate) fn rows(m: Array2<f64>, i: usize) -> f64 {
        if i == m.nrows() {
            return 0.0;
        }
        let one = alternating(m.row(i), 5);
        let other = alternating(m.column(i % m.ncols()), 3);
        one * other + rows(m, i + 1)
    }

    fn alternating(r: ArrayView1<'_, f64>, n: u32) -> f64 {
        if n == 0 || r.is_empty() { 1.0 } else { r[0] - alternating(r.slice(s![1..]), n - 1) }
    }

    pub(crate) fn changed(mut x: Array1<f64>, n: u32) -> f64 {
        if n == 0 {
            return x.sum();
        }
        let half = x.len() / 2;
        let a = scaled(x.slice_mut(s![..half]), n);
        let b = scaled(x.view_mut(), n - 1);
        a + b + x.sum() + changed(x, n - 1)
    }

    fn scaled(mut x: ArrayViewMut1<f64>, n: u32) -> f64 {
        if n == 0 || x.is_empty() {
            return 0.5;
        }
        x[0] *= 1.5;
        let first = x[0];
        first + scaled(x.slice_mut(s![1..]), n - 1)
    }
}

fn lines() -> Vec<Array1<f64>> {
    (0..13).map(|i| (0..i).map(|k| f64::from(k * k % 7) - 1.25).collect()).collect()
}

#[test]
fn parts_of_views_are_passed_on() {
    let lines = lines();
    let views: Vec<ArrayView1<'_, f64>> = lines.iter().map(|x| x.view()).collect();
    agree_at(&SIZES, &views, |x| sum(*x), |x, o| sum_batched_with(x, o));
    agree_at(&SIZES, &views, |x| product(x), |x, o| product_batched_with(x, o));
    let inputs: Vec<(ArrayView1<'_, f64>, u32)> =
        views.iter().copied().zip([0, 1, 2, 9].into_iter().cycle()).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| halves(i.0, i.1),
        |b, o| halves_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

#[test]
fn arrays_are_borrowed_by_calls() {
    agree_at(&SIZES, &lines(), |x| shorter(x.clone()), |x, o| shorter_batched_with(x, o));
    let squares: Vec<Array2<f64>> =
        (0..6).map(|n| Array2::from_shape_fn((n, n), |(i, k)| ((i * 5 + k * k) % 7) as f64 - 2.5)).collect();
    let views: Vec<ArrayView2<'_, f64>> = squares.iter().map(|m| m.view()).collect();
    agree_at(&SIZES, &views, |m| determinant(*m), |m, o| determinant_batched_with(m, o));
    agree_at(
        &SIZES,
        &squares,
        |m| borrowed::rows(m.clone(), 0),
        |m, o| borrowed::rows_batched_with(m, vec![0; m.len()], o),
    );
    let inputs: Vec<(Array1<f64>, u32)> = lines().into_iter().zip((0..4).cycle()).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| borrowed::changed(i.0.clone(), i.1),
        |b, o| borrowed::changed_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
}
