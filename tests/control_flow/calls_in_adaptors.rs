//! Recursive calls in the closures of iterator, `Option` and `Result` adaptors are calls like any other.

#![allow(clippy::double_ended_iterator_last, clippy::manual_is_multiple_of)] // written as users write

use crate::common::{Bits, agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

#[autobatch(strict)]
fn catalan(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    (0..n).map(|i| catalan(i) * catalan(n - 1 - i)).sum()
}

/// Sums start at minus zero, and products at one.
#[autobatch(strict)]
fn series(n: u32, x: f64) -> f64 {
    if n == 0 {
        return -0.0;
    }
    let sum: f64 = (0..n).rev().map(|k| series(k / 2, -x) * f64::from(k)).filter(|y| *y < 50.0).sum();
    let product = (1..n).map(|k| 1.0 + series(k / 3, x) / 8.0).product::<f64>();
    sum - product * x
}

/// A sum of `Result`s ends at the first error: behind it nothing is evaluated.
#[autobatch]
fn checked(n: u32, calls: &mut u32) -> Result<u32, String> {
    *calls += 1;
    if n % 5 == 4 {
        return Err(format!("{n} at call {calls}"));
    }
    if n < 2 {
        return Ok(n);
    }
    let parts: Result<u32, String> = (1..=3).map(|d| checked(n / (d + 1), calls)).sum();
    Ok(parts? + 1)
}

struct Tree {
    value: f64,
    children: Vec<Tree>,
}

#[autobatch(strict)]
impl Tree {
    /// The best value below, children in order.
    pub(crate) fn best(node: &Tree, x: f64) -> f64 {
        let below =
            node.children.iter().map(|child| Self::best(child, x * 0.5 + 1.0)).fold(f64::MIN, f64::max);
        below.max(node.value * x)
    }

    pub(crate) fn path(node: &Tree, x: f64) -> Option<(usize, f64)> {
        node.children
            .iter()
            .enumerate()
            .map(|(i, child)| (i, Tree::path(child, x + 1.0).map_or(child.value * x, |(_, y)| y - x)))
            .max_by(|a, b| a.1.partial_cmp(&b.1).unwrap())
    }

    pub(crate) fn contains(node: &Tree, x: f64) -> bool {
        node.value == x || node.children.iter().any(|child| Self::contains(child, x))
    }

    pub(crate) fn flat(node: &Tree, #[shared] limit: f64, x: f64) -> Vec<f64> {
        let mut all: Vec<f64> = node
            .children
            .iter()
            .filter(|child| child.value < limit)
            .flat_map(|child| Tree::flat(child, limit, x))
            .collect();
        all.push(node.value * x);
        all
    }
}

/// Nim: a position is won if a move leads to one that is not.
#[autobatch(strict)]
fn wins(stones: [u8; 3]) -> bool {
    (0..3).any(|heap| {
        (1..=stones[heap].min(3)).any(|take| {
            let mut after = stones;
            after[heap] -= take;
            !wins(after)
        })
    })
}

#[autobatch(strict)]
fn first_losing(n: u32) -> Option<u32> {
    if n < 2 {
        return None;
    }
    let even = (1..n).find(|i| first_losing(*i).is_none() && i % 2 == 1 && *i > n / 2);
    even.or_else(|| (1..n).rev().find_map(|i| first_losing(i / 2).filter(|x| *x > 1))).or(Some(n))
}

#[autobatch(strict)]
fn minimax(state: u32, depth: u32) -> i32 {
    if depth == 0 || state == 0 {
        return (state.wrapping_mul(2_654_435_761) >> 24) as i32 - 128;
    }
    let moves = [1, 2, 3];
    moves
        .into_iter()
        .filter(|take| *take <= state)
        .map(|take| -minimax(state - take, depth - 1))
        .max()
        .unwrap_or(i32::MIN)
}

#[autobatch(strict)]
fn nearest(n: u32, key: u32) -> u32 {
    if n == 0 {
        return key;
    }
    let by_key = (0..4).map(|i| nearest(n - 1, key ^ (i * 37))).min_by_key(|v| v % 11);
    let last = (0..n % 3).map(|i| nearest(n / 2, key + i)).last();
    let count = (0..n).filter(|&i| nearest(i / 4, key) % 2 == 0).count() as u32;
    by_key.map_or(7, |v| v + count) + last.unwrap_or_else(|| nearest(n / 3, 1))
}

/// `?` and `return` in a closure leave the closure.
#[autobatch(strict)]
fn partial(n: u32) -> Option<u32> {
    let half = n.checked_sub(3).and_then(|m| {
        if m % 7 == 5 {
            return None;
        }
        let below = partial(m)?;
        Some(below + 1)
    });
    half.or(if n < 3 { Some(n) } else { None }).filter(|x| *x != 9)
}

/// Calls in a `for` over a chain, and stages that stop it.
#[autobatch(strict)]
fn staged(n: u32) -> u64 {
    if n < 3 {
        return u64::from(n);
    }
    let mut total = 0;
    for (i, below) in (0..n).map(staged).enumerate() {
        if i % 3 == 1 {
            continue;
        }
        total = (total * 3 + below) % 10_007;
        if total > 9_000 {
            break;
        }
    }
    let until = (0..n).map(|k| staged(k / 2)).take_while(|v| *v < 500).skip_while(|v| *v < 2).count();
    let while_some: u64 = (0..n).map_while(|k| Some(staged(k / 3)).filter(|v| *v < 100)).sum();
    total + until as u64 + while_some
}

#[autobatch]
fn gathered(n: u32) -> Result<Vec<u32>, u32> {
    if n % 6 == 5 {
        return Err(n);
    }
    if n < 2 {
        return Ok(vec![n]);
    }
    let all: Vec<Vec<u32>> = [n / 2, n / 3].into_iter().map(gathered).collect::<Result<Vec<_>, u32>>()?;
    Ok(all.into_iter().flatten().collect())
}

#[autobatch]
fn spread(n: u32, state: &mut u64) {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(n));
    (0..n / 2).for_each(|i| spread(i, state));
}

