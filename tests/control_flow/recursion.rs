//! Recursion of several functions, in every position, with generics and with state of the member.

#![allow(clippy::manual_is_multiple_of, unreachable_pub)] // written as users write

use crate::common::{agree, agree_at, column};
use autobatch::autobatch;

#[autobatch(strict)]
mod three {
    pub fn a(n: u32, x: f64) -> f64 {
        if n == 0 {
            return x;
        }
        let mut sum = 0.0;
        for i in 0..n {
            if i % 2 == 0 {
                sum += b(n - 1, x + f64::from(i));
            } else if i > 3 {
                break;
            }
        }
        sum
    }
    fn b(n: u32, x: f64) -> f64 {
        if n < 2 { x * 1.5 } else { c(n - 2, x) - 1.0 }
    }
    fn c(n: u32, x: f64) -> f64 {
        let y = a(n / 2, x * 0.5);
        y / (1.0 + y * y)
    }
}

#[derive(Clone, Copy, Debug)]
enum Method {
    Halve,
    Climb,
    Recurse,
}

#[autobatch(strict)]
mod chosen {
    use super::Method;

    fn halve(mut x: f64) -> f64 {
        while x > 1.0 {
            x *= 0.5;
        }
        x
    }
    fn climb(mut x: f64) -> f64 {
        while x < 20.0 {
            x += 1.5;
        }
        x
    }
    fn recurse(x: f64) -> f64 {
        if x < 2.0 { x } else { recurse(x * 0.5) + recurse(x * 0.25) }
    }
    pub fn run(method: Method, x: f64) -> f64 {
        let y = match method {
            Method::Halve => halve(x),
            Method::Climb => climb(x),
            Method::Recurse => recurse(x),
        };
        y - x
    }
}

#[autobatch(strict)]
fn harmonic(n: u32) -> f64 {
    if n == 0 { 0.0 } else { 1.0 / f64::from(n) + harmonic(n - 1) }
}

struct Node {
    value: f64,
    left: Option<usize>,
    right: Option<usize>,
}

#[autobatch(strict)]
fn walk(nodes: &[Node], at: usize, x: f64) -> f64 {
    let node = &nodes[at];
    let mut sum = node.value;
    if let Some(left) = node.left
        && x < node.value
    {
        sum += walk(nodes, left, x);
    }
    if let Some(right) = node.right {
        sum -= walk(nodes, right, x * 0.5);
    }
    sum
}

enum Tree {
    Leaf(f64),
    Fork(f64, Box<Tree>, Box<Tree>),
}

#[autobatch(strict)]
fn predict(tree: &Tree, x: f64) -> f64 {
    match tree {
        Tree::Leaf(value) => *value,
        Tree::Fork(at, left, right) => {
            if x < *at {
                predict(left, x + 0.1)
            } else {
                predict(right, x - 0.1) + predict(left, x)
            }
        }
    }
}

#[autobatch(strict)]
impl Tree {
    /// The sum of the leaves, weighted by depth.
    pub fn weighted(&self, weight: f64) -> f64 {
        match self {
            Tree::Leaf(value) => value * weight,
            Tree::Fork(_, left, right) => {
                Self::weighted(left, weight * 0.5) + Tree::weighted(right, weight * 0.25)
            }
        }
    }

    /// Counts down by `self.steps`.
    pub fn steps(&self, n: u32) -> u32 {
        if n == 0 { 0 } else { 1 + self.steps(n - 1) }
    }
}

/// A generator whose state belongs to the member.
#[derive(Clone, Debug, PartialEq)]
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

#[autobatch(strict)]
fn random_tree(depth: u32, rng: &mut Lcg) -> u64 {
    if depth == 0 {
        return rng.next() % 10;
    }
    let mut sum = rng.next() % 3;
    for _ in 0..rng.next() % 3 {
        sum += random_tree(depth - 1, rng);
    }
    if sum % 2 == 0 { sum + random_tree(depth - 1, &mut *rng) } else { sum }
}

#[autobatch(strict)]
fn short_circuits(n: u32, k: u32) -> bool {
    n > 40 || (n % k == 0 && short_circuits(n + 3, k)) || (n % 2 == 1 && !short_circuits(n * 2, k + 1))
}

#[autobatch(strict)]
fn positions(n: u32) -> (u32, [u32; 3]) {
    if n < 2 {
        return (n, [n, 1, 2]);
    }
    let mut total = 0;
    total += positions(n - 1).0;
    let array = [positions(n / 2).0, n, positions(n / 3).1[0]];
    match positions(n - 2) {
        (0, _) => total = 7,
        (x, [y, ..]) if x > 5 => total += y,
        (x, _) => total += x,
    }
    if positions(n / 4).0 > 1 {
        total %= 1000;
    }
    (total, array)
}

