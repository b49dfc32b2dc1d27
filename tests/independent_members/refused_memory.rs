//! Memory that the system refuses ends members, or is an error of the call. It never ends the process.
//!
//! Each case runs in a process of its own, which is this test's executable with an address space that is too small.
#![cfg(all(target_os = "linux", not(miri)))]

use std::process::Command;
use std::sync::Arc;

use autobatch::{BatchError, FaultKind, Options, Outcome, autobatch};

use crate::common::executors;

/// Says to the child what it is to run.
const CASE: &str = "AUTOBATCH_REFUSED";
/// Its address space in KiB.
const ROOM: usize = 126_000;

/// Pure: frames, task blocks, gangs, wavefront. What waits is large, so that memory is soon used up.
#[autobatch(strict)]
fn pure_recursion(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let many = [n; 16];
    let below = pure_recursion(n - 1);
    (below ^ many[(n % 16) as usize]).wrapping_mul(3)
}

/// With a state: the machine, in frames and by program counters.
#[autobatch(strict)]
fn recursion_with_state(n: u64, calls: &mut u64) -> u64 {
    *calls += 1;
    if n == 0 {
        return 1;
    }
    let many = [n; 64];
    let below = recursion_with_state(n - 1, calls);
    (below ^ many[(n % 64) as usize]).wrapping_mul(3)
}

/// Values that are dropped wait on the stacks.
#[autobatch(strict)]
fn recursion_with_owned_values(n: u64, given: Arc<u64>) -> u64 {
    if n == 0 {
        return 1;
    }
    let (own, many) = (Arc::clone(&given), [n; 64]);
    let below = recursion_with_owned_values(n - 1, Arc::clone(&given));
    (below ^ many[(*own % 64) as usize] ^ *given).wrapping_mul(3)
}

/// Scalar code for each member.
#[autobatch]
fn scalar_recursion(n: u64) -> u64 {
    let some = [n; 16];
    let lent = some.iter();
    if n == 0 { 1 } else { (scalar_recursion(n - 1) ^ lent.max().unwrap()).wrapping_mul(3) }
}

#[autobatch]
fn wide(n: u64) -> [u64; 512] {
    let mut k = n;
    while k > 10 {
        k /= 2;
    }
    [k; 512]
}

/// One member in a thousand panics.
#[autobatch]
fn wide_or_panic(n: u64) -> [u64; 16] {
    let mut k = n;
    while k > 10 {
        assert!(n % 1000 != 3, "a member that is at fault");
        k /= 2;
    }
    [k; 16]
}

fn depth(member: usize) -> u64 {
    if member % 25 == 4 { u64::MAX } else { member as u64 * 7 % 50 }
}

/// Recursion of which a few members take all memory there is. The others have their results.
fn deep(
    name: &str,
    options: &Options,
    scalar: impl Fn(u64) -> u64,
    batched: impl Fn(&[u64], &Options) -> Result<Outcome<u64>, BatchError>,
) {
    let n: Vec<u64> = (0..100).map(depth).collect();
    // Whoever says so gets as much memory as there is.
    let options = options.clone().max_depth(1 << 30).max_memory(1 << 50).quiet(true);
    let outcome = batched(&n, &options).unwrap();
    let faults: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
    let endless: Vec<usize> = (0..n.len()).filter(|member| n[*member] == u64::MAX).collect();
    assert_eq!(faults, endless, "{name}");
    for fault in outcome.faults() {
        assert_eq!(fault.kind, FaultKind::MemoryExceeded, "{name}: {fault}");
    }
    for (member, n) in n.iter().enumerate().filter(|(_, n)| **n != u64::MAX) {
        assert_eq!(outcome.get(member), Some(&scalar(*n)), "{name}: {member}");
    }
    // There is memory again.
    let few: Vec<u64> = (0..100).map(|member| member % 50).collect();
    let values = batched(&few, &options).unwrap().into_values().unwrap();
    assert!(few.iter().zip(values).all(|(n, value)| scalar(*n) == value), "{name}");
}