struct Link {
    weight: f64,
    next: Option<Box<Link>>,
}

#[autobatch]
fn chain(link: &Link, x: f64) -> f64 {
    link.weight * x + link.next.as_ref().map_or(0.0, |next| chain(next, x * 0.5))
}

#[autobatch]
fn chain_end(link: &Link, x: f64) -> Option<f64> {
    link.next.as_deref().map(|next| chain_end(next, x - 1.0).unwrap_or_else(|| chain(next, x)))
}

/// What ends early: behind it nothing is evaluated.
#[autobatch]
fn tried(n: u32, calls: &mut u32) -> Option<u32> {
    *calls += 1;
    if n < 2 {
        return Some(n + 1);
    }
    if n % 11 == 7 {
        return None;
    }
    let each =
        (0..n % 3).try_for_each(|d| if tried(n / (d + 2), calls)? > 90 { Err(d).ok() } else { Some(()) });
    let sum = (1..4).try_fold(0u32, |sum, d| Some(sum + tried(n / (d + 1), calls)?));
    let flow = [5, 3].iter().try_fold(n, |at, d| match tried(at / d, calls) {
        Some(x) if x > 2 => std::ops::ControlFlow::Break(x),
        other => std::ops::ControlFlow::Continue(at - other.unwrap_or(0).min(1)),
    });
    let last = match flow {
        std::ops::ControlFlow::Break(x) => x * 2,
        std::ops::ControlFlow::Continue(x) => x,
    };
    each.and(sum).map(|sum| sum % 50 + last % 7)
}

/// Stages that count, and one with a state.
#[autobatch]
fn counted_stages(n: u32, calls: &mut u32) -> u32 {
    *calls += 1;
    if n < 2 {
        return n + 1;
    }
    let most = n as usize % 4;
    let first: u32 = (0..n).map(|i| counted_stages(i / 2, calls)).take(most).sum();
    let rest: u32 = (0..n).map(|i| counted_stages(i / 3, calls)).filter(|x| x % 5 > 0).skip(2).sum();
    let stepped =
        (0..n).rev().map(|i| counted_stages(i / 4, calls)).step_by(3).fold(0, |s, x| (s * 3 + x) % 101);
    let mut scanned = 0;
    for x in (0..n).scan(1u32, |state, i| {
        *state = (*state * 3 + counted_stages(i / 2, calls)) % 1009;
        (*state < 900).then_some(*state)
    }) {
        if x % 5 == 1 {
            continue;
        }
        scanned += x;
    }
    (first + rest + stepped + scanned) % 997
}

/// Collections in two parts.
#[autobatch]
fn in_parts(n: u32) -> Vec<u32> {
    if n < 2 {
        return vec![n];
    }
    let (mut v, lengths): (Vec<u32>, Vec<usize>) =
        [n / 2, n / 3].into_iter().map(in_parts).map(|part| (part[0], part.len())).unzip();
    let (odd, even): (Vec<u32>, Vec<u32>) = (0..n).partition(|x| in_parts(x / 2).len() % 2 == 1);
    v.extend((0..n / 3).flat_map(|i| in_parts(i / 2)).collect::<Vec<u32>>());
    v.extend(odd.iter().take(2).chain(&even).copied());
    v.extend(
        lengths
            .iter()
            .filter(|l| in_parts(**l as u32 % n).len() > 1)
            .map(|l| *l as u32)
            .collect::<Vec<u32>>(),
    );
    v.truncate(7);
    v
}

