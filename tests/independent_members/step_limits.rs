//! Steps are counted for each member alone: who is over the limit is the same in every executor, whatever the neighbours do.

#![allow(clippy::manual_is_multiple_of)] // written as users write

use std::collections::BTreeSet;

use autobatch::{Executor, FaultKind, Options, Outcome, autobatch};

use crate::common::executors;

/// A loop with a state and two ways out; some members panic in it.
#[autobatch]
fn wander(seed: &mut u64, most: u32) -> u32 {
    let mut n = 0;
    while n < most {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        assert!(*seed % 1021 != 0, "unlucky");
        if *seed % 301 == 0 {
            return n;
        }
        n += 1;
    }
    most + (*seed & 1) as u32
}

/// Loops with a way out in a loop, as 32-bit words.
#[autobatch]
fn rounds(state: &mut u32, x: u32) -> u32 {
    let mut y = x;
    for _ in 0..10 {
        let mut n = 0;
        while y & 31 != 5 && n < 40 {
            y = y.wrapping_mul(1664525).wrapping_add(1013904223);
            n += 1;
        }
        *state ^= y;
        assert!(*state & 0x3ff != 0x2a, "unlucky");
        y = y.rotate_left(7) ^ n;
    }
    y
}

/// Recursion with a state.
#[autobatch]
fn grow(seed: &mut u64, depth: u32) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    assert!(*seed % 509 != 0, "unlucky");
    if depth == 0 || *seed & 3 == 0 {
        return 1;
    }
    let mut sum = 1;
    for _ in 0..(*seed >> 3) % 3 {
        sum += grow(seed, depth - 1);
    }
    sum
}

fn seeds(members: u64) -> Vec<u64> {
    (1..=members).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// The same members are over the limit as where each runs alone; the results and states of all others are those of a run without.
fn all_agree<R: Clone + PartialEq + std::fmt::Debug, S: Clone + PartialEq + std::fmt::Debug>(
    states: &[S],
    limits: &[u64],
    run: impl Fn(&mut [S], &Options) -> Outcome<R>,
) {
    let mut unlimited = states.to_vec();
    let free = run(&mut unlimited, &Options::default().quiet(true).executor(Executor::Scalar)).into_results();
    let mut before = BTreeSet::from_iter(0..states.len());
    for &limit in limits {
        let limited = |options: &Options| {
            let mut after = states.to_vec();
            let outcome = run(&mut after, &options.clone().quiet(true).max_steps(limit));
            let over = outcome.faults().iter().filter(|fault| fault.kind == FaultKind::StepsExceeded);
            (over.map(|fault| fault.member).collect::<BTreeSet<_>>(), outcome.into_results(), after)
        };
        let alone = Options::default().executor(Executor::Masked).threads(1).lanes(1);
        let expected = limited(&alone).0;
        assert!(expected.is_subset(&before), "a higher limit ends no more members");
        for (how, options) in executors().into_iter().filter(|(how, _)| !how.starts_with("scalar")) {
            let (over, results, after) = limited(&options);
            assert_eq!(over, expected, "{how}, {limit} steps");
            for member in (0..states.len()).filter(|member| !over.contains(member)) {
                match (&results[member], &free[member]) {
                    (Ok(found), Ok(wanted)) => {
                        assert_eq!((found, &after[member]), (wanted, &unlimited[member]), "{how}, {member}");
                    }
                    (Err(found), Err(wanted)) => assert_eq!(found, wanted, "{how}, {member}"),
                    (found, wanted) => panic!("{how}, {limit} steps, {member}: {found:?}, scalar {wanted:?}"),
                }
            }
        }
        before = expected;
    }
    assert!(before.is_empty(), "the last limit is enough for all");
}

#[test]
fn in_loops_with_states() {
    let most: Vec<u32> = (0..300).map(|i| i * 7 % 500).collect();
    all_agree(&seeds(300), &[0, 1, 2, 100, 131, 333, 10_000], |states, options| {
        wander_batched_with(states, &most, options).unwrap()
    });
}

#[test]
fn in_loops_in_loops() {
    let xs: Vec<u32> = (0..300u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    all_agree(&xs, &[1, 30, 150, 200, 10_000], |states, options| {
        rounds_batched_with(states, &xs, options).unwrap()
    });
}

#[test]
fn in_recursion_with_states() {
    let depths: Vec<u32> = (0..200).map(|i| i % 9).collect();
    all_agree(&seeds(200), &[1, 5, 20, 60, 100_000], |states, options| {
        grow_batched_with(states, &depths, options).unwrap()
    });
}
