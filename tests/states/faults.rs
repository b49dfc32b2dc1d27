//! The state of a member that ends early is valid, and the others' are as ever.

use autobatch::{Executor, FaultKind, Options, autobatch};

use crate::common::executors;
use crate::{Xorshift, generators, seeds};

/// Panics in the middle, with the state changed and to be changed further.
#[autobatch]
fn fragile(s: &mut [u64; 3], n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n % 20 {
        s[0] += 1;
        assert!(n % 5 != 1 || i < 3, "at {i}");
        s[1] = s[1].wrapping_mul(3) ^ i;
        sum = sum.wrapping_add(s[1] >> 4);
        s[2] += 1;
    }
    sum
}

#[test]
fn a_panic_leaves_a_state_of_its_own() {
    let numbers: Vec<u64> = (0..211).collect();
    let states: Vec<[u64; 3]> = numbers.iter().map(|&n| [0, n * n, 0]).collect();
    for (name, options) in executors() {
        for lanes in [1, 7, 64] {
            let mut own = states.clone();
            let options = options.clone().lanes(lanes).threads(1);
            let outcome = fragile_batched_with(&mut own, &numbers, &options).expect("a batch");
            let faults = outcome.faults().to_vec();
            let results = outcome.into_results();
            for (at, &n) in numbers.iter().enumerate() {
                let fails = n % 5 == 1 && n % 20 > 3;
                let mut state = states[at];
                match fails {
                    true => {
                        assert!(faults.iter().any(|fault| fault.member == at), "{name}: {n}");
                        // Valid, and one that the member has had.
                        assert!(own[at][0] <= 4 && own[at][2] <= 3, "{name}: {:?}", own[at]);
                    }
                    false => {
                        let expected = fragile(&mut state, n);
                        assert_eq!(results[at].as_ref().ok(), Some(&expected), "{name}: {n}");
                        assert_eq!(own[at], state, "{name}: {n}");
                    }
                }
            }
        }
    }
}

/// Takes out of its state, and fails with it in its hands.
#[autobatch]
fn emptied(s: &mut Option<Box<u64>>, n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n % 10 {
        let taken = s.take();
        assert!(n % 7 != 3 || i < 2, "at {i}");
        let x = taken.map_or(n, |x| *x) / 2 + i;
        sum += x;
        *s = Some(Box::new(x));
    }
    sum
}

#[test]
fn a_value_that_was_taken_is_not_there_twice() {
    let numbers: Vec<u64> = (0..211).collect();
    for (name, options) in executors() {
        let mut own: Vec<_> = seeds().iter().cycle().take(211).map(|s| Some(Box::new(*s))).collect();
        let outcome = emptied_batched_with(&mut own, &numbers, &options).expect("a batch");
        for fault in outcome.faults() {
            assert_eq!(own[fault.member], None, "{name}: {fault:?}");
        }
        assert_eq!(outcome.faults().len(), numbers.iter().filter(|&&n| n % 7 == 3 && n % 10 > 2).count());
    }
}

/// Runs on for some members.
#[autobatch]
fn endless(rng: &mut Xorshift, n: u64) -> u64 {
    let mut count = 0;
    while n % 6 == 0 || rng.uniform() > 0.1 {
        rng.bits();
        count += 1;
    }
    count
}

#[test]
fn a_limit_leaves_the_other_states() {
    let numbers: Vec<u64> = (1..38).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let mut own = generators();
        let options = Options::default().executor(executor).max_steps(100_000);
        let outcome = endless_batched_with(&mut own, &numbers, &options).expect("a batch");
        assert!(outcome.faults().iter().all(|fault| fault.kind == FaultKind::StepsExceeded));
        assert_eq!(outcome.faults().len(), 6);
        for ((state, mut scalar), &n) in own.iter().zip(generators()).zip(&numbers) {
            if n % 6 > 0 {
                endless(&mut scalar, n);
                assert_eq!(state.0, scalar.0, "{executor:?}: {n}");
            }
        }
    }
}