#[test]
fn every_stage_and_end_of_a_chain() {
    let ns: Vec<u32> = (0..14).collect();
    let echo = |results: Vec<Option<u32>>, calls: Vec<u32>, o: &autobatch::Options| {
        let all = results.into_iter().zip(calls).map(|(r, c)| (r.ok_or(format!("{c}")), c));
        echo_batched_with(all.map(|(r, c)| (r.map(|r| r * 1000 + c), c)).collect::<Vec<_>>(), o)
    };
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut calls = 0;
            let result = tried(*n, &mut calls);
            result.map(|r| r * 1000 + calls).ok_or(format!("{calls} of {calls}"))
        },
        |n, o| {
            let mut calls = vec![0; n.len()];
            let out = tried_batched_with(n, &mut calls, o)?.into_values().unwrap();
            echo(out, calls, o)
        },
    );
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut calls = 0;
            Ok(counted_stages(*n, &mut calls) * 1000 + calls)
        },
        |n, o| {
            let mut calls = vec![0; n.len()];
            let out = counted_stages_batched_with(n, &mut calls, o)?.into_values().unwrap();
            echo(out.into_iter().map(Some).collect(), calls, o)
        },
    );
    agree_at(&SIZES, &ns, |n| in_parts(*n), |n, o| in_parts_batched_with(n, o));
}

#[test]
fn sums_and_products_of_calls() {
    let ns: Vec<u64> = (0..7).collect();
    agree_at(&SIZES, &ns, |n| catalan(*n), |n, o| catalan_batched_with(n, o));
    let ns: Vec<u32> = (0..7).collect();
    agree_at(
        &SIZES,
        &column(&ns, |n| (*n, f64::from(*n) * 0.37 - 1.0)),
        |(n, x)| series(*n, *x),
        |b, o| series_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    agree_at(
        &SIZES,
        &column(&ns, |n| (n % 4, n * 7)),
        |(n, k)| nearest(*n, *k),
        |b, o| nearest_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    agree_at(&SIZES, &ns, |n| staged(*n), |n, o| staged_batched_with(n, o));
}

#[test]
fn nothing_runs_behind_a_short_circuit() {
    let ns: Vec<u32> = (0..60).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut calls = 0;
            let result = checked(*n, &mut calls);
            result.map_err(|e| format!("{e} of {calls}"))
        },
        |n, o| {
            let mut calls = vec![0; n.len()];
            let out = checked_batched_with(n, &mut calls, o)?;
            for (member, n) in n.iter().enumerate() {
                let mut expected = 0;
                let _ = checked(*n, &mut expected);
                assert_eq!(calls[member], expected, "calls of {n}");
            }
            let results: Vec<_> = out.into_values().unwrap();
            let results: Vec<_> = results.into_iter().zip(calls).collect();
            echo_batched_with(results, o)
        },
    );
    agree_at(&SIZES, &ns, |n| first_losing(n % 9), |n, o| first_losing_batched_with(column(n, |n| n % 9), o));
    agree_at(&SIZES, &ns, |n| partial(*n), |n, o| partial_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| gathered(*n), |n, o| gathered_batched_with(n, o));
    let heaps: Vec<[u8; 3]> = (0..27).map(|i| [i % 3, i / 3 % 3 + 1, i / 9]).collect();
    agree_at(&SIZES, &heaps, |h| wins(*h), |h, o| wins_batched_with(h, o));
}

/// Gives back what was computed, so that the comparison sees results and states.
#[autobatch]
fn echo(result: (Result<u32, String>, u32)) -> Result<u32, String> {
    let (result, calls) = result;
    result.map_err(|e| format!("{e} of {calls}"))
}

