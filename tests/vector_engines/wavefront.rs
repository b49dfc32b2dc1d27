//! Recursion under the program-counter executor: members of very different shapes, depths and fates.

#![allow(clippy::manual_is_multiple_of)] // written as users write

use crate::common::{agree_at, column};
use autobatch::{Executor, FaultKind, Options, Schedule, autobatch, same};

#[autobatch(strict)]
mod search {
    /// The product of two intervals.
    fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        let (p, q, r, s) = (a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1);
        (p.min(q).min(r.min(s)), p.max(q).max(r.max(s)))
    }

    fn at(a: f64, b: f64, c: f64, x: f64) -> f64 {
        ((x * x - a) * (x * x) + b) * x + c
    }

    /// Counts the roots of a polynomial by bisection, with bounds for its values and its slope.
    pub(super) fn roots(a: f64, b: f64, c: f64, low: f64, high: f64, depth: u32) -> u32 {
        let x = (low, high);
        let square = times(x, x);
        let square = (square.0.max(0.0), square.1);
        let value = times((square.0 - a, square.1 - a), square);
        let value = times((value.0 + b, value.1 + b), x);
        if value.0 + c > 0.0 || value.1 + c < 0.0 {
            return 0;
        }
        let slope = times((5.0 * square.0 - 3.0 * a, 5.0 * square.1 - 3.0 * a), square);
        if slope.0 + b > 0.0 || slope.1 + b < 0.0 {
            return if (at(a, b, c, low) <= 0.0) != (at(a, b, c, high) <= 0.0) { 1 } else { 0 };
        }
        if depth == 0 {
            return 1;
        }
        let middle = 0.5 * (low + high);
        roots(a, b, c, low, middle, depth - 1) + roots(a, b, c, middle, high, depth - 1)
    }
}

/// What is computed from the result of one call and needed behind another, of a function that stands before its caller.
#[autobatch(strict)]
mod between {
    fn odd(n: u32) -> bool {
        if n > 1 { odd(n - 2) } else { n == 1 }
    }

    pub(super) fn both(n: u32, x: i64) -> i64 {
        if n == 0 {
            return 1;
        }
        let first = x.max(3).wrapping_rem(both(n - 1, x) | 1);
        let is_odd = odd(n - 1);
        first.wrapping_mul(x + i64::from(is_odd))
    }
}

