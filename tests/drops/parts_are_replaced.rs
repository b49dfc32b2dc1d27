//! A call takes a part of a local and returns a new one: `node.left = insert(node.left, key)`.

use crate::common::{Bits, agree_at, column, is_per_member};
use autobatch::autobatch;

type Link = Option<Box<Node>>;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    key: u32,
    left: Link,
    right: Link,
    marks: Vec<u32>,
}

#[autobatch]
fn insert(link: Link, key: u32) -> Link {
    let Some(mut node) = link else {
        return Some(Box::new(Node { key, left: None, right: None, marks: vec![] }));
    };
    if key < node.key {
        node.left = insert(node.left, key);
    } else if key > node.key {
        node.right = insert(node.right, key);
    }
    node.marks.push(key);
    Some(node)
}

/// Ends early, and gets other parts of the same.
#[autobatch]
fn prune(link: Link, limit: u32) -> Result<Link, u32> {
    match link {
        None => Ok(None),
        Some(node) if node.key == limit => Err(node.key),
        Some(mut node) => {
            node.left = prune(node.left, limit)?;
            (node.left, node.right) = if node.key % 2 == 0 {
                (prune(node.right, limit)?, node.left)
            } else {
                (node.left, prune(node.right, limit)?)
            };
            Ok(if node.key % 3 == 0 { node.left } else { Some(node) })
        }
    }
}

/// In closures.
#[autobatch]
fn mark(mut node: Box<Node>, depth: u32) -> Box<Node> {
    node.left = node.left.map(|left| mark(left, depth + 1));
    if let Some(right) = node.right {
        node.right = Some(mark(right, depth + 2));
    }
    node.marks = node.marks.into_iter().map(|m| m / 2).collect();
    node.marks.push(depth);
    node
}

#[derive(Clone, Debug, PartialEq)]
struct Tree {
    label: String,
    children: Vec<Tree>,
}

#[autobatch]
mod trees {
    use super::Tree;

    pub(super) fn rename(mut tree: Tree, depth: usize) -> Tree {
        let label = tree.label;
        let mut children = Vec::new();
        for child in tree.children {
            children.push(rename(child, depth + 1));
        }
        tree.label = longer(label, depth);
        tree.children = children;
        tree
    }

    fn longer(mut label: String, n: usize) -> String {
        if n == 0 {
            return label;
        }
        label.push('x');
        longer(label, n - 1)
    }
}
use trees::{rename, rename_batched_with};

impl Bits for Box<Node> {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}
impl Bits for List {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}
impl Bits for Tree {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct List(Option<Box<Cons>>);
#[derive(Clone, Debug, PartialEq)]
struct Cons {
    head: u32,
    tail: List,
}

/// A type of the file, by its default.
#[autobatch]
fn merge(a: List, b: List) -> List {
    match (a.0, b.0) {
        (None, rest) | (rest, None) => List(rest),
        (Some(mut x), Some(mut y)) => {
            if x.head <= y.head {
                x.tail = merge(x.tail, List(Some(y)));
                List(Some(x))
            } else {
                y.tail = merge(List(Some(x)), y.tail);
                List(Some(y))
            }
        }
    }
}

fn list(n: u32) -> List {
    (0..n).fold(List(None), |tail, k| List(Some(Box::new(Cons { head: 3 * (n - k), tail }))))
}

fn sample(n: u32) -> Link {
    let mut tree = None;
    for i in 0..n {
        tree = insert(tree, i * 7 % 11);
    }
    tree
}

/// What can't be emptied: the program runs per member.
#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(u32),
    Sum(Box<Sum>),
}

#[derive(Clone, Debug, PartialEq)]
struct Sum {
    first: Box<Term>,
    second: Box<Term>,
    third: Result<Box<Term>, u32>,
}

#[autobatch]
#[expect(clippy::boxed_local, reason = "it comes from a field")]
fn doubled(term: Box<Term>, depth: u32) -> Box<Term> {
    match *term {
        Term::Number(n) => Box::new(Term::Number(2 * n + depth)),
        Term::Sum(mut sum) => {
            sum.first = doubled(sum.first, depth + 1);
            let second = doubled(sum.second, depth + 2);
            sum.second = second;
            if let Ok(third) = sum.third {
                sum.third = Ok(doubled(third, depth));
            }
            Box::new(Term::Sum(sum))
        }
    }
}

fn term(n: u32) -> Box<Term> {
    Box::new(match n {
        0..2 => Term::Number(n),
        _ => Term::Sum(Box::new(Sum {
            first: term(n / 2),
            second: term(n - 2),
            third: if n.is_multiple_of(2) { Ok(term(1)) } else { Err(n) },
        })),
    })
}

#[test]
fn parts_that_can_not_be_empty_run_per_member() {
    let terms: Vec<Box<Term>> = (0..9).map(term).collect();
    let depths: Vec<u32> = (0..9).collect();
    let scalar: Vec<Box<Term>> = (0..9).map(|n| doubled(term(n), n)).collect();
    assert_eq!(doubled_batched(terms, &depths), scalar);
    // What moves out of a box leaves a hole in it across the call.
    let ns: Vec<u32> = (0..9).collect();
    assert!(is_per_member(&ns, |n, o| doubled_batched_with(column(n, |n| term(*n)), n, o)));
}

#[test]
fn trees_are_rebuilt_by_calls() {
    let inputs: Vec<(Link, u32)> = (0..41).map(|n| (sample(n % 12), n * 3 % 13)).collect();
    let links = |b: &[(Link, u32)]| column(b, |i| i.0.clone());
    let keys = |b: &[(Link, u32)]| column(b, |i| i.1);
    let sizes = [1, 17, 97];
    agree_at(&sizes, &inputs, |i| insert(i.0.clone(), i.1), |b, o| insert_batched_with(links(b), keys(b), o));
    agree_at(&sizes, &inputs, |i| prune(i.0.clone(), i.1), |b, o| prune_batched_with(links(b), keys(b), o));
    let inputs: Vec<(Box<Node>, u32)> = (1..42).filter_map(|n| Some((sample(n % 12)?, n))).collect();
    agree_at(
        &sizes,
        &inputs,
        |i| mark(i.0.clone(), i.1),
        |b, o| mark_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    let tree = |label: u32, children: Vec<Tree>| Tree { label: label.to_string(), children };
    let branch = |k: u32| tree(k, (0..k).map(|n| tree(n, vec![])).collect());
    let inputs: Vec<(Tree, usize)> =
        (0..41).map(|n| (tree(n, (0..n % 4).map(branch).collect()), n as usize % 3)).collect();
    agree_at(
        &sizes,
        &inputs,
        |i| rename(i.0.clone(), i.1),
        |b, o| rename_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    let inputs: Vec<(u32, u32)> = (0..23).map(|n| (n % 6, n * 5 % 7)).collect();
    agree_at(
        &sizes,
        &inputs,
        |i| merge(list(i.0), list(i.1)),
        |b, o| merge_batched_with(column(b, |i| list(i.0)), column(b, |i| list(i.1)), o),
    );
}
