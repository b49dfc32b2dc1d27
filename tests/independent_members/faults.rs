//! A member that fails ends alone, with a fault that names it; each value is dropped once.

#![allow(clippy::useless_vec)] // written as users write

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::{cancelled_with_results, executors};
use autobatch::{BatchError, FaultKind, Options, autobatch};

#[autobatch]
fn risky(n: u32, d: u32) -> u32 {
    if n == 7 {
        panic!("seven is not allowed");
    }
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        sum += 100 / d;
        i += 1;
    }
    if n > 2 { sum + risky(n / 2, d) } else { sum }
}

#[test]
fn faults_name_the_member_and_others_finish() {
    let n: Vec<u32> = (0..100).map(|i| if i == 31 { 14 } else { i % 7 }).collect();
    let d: Vec<u32> = (0..100).map(|i| if i == 40 { 0 } else { 1 + i % 5 }).collect();
    for (how, options) in executors() {
        for threads in [1, 2] {
            let outcome = risky_batched_with(&n, &d, &options.clone().threads(threads)).unwrap();
            let faults = outcome.faults();
            assert_eq!(faults.len(), 2, "{how}");
            assert_eq!((faults[0].member, faults[0].kind), (31, FaultKind::Panic), "{how}");
            assert_eq!(faults[0].message, "seven is not allowed", "{how}");
            assert_eq!((faults[1].member, faults[1].kind), (40, FaultKind::Panic), "{how}");
            assert!(faults[1].message.contains("divide by zero"), "{how}: {}", faults[1].message);
            for (member, result) in outcome.into_results().into_iter().enumerate() {
                if member != 31 && member != 40 {
                    assert_eq!(result.unwrap(), risky(n[member], d[member]), "{how}, member {member}");
                }
            }
        }
    }
}

/// Conditions of assertions with names that are bound several times, or live in place, or stand for `self`.
#[autobatch]
mod asserting {
    pub(super) fn shadowed(n: u32) -> u32 {
        let n = n / 2;
        let n = n.max(1);
        assert!(n < 20 && [n, 3] != [7, 3]);
        if n > 2 { shadowed(n) + n } else { n }
    }

    pub(super) fn in_place(n: u32) -> u32 {
        let kept = vec![n; 3];
        let lent = &kept[..];
        let sum = total(lent);
        debug_assert!(kept[0] < 20 && matches!(Some(sum), Some(x) if x != 21));
        sum + total(lent)
    }

    fn total(xs: &[u32]) -> u32 {
        if let [first, rest @ ..] = xs { first + total(rest) } else { 0 }
    }
}

#[test]
fn assertions_say_what_is_written() {
    type Batched = fn(&[u32], &Options) -> Result<autobatch::Outcome<u32>, BatchError>;
    type Scalar = fn(u32) -> u32;
    let both: [(Scalar, Batched); 2] = [
        (asserting::shadowed, |n, options| asserting::shadowed_batched_with(n, options)),
        (asserting::in_place, |n, options| asserting::in_place_batched_with(n, options)),
    ];
    for (scalar, batched) in both {
        for n in [7, 14, 20, 50] {
            let said = catch_unwind(|| scalar(n)).map_err(|payload| {
                let text = payload.downcast_ref::<&str>().map(ToString::to_string);
                text.or(payload.downcast_ref::<String>().cloned()).unwrap()
            });
            for (how, options) in executors() {
                let results = batched(&[n], &options).unwrap().into_results();
                let result = results[0].as_ref().map_err(|fault| fault.message.clone());
                assert_eq!(result.copied(), said, "{how}");
            }
        }
    }
}

#[test]
fn the_plain_call_panics_with_the_first_faulty_member() {
    let payload = catch_unwind(|| risky_batched(&[1, 7, 2, 7], autobatch::same(3))).unwrap_err();
    let message = payload.downcast_ref::<String>().expect("a formatted message");
    assert!(message.starts_with("member 1: seven is not allowed"), "{message}");
}

