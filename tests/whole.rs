//! Which types are moved whole: those that the function writes, those in fields of such types, and those of which their author says
//! it. Their functions are block programs.

#![forbid(unsafe_code)]

mod common;

use autobatch::{IsWhole, autobatch};
use common::agree_at;

#[derive(Debug)]
struct Node {
    value: f64,
    next: Option<Box<Node>>,
}

fn list(n: u64) -> Node {
    let next = (n > 1).then(|| Box::new(list(n - 1)));
    Node { value: n as f64 * 0.5, next }
}

/// The type of `rest` stands in a field only.
#[autobatch(strict)]
fn sum(#[each] n: &u64) -> f64 {
    let Node { value, next } = list(*n % 17 + 1);
    let (mut total, mut rest) = (value, next);
    while let Some(node) = rest {
        total = total * 0.75 + node.value;
        rest = node.next;
    }
    total
}

/// A type that the macro can't see.
macro_rules! define {
    ($name:ident) => {
        struct $name {
            coefficients: Vec<f64>,
        }
    };
}
define!(Polynomial);
impl IsWhole for Polynomial {}

fn taylor(n: u64) -> Polynomial {
    let mut coefficients = vec![1.0];
    (1..n).for_each(|k| coefficients.push(coefficients[k as usize - 1] / k as f64));
    Polynomial { coefficients }
}

/// And whose name the function does not write.
#[autobatch(strict)]
fn root(n: u64, x: f64) -> f64 {
    let polynomial = taylor(n % 9 + 3);
    let (mut low, mut high) = (-2.0, x);
    while high - low > 1e-9 {
        let middle = 0.5 * (low + high);
        let value = polynomial.coefficients.iter().rev().fold(-0.5, |sum, c| sum * middle + c);
        if value > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[test]
fn the_type_of_a_field_is_known() {
    let members: Vec<u64> = (0..40).map(|n| n * 7 % 31).collect();
    agree_at(&[1, 211], &members, sum, |batch, options| sum_batched_with(batch, options));
    assert!(!sum_batched::program().whole_scalar);
}

#[test]
fn its_author_says_that_a_type_is_whole() {
    let members: Vec<(u64, f64)> = (0..40).map(|n| (n * 7 % 31, n as f64 * 0.3)).collect();
    agree_at(
        &[1, 211],
        &members,
        |&(n, x)| root(n, x),
        |batch, options| {
            let (n, x): (Vec<u64>, Vec<f64>) = batch.iter().copied().unzip();
            root_batched_with(n, x, options)
        },
    );
    assert!(!root_batched::program().whole_scalar);
}