#[test]
fn saved_values_have_the_inferred_types() {
    use between::{both, both_batched_with};
    let members: Vec<(u32, i64)> = (0..40).map(|i| (i % 9, i64::from(i) * 7 - 50)).collect();
    agree_at(
        &[0, 1, 97],
        &members,
        |(n, x)| both(*n, *x),
        |b, o| both_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
}

#[test]
fn trees_of_any_shape() {
    let inputs: Vec<(f64, f64, f64)> = (0..61_u32)
        .map(|i| (f64::from(i % 7), f64::from(i % 11) * 0.4, f64::from(i % 5) * 0.25 - 0.5))
        .collect();
    agree_at(
        &[1, 211, 5000],
        &inputs,
        |&(a, b, c)| search::roots(a, b, c, -3.0, 3.0, 20),
        |batch, options| {
            let (a, b, c) = (column(batch, |x| x.0), column(batch, |x| x.1), column(batch, |x| x.2));
            search::roots_batched_with(&a, &b, &c, same(-3.0), same(3.0), same(20), options)
        },
    );
}

/// Two calls with a loop before, between and behind them, another function, early returns, a panic.
#[autobatch]
mod uneven {
    pub(super) fn walk(n: u64, seed: u64) -> u64 {
        if n == 0 {
            return seed;
        }
        assert!(seed != 1_000_003, "seed {seed}");
        let mut x = seed;
        while x % 3 != 0 {
            x += 7;
        }
        if x % 5 == 0 {
            return walk(n - 1, x % 1000);
        }
        let left = walk(n - 1, x % 977);
        let step = strange(left % 9, x % 31);
        let mut sum = left + step;
        for _ in 0..sum % 4 {
            sum = sum * 3 + 1;
        }
        if sum % 2 == 0 { sum % 10_007 } else { (walk(n / 2, sum % 911) + sum) % 10_007 }
    }

    fn strange(mut n: u64, x: u64) -> u64 {
        while n > 2 {
            n = n / 2 + x % 2;
            if n == 3 {
                return walk(0, x) + 1;
            }
        }
        n + x
    }
}

#[test]
fn calls_between_loops() {
    let inputs: Vec<(u64, u64)> = (0..97).map(|i| (i % 23, i * 31)).collect();
    agree_at(
        &[1, 211, 3000],
        &inputs,
        |&(n, seed)| uneven::walk(n, seed),
        |batch, options| uneven::walk_batched_with(column(batch, |x| x.0), column(batch, |x| x.1), options),
    );
}

/// The ways to run that the loader and the stack depend on.
fn ways() -> Vec<Options> {
    let base = || Options::default().executor(Executor::ProgramCounter);
    let mut all = Vec::new();
    for schedule in [Schedule::MostLanes, Schedule::EarliestBlock] {
        for lanes in [None, Some(1), Some(33), Some(100_000)] {
            for (threads, refill) in [(1, true), (2, true), (1, false)] {
                let options = base().schedule(schedule).threads(threads).refill(refill);
                all.push(match lanes {
                    Some(lanes) => options.lanes(lanes),
                    None => options,
                });
            }
        }
    }
    all
}

#[test]
fn a_member_that_panics_ends_alone() {
    let n: Vec<u64> = (0..3000).map(|i| 1 + i % 9).collect();
    let seeds: Vec<u64> = (0..3000).map(|i| if i % 1000 == 577 { 1_000_003 } else { i * 2 }).collect();
    for options in ways() {
        let outcome = uneven::walk_batched_with(&n, &seeds, &options).unwrap();
        let faulty: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
        assert_eq!(faulty, [577, 1577, 2577], "{options:?}");
        assert!(
            outcome
                .faults()
                .iter()
                .all(|fault| fault.kind == FaultKind::Panic && fault.message == "seed 1000003")
        );
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            if member % 1000 != 577 {
                assert_eq!(result.unwrap(), uneven::walk(n[member], seeds[member]), "{options:?}, {member}");
            }
        }
    }
}

#[autobatch(strict)]
fn deep(n: u32) -> u64 {
    if n == 0 { 1 } else { deep(n - 1).wrapping_mul(31) ^ u64::from(n) }
}

/// Deeper than the stack is at first, and deeper than it may become.
#[test]
fn any_depth_next_to_any_other() {
    let depths: Vec<u32> = (0..1500)
        .map(|member| match member {
            700 => 100_000,
            701 => 5000,
            _ => member % 40,
        })
        .collect();
    let want: Vec<u64> = depths
        .iter()
        .map(|&depth| (1..=depth).fold(1, |x: u64, n| x.wrapping_mul(31) ^ u64::from(n)))
        .collect();
    for options in ways() {
        let values = deep_batched_with(&depths, &options).unwrap().into_values().unwrap();
        assert_eq!(values, want, "{options:?}");
        let outcome = deep_batched_with(&depths, &options.clone().max_depth(30)).unwrap();
        for (member, fault) in outcome.faults().iter().enumerate() {
            assert!(member == 0 || fault.member > outcome.faults()[member - 1].member);
            assert!(
                depths[fault.member] > 30 && fault.kind == FaultKind::DepthExceeded,
                "{options:?} {fault}"
            );
        }
        assert_eq!(outcome.faults().len(), depths.iter().filter(|depth| **depth > 30).count());
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            assert!(result.map_or(true, |value| value == want[member]), "{options:?}, {member}");
        }
    }
}
