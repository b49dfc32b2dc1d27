//! Which types are moved whole: those that the function writes, those in fields of such types, and those of which their author says
//! it. Their functions are block programs.

#![forbid(unsafe_code)]

use crate::common::agree_at;
use autobatch::{IsWhole, autobatch};

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

mod of_a_parameter {
    use autobatch::autobatch;

    pub(crate) trait Spec {
        type Value: Clone;
    }

    pub(crate) struct Least;
    impl Spec for Least {
        type Value = i64;
    }

    pub(crate) struct Node<S: Spec> {
        pub(crate) value: S::Value,
    }

    pub(crate) struct Tree<S: Spec> {
        pub(crate) nodes: Vec<Node<S>>,
    }

    impl<S: Spec> Tree<S> {
        fn halves(&mut self, (at, len): (usize, i64)) -> ((usize, i64), (usize, i64)) {
            ((at * 2 + 1, len / 2), (at * 2 + 2, len - len / 2))
        }
    }

    /// The type of a node's value is the trait's.
    #[autobatch]
    pub(crate) fn first_negative(tree: &mut Tree<self::Least>, view: (usize, i64)) -> Option<i64> {
        let (at, len) = view;
        if len <= 1 || at > 3 {
            return Some(at as i64).filter(|_| tree.nodes[at].value < 0);
        }
        let (left, right) = tree.halves(view);
        match tree.nodes[left.0].value < 0 {
            true => first_negative(tree, left),
            false => first_negative(tree, right).map(|x| left.1 + x),
        }
    }
}

#[test]
fn a_field_may_have_a_type_of_a_parameters_trait() {
    use of_a_parameter::{Least, Node, Tree, first_negative, first_negative_batched_with};
    let tree = |n: &u64| Tree::<Least> {
        nodes: (0..12).map(|k| Node { value: (*n as i64 * 7 + k * k) % 11 - 5 }).collect(),
    };
    let members: Vec<u64> = (0..100).collect();
    let views: Vec<(usize, i64)> = members.iter().map(|n| (0, *n as i64 % 9)).collect();
    let expected: Vec<_> =
        members.iter().zip(&views).map(|(n, view)| first_negative(&mut tree(n), *view)).collect();
    for (name, options) in crate::common::executors() {
        let mut trees: Vec<_> = members.iter().map(tree).collect();
        let outcome = first_negative_batched_with(&mut trees, &views, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), expected, "{name}");
    }
}