#[autobatch(strict)]
fn power<T, const N: usize>(x: [T; N], n: u32) -> [T; N]
where
    T: Copy + std::ops::Mul<Output = T>,
{
    if n <= 1 {
        return x;
    }
    let half = power(x, n / 2);
    let mut square = half;
    for i in 0..N {
        square[i] = half[i] * half[i];
        if n % 2 == 1 {
            square[i] = square[i] * x[i];
        }
    }
    square
}

#[autobatch(strict)]
fn words(n: u32, prefix: String) -> Vec<String> {
    if n == 0 {
        return vec![prefix];
    }
    let mut all = words(n - 1, format!("{prefix}a"));
    if n % 2 == 0 {
        all.extend(words(n - 1, prefix + "b"));
    }
    all
}

#[autobatch(strict)]
fn fallible(n: u32) -> Result<u32, String> {
    if n == 13 {
        return Err(format!("{n} is unlucky"));
    }
    if n == 0 {
        return Ok(1);
    }
    let below = fallible(n - 1)?;
    let far = fallible(n / 3).map_err(|e| e + "!")?;
    Ok(below.wrapping_add(far))
}

#[test]
fn several_functions() {
    let inputs: Vec<(u32, f64)> = (0..23).map(|i| (i % 6, f64::from(i) * 0.3)).collect();
    agree(
        &inputs,
        |(n, x)| three::a(*n, *x),
        |x, o| three::a_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
    let methods = [Method::Halve, Method::Climb, Method::Recurse];
    let inputs: Vec<(Method, f64)> = (0..19).map(|i| (methods[i % 3], i as f64 * 3.7)).collect();
    agree(
        &inputs,
        |(method, x)| chosen::run(*method, *x),
        |x, o| chosen::run_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
}

#[test]
fn a_sum_of_one_call() {
    let ns: Vec<u32> = (0..20).collect();
    agree(&ns, |n| harmonic(*n), |n, o| harmonic_batched_with(n, o));
}

fn forest() -> Vec<Node> {
    (0..31)
        .map(|i| Node {
            value: (i as f64 * 0.77).sin(),
            left: (2 * i + 1 < 31 && i % 5 != 4).then_some(2 * i + 1),
            right: (2 * i + 2 < 31 && i % 7 != 3).then_some(2 * i + 2),
        })
        .collect()
}

fn tree(depth: u32, x: f64) -> Tree {
    if depth == 0 || x > 0.93 {
        Tree::Leaf(x)
    } else {
        let (l, r) = (tree(depth - 1, x * 0.9 + 0.01), tree(depth - 1, (x * 7.7).fract()));
        Tree::Fork(x, Box::new(l), Box::new(r))
    }
}

#[test]
fn trees_are_walked() {
    let nodes = forest();
    let inputs: Vec<(usize, f64)> = (0..31).map(|i| (i, i as f64 * 0.1 - 1.5)).collect();
    agree(
        &inputs,
        |(at, x)| walk(&nodes, *at, *x),
        |b, o| walk_batched_with(&nodes, column(b, |x| x.0), column(b, |x| x.1), o),
    );
    let tree = tree(4, 0.4);
    let xs: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.05).collect();
    agree(&xs, |x| predict(&tree, *x), |x, o| predict_batched_with(&tree, x, o));
    agree(&xs, |x| tree.weighted(*x), |x, o| tree.weighted_batched_with(x, o));
    let ns: Vec<u32> = (0..20).collect();
    agree(&ns, |n| tree.steps(*n), |n, o| tree.steps_batched_with(n, o));
}

#[test]
fn state_belongs_to_the_member() {
    let inputs: Vec<(u32, u64)> = (0..25).map(|i| (i % 6, u64::from(i) * 77)).collect();
    let mut after: Vec<Lcg> = inputs.iter().map(|(_, seed)| Lcg(*seed)).collect();
    for (lcg, (depth, _)) in after.iter_mut().zip(&inputs) {
        random_tree(*depth, lcg);
    }
    agree(
        &inputs,
        |(depth, seed)| random_tree(*depth, &mut Lcg(*seed)),
        |x, o| {
            let mut states: Vec<Lcg> = column(x, |x| Lcg(x.1));
            let outcome = random_tree_batched_with(column(x, |x| x.0), &mut states, o)?;
            for (member, state) in states.iter().enumerate() {
                assert_eq!(*state, after[member % after.len()], "the state of member {member}");
            }
            Ok(outcome)
        },
    );
}

#[test]
fn calls_in_every_position() {
    let pairs: Vec<(u32, u32)> = (0..40).map(|i| (i, 2 + i % 3)).collect();
    agree(
        &pairs,
        |(n, k)| short_circuits(*n, *k),
        |x, o| short_circuits_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
    let ns: Vec<u32> = (0..8).collect();
    agree(&ns, |n| positions(*n), |n, o| positions_batched_with(n, o));
    agree(
        &ns,
        |n| words(*n % 6, "x".into()),
        |n, o| words_batched_with(column(n, |n| *n % 6), autobatch::same("x".to_owned()), o),
    );
    let ns: Vec<u32> = (0..15).collect();
    agree(&ns, |n| fallible(*n), |n, o| fallible_batched_with(n, o));
}

#[test]
fn generic_functions() {
    let inputs: Vec<([f64; 2], u32)> = (0..12).map(|i| ([1.1, 0.3 * f64::from(i)], i)).collect();
    agree(
        &inputs,
        |(x, n)| power(*x, *n),
        |b, o| power_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
    assert_eq!(power_batched::<i64, 3>(&[[1, 2, 3]], &[3]), [[1, 8, 27]]);
}

/// A parameter takes the result of a call.
#[autobatch(strict)]
fn replaces_its_parameter(n: u64, mut best: u64) -> u64 {
    if n == 0 {
        return best;
    }
    best = replaces_its_parameter(n - 1, best);
    if best.is_multiple_of(3) {
        best = replaces_its_parameter(n / 2, best + 1);
    }
    best + 1
}

#[autobatch(strict)]
mod in_a_module {
    fn deeper(n: u32, mut seen: u32) -> u32 {
        if n > 0 {
            seen = deeper(n - 1, seen + n);
        }
        seen
    }

    pub(super) fn start(n: u32) -> u32 {
        deeper(n, 1)
    }
}

#[test]
fn parameters_that_take_results() {
    let ns: Vec<u64> = (0..14).collect();
    agree(
        &ns,
        |n| replaces_its_parameter(*n, n % 5),
        |n, o| replaces_its_parameter_batched_with(n, column(n, |n| *n % 5), o),
    );
    let ns: Vec<u32> = (0..40).collect();
    agree(&ns, |n| in_a_module::start(*n), |n, o| in_a_module::start_batched_with(n, o));
}

/// Loops whose only way out is a call in tail position of another function.
#[allow(clippy::boxed_local)] // written so to be batched
#[autobatch(strict)]
mod onwards {
    pub(super) fn halved(coins: u64, n: u64) -> u64 {
        if n < 2 { spent(coins, n) } else { halved(coins.wrapping_mul(2) + n, n / 2) }
    }

    fn spent(coins: u64, n: u64) -> u64 {
        if n == 0 { coins } else { spent(coins.wrapping_add(n), n - 1) }
    }

    pub(super) fn boxed(coins: Box<u64>, n: u64) -> u64 {
        let mut n = n;
        let mut coins = coins;
        while n > 2 {
            *coins += n;
            n -= 2;
        }
        emptied(coins, n)
    }

    fn emptied(coins: Box<u64>, n: u64) -> u64 {
        if n == 0 { *coins } else { emptied(Box::new(*coins + n), n - 1) }
    }

    pub(super) fn looped(coins: u64, n: u64) -> u64 {
        let mut n = n;
        let mut coins = coins;
        while n > 2 {
            coins += n;
            n /= 2;
        }
        looped_on(coins, n) * 2
    }

    fn looped_on(coins: u64, n: u64) -> u64 {
        if n == 0 { coins } else { looped_on(coins ^ n, n - 1) + 1 }
    }
}

#[test]
fn loops_that_end_in_calls_of_others() {
    let inputs: Vec<(u64, u64)> = (0..67).map(|i| (i * 7 % 13, i * 5 % 31)).collect();
    let (coins, n) = (|b: &[(u64, u64)]| column(b, |i| i.0), |b: &[(u64, u64)]| column(b, |i| i.1));
    let boxed = |b: &[(u64, u64)]| b.iter().map(|i| Box::new(i.0)).collect::<Vec<_>>();
    agree_at(
        &[1, 2, 67],
        &inputs,
        |i| onwards::halved(i.0, i.1),
        |b, o| onwards::halved_batched_with(coins(b), n(b), o),
    );
    agree_at(
        &[1, 2, 67],
        &inputs,
        |i| onwards::boxed(Box::new(i.0), i.1),
        |b, o| onwards::boxed_batched_with(boxed(b), n(b), o),
    );
    agree_at(
        &[1, 2, 67],
        &inputs,
        |i| onwards::looped(i.0, i.1),
        |b, o| onwards::looped_batched_with(coins(b), n(b), o),
    );
}
