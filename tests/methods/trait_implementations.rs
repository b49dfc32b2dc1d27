//! Implementations of traits: with the attribute on the `impl` block, and in a module of traits that stand elsewhere.

#![allow(clippy::only_used_in_recursion)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

mod laws {
    /// What pulls.
    pub(crate) trait Potential {
        type Step;
        const SOFT: f64;
        fn energy(&self, x: f64, depth: u32) -> f64;
        fn settle(&mut self, x: f64) -> Self::Step;
        fn start() -> f64 {
            0.5
        }
    }

    pub(crate) trait Scaled<T> {
        fn scaled(self, by: T) -> T;
    }
}

#[derive(Clone)]
struct Well {
    depth: f64,
    width: f64,
}

#[autobatch(strict)]
impl laws::Potential for Well {
    type Step = (u32, f64);
    const SOFT: f64 = 0.25;

    fn energy(&self, x: f64, depth: u32) -> f64 {
        if depth == 0 || x.abs() > self.width {
            return Self::SOFT * x * self.depth;
        }
        let below = self.energy(x * 0.5, depth - 1) + Self::energy(self, x + Self::start(), depth - 1);
        below / 2.0
    }

    fn settle(&mut self, mut x: f64) -> Self::Step {
        let mut steps: (u32, f64) = (0, x);
        while x > self.width {
            self.depth += x * 0.125;
            x *= 0.75;
            steps = (steps.0 + 1, x);
        }
        let last: Self::Step = steps;
        last
    }
}

#[derive(Clone, Copy)]
struct Pair<T>(T, T);

#[autobatch(strict)]
impl<T: num_traits::Float> laws::Scaled<T> for Pair<T> {
    fn scaled(self, by: T) -> T {
        if by < T::one() {
            return self.0 * by + self.1;
        }
        Self(self.1, self.0 + by).scaled(by / (T::one() + T::one())) - by
    }
}

/// Walks for ever.
struct Walk {
    at: u64,
}

#[autobatch]
impl Iterator for Walk {
    type Item = u64;

    fn next(&mut self) -> Option<Self::Item> {
        let mut steps = 0;
        while self.at % 7 != 3 {
            self.at = self.at * 3 + 1;
            steps += 1;
            if steps > 9 {
                return None;
            }
        }
        self.at += 1;
        Some(self.at)
    }
}

/// A module with a trait of another.
#[autobatch]
mod trees {
    pub(crate) trait Own {
        fn weight(&self, x: f64) -> f64;
        fn along(&self, xs: &[f64], by: f64) -> f64;
    }

    pub(crate) enum Tree {
        Leaf(f64),
        Node(Box<Tree>, Box<Tree>),
    }

    impl super::laws::Scaled<f64> for &Tree {
        fn scaled(self, by: f64) -> f64 {
            by
        }
    }

    use super::laws::Potential;

    impl Potential for Tree {
        type Step = f64;
        const SOFT: f64 = 2.0;

        fn energy(&self, x: f64, depth: u32) -> f64 {
            match self {
                Tree::Leaf(value) => value * x / Self::SOFT,
                Tree::Node(left, right) => {
                    left.energy(x * 0.5, depth + 1) - right.energy(x + 1.0, depth + 1) * left.weight(x)
                }
            }
        }

        fn settle(&mut self, x: f64) -> Self::Step {
            let mut x: Self::Step = x;
            while x > Self::SOFT {
                x *= 0.5;
            }
            x
        }
    }

    impl Own for Tree {
        fn weight(&self, x: f64) -> f64 {
            match self {
                Tree::Leaf(value) => *value,
                Tree::Node(left, _) => left.weight(x) + Tree::start(),
            }
        }
        fn along(&self, #[each] xs: &[f64], #[shared] by: f64) -> f64 {
            match (self, xs) {
                (Tree::Node(left, right), [x, rest @ ..]) if *x < by => {
                    left.along(rest, by) - right.along(xs, by)
                }
                (_, xs) => xs.iter().fold(by, |sum, x| self.weight(*x) - sum),
            }
        }
    }

    impl Tree {
        pub(crate) fn leaves(&self, #[each] xs: &[f64], #[shared] by: f64) -> f64 {
            match self {
                Tree::Leaf(value) => xs.first().map_or(by, |x| x * value),
                Tree::Node(left, right) => left.leaves(xs, by) + right.leaves(xs, by),
            }
        }
    }

    pub(crate) fn entry(tree: &Tree, x: f64) -> f64 {
        tree.energy(x, 0) + tree.weight(x)
    }

    pub(crate) fn settled(x: f64) -> f64 {
        let mut tree = Tree::Leaf(x);
        tree.settle(x) + entry(&tree, x)
    }
}

