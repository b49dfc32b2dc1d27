//! Types with type parameters in them go to other threads if they may where the batched function is called.

use std::marker::PhantomData;

use crate::common::{agree, column};
use autobatch::autobatch;

trait Monoid {
    type S: Clone;
    fn zero() -> Self::S;
    fn add(a: &Self::S, b: &Self::S) -> Self::S;
}

struct Sum;

impl Monoid for Sum {
    type S = u64;
    fn zero() -> u64 {
        0
    }
    fn add(a: &u64, b: &u64) -> u64 {
        a + b
    }
}

/// Its values do something when they are dropped.
struct Words;

impl Monoid for Words {
    type S = Vec<u64>;
    fn zero() -> Vec<u64> {
        vec![]
    }
    fn add(a: &Vec<u64>, b: &Vec<u64>) -> Vec<u64> {
        [&a[..], b].concat()
    }
}

/// What its values are only the type parameter's associated type says.
struct Tree<M: Monoid> {
    values: Vec<M::S>,
}

#[autobatch]
impl<M: Monoid> Tree<M> {
    pub(crate) fn total(&self, from: usize, to: usize) -> M::S {
        let mut sum = M::zero();
        for value in &self.values[from..to] {
            sum = M::add(&sum, value);
        }
        sum
    }

    pub(crate) fn push(&mut self, value: M::S) -> usize {
        self.values.push(value);
        self.values.len()
    }

    fn raise(&self, n: u32) -> M::S {
        if n == 0 { M::zero() } else { M::add(&self.raise(n - 1), &self.values[0]) }
    }
}

#[autobatch(strict)]
fn power<M: Monoid>(x: M::S, n: u32, _of: PhantomData<M>) -> M::S {
    let mut sum = M::zero();
    let mut i = 0;
    while i < n {
        sum = M::add(&sum, &x);
        i += 1;
    }
    sum
}

#[test]
fn associated_types_may_be_sent() {
    let tree = Tree::<Sum> { values: (0..50).collect() };
    let ranges: Vec<(usize, usize)> = (0..50).map(|i| (i / 3, i)).collect();
    agree(
        &ranges,
        |(from, to)| tree.total(*from, *to),
        |batch, options| tree.total_batched_with(column(batch, |r| r.0), column(batch, |r| r.1), options),
    );
    let n: Vec<u32> = (0..40).collect();
    agree(&n, |n| tree.raise(*n), |batch, options| tree.raise_batched_with(batch, options));
    let x: Vec<u64> = (0..40).collect();
    let of = PhantomData::<Sum>;
    let lots: Vec<(u64, u32)> = x.iter().copied().zip(n).collect();
    agree(
        &lots,
        |(x, n)| power(*x, *n, of),
        |batch, options| {
            power_batched_with(column(batch, |l| l.0), column(batch, |l| l.1), autobatch::same(of), options)
        },
    );
    let lists: Vec<(Vec<u64>, u32)> = lots.iter().map(|(x, n)| (vec![*x; *x as usize % 5], *n)).collect();
    let of = PhantomData::<Words>;
    agree(
        &lists,
        |(x, n)| power(x.clone(), *n, of),
        |batch, options| {
            power_batched_with(
                column(batch, |l| l.0.clone()),
                column(batch, |l| l.1),
                autobatch::same(of),
                options,
            )
        },
    );
    let mut trees: Vec<Tree<Sum>> = (0..9).map(|n| Tree { values: vec![7; n] }).collect();
    assert_eq!(Tree::push_batched(&mut trees, &[3; 9]), (1..10).collect::<Vec<_>>());
    assert!(trees.iter().all(|tree| tree.values.last() == Some(&3)));
}
