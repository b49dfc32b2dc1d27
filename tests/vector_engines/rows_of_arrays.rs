//! Rows of small matrices, by index and by iterator, and variables whose types only their use tells.

// Written as users write.
#![allow(clippy::needless_range_loop)]

use autobatch::{Executor, autobatch};

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 500];

fn inputs() -> Vec<(f64, u32)> {
    (0..120).map(|i| (f64::from(i) * 0.01 + 0.1, i * 7 % 50)).collect()
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn by_rows(m: &[[f64; 3]; 2], x: &[f64; 3]) -> [f64; 2] {
    let mut y = [0.0; 2];
    for i in 0..2 {
        y[i] = dot(&m[i], x);
    }
    y
}

fn by_elements(m: &[[f64; 3]; 2], x: &[f64; 3]) -> [f64; 2] {
    std::array::from_fn(|i| m[i].iter().zip(x).map(|(a, b)| a * b).sum())
}

fn by_map(m: &[[f64; 3]; 2], x: &[f64; 3]) -> [f64; 2] {
    m.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum())
}

fn by_zip(m: &[[f64; 3]; 2], x: &[f64; 3]) -> [f64; 2] {
    let mut y = [0.0; 2];
    for (y, row) in y.iter_mut().zip(m) {
        *y = row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>() + row.len() as f64;
    }
    y
}

fn nested(m: &[[f64; 3]; 2]) -> f64 {
    let mut sum = 0.0;
    for row in m {
        for (k, x) in row.iter().enumerate() {
            sum += x * (k + 1) as f64;
        }
        for other in m.iter() {
            sum -= row[0] * other[1];
        }
    }
    sum
}

/// Open literals: `m`, `x` and `weights` are of floats, `step` of one that is lent for changes.
#[autobatch(strict)]
fn products(a: f64, n: u32) -> f64 {
    let m = [[0.5, 0.25, -0.5], [0.125, a, 0.1]];
    let mut x = [1.0, 0.0, 0.5];
    let weights = [0.25, 0.5, 0.125];
    let mut step = 0.5;
    for _ in 0..n % 7 {
        let [p, q] = by_rows(&m, &x);
        let [r, s] = by_elements(&m, &x);
        let [t, u] = by_map(&m, &x);
        let [v, w] = by_zip(&m, &x);
        let level = nested(&m) + dot(&weights, &x);
        x = [p + r * 0.5, q - t * step, s + u + (v - w) * 0.1];
        halve(&mut step, level);
    }
    x[0] + x[1] + x[2] * step
}

fn halve(step: &mut f64, level: f64) {
    if level > 0.2 {
        *step *= 0.5;
    }
}

#[test]
fn rows_are_found_in_every_way() {
    agree_at(
        SIZES,
        &inputs(),
        |&(a, n)| products(a, n),
        |batch, options| products_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
    let program = products_batched::program().to_string();
    assert!(!program.contains("by_rows(") && !program.contains("dot("), "{program}");
}

/// An index that is out of range is a fault, whether or not anybody takes an element.
#[autobatch(strict)]
fn out_of_range(a: f64, n: u32) -> f64 {
    let m = [[a, 1.0], [0.5, a]];
    let mut sum = 0.0;
    for i in 0..(n % 4) as usize {
        sum += first(&m[i], a) + f64::from(n);
        for _ in m[i].iter() {
            sum += 1.0;
        }
    }
    sum
}

fn first(row: &[f64; 2], a: f64) -> f64 {
    if a > 0.5 { row[0] } else { a }
}

#[test]
fn rows_that_are_not_there_are_faults() {
    let inputs = inputs();
    let (a, n) = (column(&inputs, |i| i.0), column(&inputs, |i| i.1));
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Auto, Executor::Scalar] {
        let options = autobatch::Options::default().executor(executor);
        let results = out_of_range_batched_with(&a, &n, &options).expect("a batch").into_results();
        for (result, &(a, n)) in results.iter().zip(&inputs) {
            match n % 4 {
                3 => assert!(result.is_err(), "{executor:?}"),
                _ => assert_eq!(result.as_ref().unwrap().to_bits(), out_of_range(a, n).to_bits()),
            }
        }
    }
}