/// Generic methods of generic types; those of another type are plain calls.
#[autobatch]
mod generic {
    pub(crate) struct Poly<T> {
        pub(crate) all: Vec<T>,
    }

    impl<T: num_traits::Float> Poly<T> {
        pub(crate) fn at<U: Into<T> + Copy>(&self, x: U, n: u32) -> T {
            let mut sum = T::zero();
            let mut i = 0;
            while i < self.all.len() {
                sum = sum * x.into() + self.all[i];
                i += 1;
            }
            if n == 0 { sum } else { sum + self.at(x, n - 1) - self.at::<U>(x, n / 2) }
        }
    }

    pub(crate) fn entry(p: &Poly<f64>, x: f32, n: u32) -> f64 {
        let (mut n, mut sum) = (n, 0.0);
        while n > 0 {
            sum += p.at(x, n);
            n /= 2;
        }
        sum
    }
}

#[test]
fn for_generic_types() {
    use generic::{Poly, entry, entry_batched, entry_batched_with};
    let poly = Poly { all: vec![0.5, -1.0, 0.25] };
    let xs: Vec<f32> = (0..11).map(|i| i as f32 * 0.25 - 1.0).collect();
    let n = autobatch::same(5);
    agree_at(&SIZES, &xs, |x| poly.at(*x, 5), |x, o| poly.at_batched_with(x, n, o));
    agree_at(&SIZES, &xs, |x| entry(&poly, *x, 5), |x, o| entry_batched_with(&poly, x, n, o));
    assert!(Poly::<f64>::at_batched_program().notes.is_empty());
    let notes = entry_batched::program().notes;
    assert!(notes.iter().any(|note| note.why.contains("only where it is the one that is called")));
}

#[test]
fn for_one_type() {
    let xs: Vec<f64> = (0..11).map(|i| f64::from(i) * 1.25 - 4.0).collect();
    let well = Well { depth: 3.0, width: 2.5 };
    use laws::{Potential, Scaled};
    agree_at(&SIZES, &xs, |x| well.energy(*x, 6), |x, o| well.energy_batched_with(x, autobatch::same(6), o));
    agree_at(
        &SIZES,
        &xs,
        |x| well.clone().settle(*x * 9.0),
        |x, o| Well::settle_batched_with(&mut column(x, |_| well.clone()), column(x, |x| x * 9.0), o),
    );
    agree_at(
        &SIZES,
        &xs,
        |x| Pair(*x, 1.0).scaled(x * x),
        |x, o| Pair::scaled_batched_with(column(x, |x| Pair(*x, 1.0)), column(x, |x| x * x), o),
    );
    let starts: Vec<u64> = (0..40).collect();
    agree_at(
        &SIZES,
        &starts,
        |at| Walk { at: *at }.next(),
        |at, o| Walk::next_batched_with(&mut column(at, |at| Walk { at: *at }), o),
    );
}

#[test]
fn in_a_module() {
    use trees::{Tree, entry, entry_batched, entry_batched_with, settled, settled_batched_with};
    let leaf = |x| Box::new(Tree::Leaf(x));
    let node = |left, right| Box::new(Tree::Node(left, right));
    let tree = *node(node(leaf(1.5), leaf(-0.25)), node(leaf(3.0), node(leaf(0.5), leaf(7.0))));
    let xs: Vec<f64> = (0..11).map(|i| f64::from(i) * 1.25 - 4.0).collect();
    agree_at(&SIZES, &xs, |x| entry(&tree, *x), |x, o| entry_batched_with(&tree, x, o));
    agree_at(&SIZES, &xs, |x| settled(*x), |x, o| settled_batched_with(x, o));
    let program = entry_batched::program().to_string();
    assert!(program.contains("fn Tree::energy"), "{program}");

    // What implements a trait is visible where type and trait are.
    use laws::Potential;
    use trees::Own;
    agree_at(&SIZES, &xs, |x| tree.energy(*x, 1), |x, o| tree.energy_batched_with(x, autobatch::same(1), o));
    agree_at(&SIZES, &xs, |x| tree.weight(*x), |x, o| tree.weight_batched_with(x, o));
    agree_at(
        &SIZES,
        &xs,
        |x| Tree::Leaf(*x).settle(*x),
        |x, o| Tree::settle_batched_with(&mut column(x, |x| Tree::Leaf(*x)), x, o),
    );
    let rows: Vec<Vec<f64>> = (0..5).map(|n| xs.iter().copied().take(n).collect()).collect();
    agree_at(&SIZES, &rows, |xs| tree.along(xs, 2.0), |xs, o| tree.along_batched_with(xs, 2.0, o));
    agree_at(&SIZES, &rows, |xs| tree.leaves(xs, 2.0), |xs, o| tree.leaves_batched_with(xs, 2.0, o));
}
