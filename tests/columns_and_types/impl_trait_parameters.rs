//! `impl Trait` parameters work as generic parameters of that bound do.

use crate::common::{agree, column, executors};
use autobatch::{Executor, Options, autobatch, same};

/// One value per member.
#[autobatch(strict)]
fn halvings(x: impl Into<f64>, until: f64) -> u32 {
    let mut x: f64 = x.into();
    let mut n = 0;
    while x > until {
        x /= 2.0;
        n += 1;
    }
    n
}

/// Shared, and handed on by recursive calls.
#[autobatch(strict)]
fn iterate<T: Copy>(x: T, n: u32, f: &impl Fn(T) -> T) -> T {
    if n == 0 { x } else { iterate(f(x), n - 1, f) }
}

/// A state per member.
#[autobatch(strict)]
fn drawn(n: u32, source: &mut impl Iterator<Item = u32>) -> u32 {
    let mut sum = 0;
    for _ in 0..n {
        if let Some(x) = source.next() {
            sum += x;
        }
    }
    sum
}

/// A closure by value, and one bound inside another.
#[autobatch]
fn total(n: u64, f: impl Fn(u64) -> u64, more: impl IntoIterator<Item = impl Into<u64>>) -> u64 {
    let mut sum = more.into_iter().map(Into::into).sum::<u64>();
    for i in 0..n {
        sum += f(i);
    }
    sum
}

struct Grid {
    step: f64,
}

#[autobatch(strict)]
impl Grid {
    pub(crate) fn integral(&self, a: f64, b: f64, f: &impl Fn(f64) -> f64) -> f64 {
        let (mut x, mut sum) = (a, 0.0);
        while x < b {
            sum += f(x) * self.step;
            x += self.step;
        }
        sum
    }
}

#[autobatch]
mod program {
    pub(super) struct Tree(pub(super) u64);

    impl Tree {
        pub(super) fn count(&self, n: u64, keep: &impl Fn(u64) -> bool) -> u64 {
            if n == 0 { self.0 } else { u64::from(keep(n)) + self.count(n - 1, keep) }
        }
    }

    pub(super) fn even(n: u64, keep: &impl Fn(u64) -> bool) -> u64 {
        if n == 0 { 0 } else { u64::from(keep(n)) + odd(n - 1, keep) }
    }

    fn odd(n: u64, keep: &impl Fn(u64) -> bool) -> u64 {
        if n == 0 { 1 } else { even(n - 1, keep) }
    }
}

trait Sum {
    fn sum_of(&self, n: u32, f: impl Fn(u32) -> u32) -> u32;
}

#[autobatch]
impl Sum for Grid {
    fn sum_of(&self, n: u32, f: impl Fn(u32) -> u32) -> u32 {
        if n == 0 { self.step as u32 } else { f(n) + (0..n).map(&f).sum::<u32>() }
    }
}

#[test]
fn one_value_per_member() {
    let inputs: Vec<(f32, f64)> =
        (0..90).map(|i| (1.5f32.powi(i % 40), 0.25 * f64::from(i % 7 + 1))).collect();
    agree(
        &inputs,
        |(x, until)| halvings(*x, *until),
        |batch, options| halvings_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn shared_by_all() {
    let inputs: Vec<(u64, u32)> = (0..90).map(|i| (i * 77, (i % 13) as u32)).collect();
    let collatz = |x: u64| if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 };
    agree(
        &inputs,
        |(x, n)| iterate(*x, *n, &collatz),
        |batch, options| {
            iterate_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), &collatz, options)
        },
    );
    // The function itself is as it was.
    assert_eq!(iterate::<u64>(7, 1, &collatz), 22);
}

#[test]
fn a_state_per_member() {
    let n: Vec<u32> = (0..80).map(|i| i % 9).collect();
    let sources = || (0..80u32).map(|i| i..i + i % 5).collect::<Vec<_>>();
    let mut wanted = sources();
    let results: Vec<u32> = n.iter().zip(&mut wanted).map(|(n, source)| drawn(*n, source)).collect();
    for (how, options) in executors() {
        let mut after = sources();
        let found = drawn_batched_with(&n, &mut after, &options).unwrap().into_values().unwrap();
        assert_eq!((&found, &after), (&results, &wanted), "{how}");
    }
}

#[test]
fn closures_by_value() {
    let n: Vec<u64> = (0..70).map(|i| i % 11).collect();
    let square = |x: u64| x * x;
    let wanted: Vec<u64> = n.iter().map(|n| total(*n, square, [1u32, 2])).collect();
    for (how, options) in executors() {
        let outcome = total_batched_with(&n, same(square), same([1u32, 2]), &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), wanted, "{how}");
    }
    assert_eq!(total_batched(&n, same(square), same([1u32, 2])), wanted);
    let mut out = vec![0; n.len()];
    total_batched_into(&n, same(square), same([1u32, 2]), &mut out);
    assert_eq!(out, wanted);
}

#[test]
fn methods_and_modules() {
    let grid = Grid { step: 0.125 };
    let inputs: Vec<(f64, f64)> = (0..60).map(|i| (f64::from(i) / 7.0, f64::from(i % 17))).collect();
    let f = |x: f64| x.mul_add(x, -1.0);
    agree(
        &inputs,
        |(a, b)| grid.integral(*a, *b, &f),
        |batch, options| {
            grid.integral_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), &f, options)
        },
    );
    let n: Vec<u64> = (0..60).map(|i| i % 23).collect();
    let keep = |n: u64| n % 3 == 1;
    let tree = program::Tree(4);
    agree(
        &n,
        |n| program::even(*n, &keep),
        |batch, options| program::even_batched_with(batch, &keep, options),
    );
    agree(&n, |n| tree.count(*n, &keep), |batch, options| tree.count_batched_with(batch, &keep, options));
    let options = Options::default().executor(Executor::Masked);
    let n = [0, 3, 9];
    let found = grid.sum_of_batched_with(&n, same(|x: u32| x + 2), &options).unwrap().into_values().unwrap();
    assert_eq!(found, n.map(|n| grid.sum_of(n, |x| x + 2)));
}