/// Results that take more memory than there is.
fn results(options: &Options) {
    let n = vec![7; 60_000];
    let error = wide_batched_with(&n, options).unwrap_err();
    assert!(matches!(error, BatchError::Memory { members: 60_000, bytes: 4096 }), "{error}");
}

/// Results that take more than half of the memory there is, some of which are missing.
fn results_with_faults(options: &Options) {
    let n: Vec<u64> = (0..400_000).map(|member| member * 1000 % 20_011).collect();
    let outcome = wide_or_panic_batched_with(&n, &options.clone().quiet(true)).unwrap();
    assert!(!outcome.faults().is_empty());
    for (member, n) in n.iter().enumerate().step_by(101) {
        match outcome.get(member) {
            Some(value) => assert_eq!(*value, wide_or_panic(*n)),
            None => assert_eq!(*n % 1000, 3),
        }
    }
}

fn run(case: &str, options: &Options) {
    let calls = |n: &[u64]| vec![0; n.len()];
    match case {
        "pure recursion" => {
            deep(case, options, pure_recursion, |n, options| pure_recursion_batched_with(n, options));
        }
        "recursion with state" => deep(
            case,
            options,
            |n| recursion_with_state(n, &mut 0),
            |n, options| recursion_with_state_batched_with(n, &mut calls(n), options),
        ),
        "recursion with owned values" => {
            let counted = Arc::new(5);
            let given = |n: &[u64]| vec![Arc::clone(&counted); n.len()];
            deep(
                case,
                options,
                |n| recursion_with_owned_values(n, Arc::clone(&counted)),
                |n, options| recursion_with_owned_values_batched_with(n, given(n), options),
            );
            assert_eq!(Arc::strong_count(&counted), 1, "{case}: values are dropped once");
        }
        "scalar recursion" => {
            deep(case, options, scalar_recursion, |n, options| scalar_recursion_batched_with(n, options));
        }
        "results" => results(options),
        "results with faults" => results_with_faults(options),
        other => panic!("no case {other}"),
    }
}

/// What the children run. Without a case there is nothing to be done.
#[test]
fn a_child() {
    let Ok(case) = std::env::var(CASE) else { return };
    let (case, executor) = case.split_once('/').unwrap();
    let (executor, threads) = executor.split_once('/').unwrap();
    let (_, options) = executors().into_iter().find(|(name, _)| *name == executor).unwrap();
    run(case, &options.threads(threads.parse().unwrap()));
}

/// Runs a case in a child, in every executor.
fn in_children(case: &str) {
    if std::env::var_os("AUTOBATCH_CHECKED").is_some() {
        // What checks needs memory of its own.
        return;
    }
    let mut failed = Vec::new();
    // What only reports, or takes another turn, is the same in these.
    let engines =
        executors().into_iter().filter(|(name, _)| !["masked report", "pc earliest"].contains(name));
    for (nth, (executor, _)) in engines.enumerate() {
        let name = format!("{case}/{executor}/{}", nth % 2 + 1);
        let child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {ROOM}; exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "refused_memory::a_child", "--nocapture", "--test-threads=1"])
            .env(CASE, &name)
            // The allocator reserves address space for each thread.
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        if !child.status.success() {
            let said = String::from_utf8_lossy(&child.stderr);
            let said: String = said.chars().take(600).collect();
            failed.push(format!("{name}: {}\n{said}", child.status));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn results_that_do_not_fit_are_an_error() {
    in_children("results");
}

#[test]
fn faults_do_not_need_the_results_twice() {
    in_children("results with faults");
}

#[test]
fn members_whose_frames_do_not_fit_end_alone() {
    in_children("pure recursion");
}

#[test]
fn members_whose_stacks_do_not_fit_end_alone() {
    in_children("recursion with state");
}

#[test]
fn what_members_own_is_dropped_where_stacks_do_not_fit() {
    in_children("recursion with owned values");
}

#[test]
fn members_whose_native_stack_does_not_fit_end_alone() {
    in_children("scalar recursion");
}
