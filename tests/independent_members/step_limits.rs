//! Steps are counted for each member alone: who is over the limit is the same in every executor, whatever the neighbours do.

#![allow(clippy::manual_is_multiple_of)] // written as users write

use std::collections::BTreeSet;

use autobatch::{BatchError, Executor, FaultKind, Options, Outcome, autobatch, same};

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

/// Loops of all kinds that are left and gone on with, and calls in all places, one of them a tail call; values that own memory.
#[autobatch(strict)]
mod several {
    pub(crate) fn first(seed: &mut u64, depth: u32, text: String) -> usize {
        let mut len = text.len();
        'rows: for row in 0..*seed % 4 {
            let mut k = 0u64;
            while k < 5 {
                k += 1;
                if (row + k) % 4 == 3 {
                    continue 'rows;
                }
                if *seed % 5 == k {
                    break;
                }
            }
            for j in 0..3 {
                if (row + j + *seed) % 9 == 8 {
                    break 'rows;
                }
                if k == j {
                    break;
                }
                len += 1;
            }
            len += second(seed, depth, text.clone(), k);
        }
        if depth == 0 || len % 7 == 3 { len } else { first(seed, depth - 1, text) }
    }
    fn second(seed: &mut u64, depth: u32, text: String, k: u64) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(k);
        let mut left = *seed >> 61;
        let found = loop {
            if left == 0 {
                break k;
            }
            left -= 1;
            if (*seed >> left) % 6 == 1 {
                break left;
            }
        };
        let mut rest = Some(found % 3);
        while let Some(n) = rest {
            rest = if n == 0 { None } else { Some(n - 1) };
        }
        let deep = depth > 0 && first(seed, depth - 1, text.clone()) % 2 == 1;
        if deep { text.len() } else { 1 + small(k) }
    }
    fn small(k: u64) -> usize {
        (k % 3) as usize
    }
}

/// Ends itself.
#[autobatch]
fn countdown(n: u32, sum: &mut u64) -> u64 {
    *sum += u64::from(n);
    if n == 0 { *sum } else { countdown(n - 1, sum) }
}

fn seeds(members: u64) -> Vec<u64> {
    (1..=members).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// The same members are over the limit as where each runs alone, scalar code included; the results and states of all others are those of a
/// run without.
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
        for (how, options) in executors() {
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

#[test]
fn in_several_functions() {
    let depths: Vec<u32> = (0..200).map(|i| i % 4).collect();
    all_agree(&seeds(200), &[0, 1, 2, 3, 7, 19, 40, 77, 150, 1_000_000], |states, options| {
        several::first_batched_with(states, &depths, same("text".to_owned()), options).unwrap()
    });
}

#[test]
fn in_tail_calls() {
    let n: Vec<u32> = (0..200).map(|i| i * 7 % 113).collect();
    all_agree(&[0; 200], &[0, 1, 2, 50, 112, 113], |states, options| {
        countdown_batched_with(&n, states, options).unwrap()
    });
}

/// A loop that is none as written: scalar code does not count its turns.
#[autobatch]
fn chain(n: u64, calls: &mut u64) -> u64 {
    *calls += 1;
    (0..n % 3).map(|i| chain(i, calls)).sum::<u64>() + 1
}

#[test]
fn scalar_code_counts_no_loops_that_are_not_written() {
    let n = [0, 1, 2, 3];
    let options = Options::default().max_steps(5);
    let scalar = options.clone().executor(Executor::Scalar);
    let limit = BatchError::Limit { option: "max_steps", function: "chain" };
    assert_eq!(chain_batched_with(&n, &mut [0; 4], &scalar).unwrap_err(), limit);
    let outcome = chain_batched_with(&n, &mut [0; 4], &options).unwrap();
    let over: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
    assert_eq!(over, [2], "a call, three looks for the next turn, and what two calls do");
}

/// Limits of members don't add up, nor does a batch in a member count for it.
#[autobatch]
fn outer(n: u64, sum: &mut u64) -> u64 {
    if n == 0 {
        let inner = Options::default().executor(Executor::Scalar).threads(1).max_steps(1_000);
        *sum += countdown_batched_with(&[900], &mut [0], &inner).unwrap().into_values().unwrap()[0];
        return *sum;
    }
    outer(n - 1, sum) + outer(0, sum)
}

#[test]
fn batches_in_members_count_for_themselves() {
    let n = [0, 3, 4, 30];
    for executor in [Executor::Auto, Executor::Masked, Executor::Scalar] {
        let options = Options::default().executor(executor).threads(1).max_steps(9);
        let outcome = outer_batched_with(&n, &mut [0; 4], &options).unwrap();
        let over: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
        assert_eq!(over, [3], "{executor:?}");
    }
}