#[test]
fn children_are_searched_and_flattened() {
    let leaf = |value| Tree { value, children: vec![] };
    let tree = Tree {
        value: 0.5,
        children: vec![
            Tree { value: 2.0, children: vec![leaf(-1.0), leaf(7.0)] },
            leaf(1.25),
            Tree { value: -0.75, children: vec![Tree { value: 3.0, children: vec![leaf(4.5)] }] },
        ],
    };
    let xs: Vec<f64> = (0..9).map(|i| f64::from(i) * 1.25 - 3.0).collect();
    agree_at(&SIZES, &xs, |x| Tree::best(&tree, *x), |x, o| Tree::best_batched_with(&tree, x, o));
    agree_at(&SIZES, &xs, |x| Tree::path(&tree, *x), |x, o| Tree::path_batched_with(&tree, x, o));
    agree_at(&SIZES, &xs, |x| Tree::contains(&tree, *x), |x, o| Tree::contains_batched_with(&tree, x, o));
    agree_at(&SIZES, &xs, |x| Tree::flat(&tree, 4.0, *x), |x, o| Tree::flat_batched_with(&tree, 4.0, x, o));
    let link = |weight, next| Some(Box::new(Link { weight, next }));
    let link = Link { weight: 1.5, next: link(0.25, link(3.0, None)) };
    agree_at(&SIZES, &xs, |x| chain(&link, *x), |x, o| chain_batched_with(&link, x, o));
    agree_at(&SIZES, &xs, |x| chain_end(&link, *x), |x, o| chain_end_batched_with(&link, x, o));
}

#[test]
fn games_and_states() {
    let states: Vec<(u32, u32)> = (0..20).map(|i| (i, i % 5)).collect();
    agree_at(
        &SIZES,
        &states,
        |(s, d)| minimax(*s, *d),
        |b, o| minimax_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    let ns: Vec<u32> = (0..12).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut state = 1;
            spread(*n, &mut state);
            state
        },
        |n, o| {
            let mut states = vec![1; n.len()];
            spread_batched_with(n, &mut states, o)?;
            keep_batched_with(states, o)
        },
    );
}

#[autobatch]
fn keep(state: u64) -> u64 {
    state
}

/// Collections whose types follow from what becomes of them.
mod model {
    use std::collections::{BTreeMap as Sorted, VecDeque};

    #[derive(Clone, Debug, PartialEq)]
    pub(super) struct Branch {
        pub(super) key: u32,
        pub(super) twigs: Vec<Branch>,
        pub(super) seen: VecDeque<u32>,
        pub(super) names: Sorted<u32, String>,
    }

    #[derive(Clone, Debug, PartialEq)]
    pub(super) enum Term {
        Number(u32),
        Sum(Vec<Term>),
        Product { factors: Vec<Term>, last: Option<Vec<u32>> },
    }
}

#[autobatch]
mod collected_by_use {
    use super::model::{Branch, Term};

    pub(super) fn grown(mut branch: Branch, by: u32) -> Branch {
        branch.twigs = branch.twigs.into_iter().map(|twig| grown(twig, by + 1)).collect();
        branch.key += by;
        branch.seen = (0..by % 3).map(|k| sized(k) + 1).collect();
        branch
    }
    pub(super) fn made(n: u32) -> Branch {
        let seen = (0..n % 3).map(sized).collect();
        Branch { key: n, twigs: (0..n % 4).map(made).collect(), seen, names: Default::default() }
    }
    fn sized(n: u32) -> u32 {
        if n == 0 { 1 } else { sized(n / 2) + 1 }
    }
    pub(super) fn simple(term: Term) -> Term {
        match term {
            Term::Sum(terms) => Term::Sum(terms.into_iter().map(simple).collect()),
            Term::Product { factors, last } => {
                let factors = factors.into_iter().map(simple).collect();
                let last = if let Some(all) = last {
                    Some(all.into_iter().map(sized).collect())
                } else {
                    Some(vec![sized(3)])
                };
                Term::Product { factors, last }
            }
            Term::Number(n) => Term::Number(n + 1),
        }
    }
    pub(super) fn all(n: u32) -> Vec<u32> {
        let mut found = (0..n % 5).map(|k| sized(k) * 2).collect();
        if n > 7 {
            found = all(n - 7).into_iter().map(sized).collect();
        }
        found
    }
}

impl Bits for model::Branch {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Bits for model::Term {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[test]
fn collections_have_the_inferred_type() {
    use collected_by_use::*;
    use model::Term;
    let ns: Vec<u32> = (0..20).collect();
    agree_at(&SIZES, &ns, |n| made(*n), |n, o| made_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| all(*n), |n, o| all_batched_with(n, o));
    agree_at(
        &SIZES,
        &ns,
        |n| grown(made(n % 9), *n),
        |n, o| grown_batched_with(column(n, |n| made(n % 9)), n, o),
    );
    let term = |n: &u32| {
        let numbers = || (0..n % 4).map(Term::Number).collect();
        let last = n.is_multiple_of(2).then(|| vec![*n, 3]);
        Term::Sum(vec![Term::Number(*n), Term::Product { factors: numbers(), last }, Term::Sum(numbers())])
    };
    agree_at(&SIZES, &ns, |n| simple(term(n)), |n, o| simple_batched_with(column(n, term), o));
}