#[autobatch]
fn spin(n: u32) -> u32 {
    let mut i = 0u32;
    loop {
        if i >= n && n != 13 {
            return i;
        }
        i = i.wrapping_add(1);
    }
}

fn batching() -> impl Iterator<Item = (&'static str, Options)> {
    executors().into_iter().filter(|(how, _)| how.starts_with("masked") || how.starts_with("pc"))
}

#[test]
fn a_member_that_never_ends_starves_nobody() {
    let n: Vec<u32> = (0..50).collect();
    for (how, options) in batching() {
        let outcome = spin_batched_with(&n, &options.max_steps(10_000)).unwrap();
        assert_eq!(outcome.faults().len(), 1, "{how}");
        assert_eq!(
            (outcome.faults()[0].member, outcome.faults()[0].kind),
            (13, FaultKind::StepsExceeded),
            "{how}"
        );
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            if member != 13 {
                assert_eq!(result, Ok(member as u32), "{how}");
            }
        }
    }
}

#[test]
fn a_run_can_be_cancelled() {
    let n: Vec<u32> = (0..50).collect();
    for (how, options) in batching() {
        let outcome = cancelled_with_results(0, &options, |o| spin_batched_with(&n, o).unwrap());
        let faults = outcome.faults();
        assert!(faults.iter().any(|f| f.member == 13), "{how}");
        assert!(faults.iter().all(|f| f.kind == FaultKind::Cancelled), "{how}");
    }
}

/// Values alive; a value counts itself.
static ALIVE: AtomicI64 = AtomicI64::new(0);

#[derive(Debug)]
struct Counted(u32);

impl Counted {
    fn new(n: u32) -> Counted {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Counted(n)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[autobatch]
fn owned(x: Counted, n: u32, _unused: Counted) -> Counted {
    let kept = Counted::new(x.0 + 1);
    let mut i = 0;
    while i < n {
        if i == 5 && n == 9 {
            panic!("nine");
        }
        if i == 3 && n == 8 {
            return x;
        }
        i += 1;
    }
    if n == 0 {
        return kept;
    }
    let below = owned(Counted::new(x.0 * 2), n - 1, Counted::new(n));
    let _ignored = owned(x, n / 2, below.clone());
    Counted::new(kept.0 ^ below.0)
}

#[test]
fn every_value_is_dropped_once() {
    for (how, options) in executors() {
        for lanes in [3, 64] {
            for depth in [3, 1000] {
                let options = options.clone().lanes(lanes).max_depth(depth);
                let n: Vec<u32> = (0..40).map(|i| i % 11).collect();
                let x: Vec<Counted> = (0..40).map(Counted::new).collect();
                let unused: Vec<Counted> = (0..40).map(Counted::new).collect();
                let outcome = owned_batched_with(x, &n, &unused, &options).unwrap();
                assert!(!outcome.faults().is_empty());
                drop((outcome, unused));
                assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "{how}, {lanes} lanes, depth {depth}");
            }
        }
    }
}

#[test]
fn state_of_a_faulty_member_stays_valid() {
    #[autobatch]
    fn grow(n: u32, state: &mut Vec<u32>) -> usize {
        let mut i = 0;
        while i < n {
            state.push(i);
            assert!(i != 6, "six");
            i += 1;
        }
        state.len()
    }
    for (how, options) in executors() {
        let mut states: Vec<Vec<u32>> = vec![vec![99]; 10];
        let n: Vec<u32> = (0..10).collect();
        let outcome = grow_batched_with(&n, &mut states, &options).unwrap();
        assert_eq!(outcome.faults().len(), 3, "{how}");
        for (n, state) in n.iter().zip(&states) {
            assert_eq!(state[0], 99);
            if *n <= 6 {
                assert_eq!(state.len(), *n as usize + 1, "{how}");
            }
        }
    }
}
