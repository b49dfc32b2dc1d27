//! A trace shows the way of each member through the blocks, changes no result, and is small whatever the batch.

use std::collections::BTreeMap;

use autobatch::{Executor, FaultKind, Options, Trace, autobatch};

#[autobatch]
pub(crate) fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

#[autobatch]
pub(crate) fn collatz(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        assert!(n != 40, "too near");
        n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// Changes its state, so it runs once for each member.
#[autobatch]
pub(crate) fn draws(state: &mut u32, most: u32) -> u32 {
    let mut n = 0;
    while *state % 16 != 3 && n < most {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        n += 1;
    }
    n
}

#[autobatch::primitive(batched = roots)]
fn root(x: f64) -> f64 {
    x.sqrt()
}

fn roots(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.sqrt()).collect()
}

#[autobatch]
fn settle(mut x: f64) -> f64 {
    while x > 1.001 {
        x = root(x);
    }
    x
}

#[autobatch]
fn stored(n: u32) -> u32 {
    let next: Box<dyn Fn(u32) -> u32> = Box::new(|n| stored(n / 2 * 2));
    if n == 0 { 0 } else { 1 + next(n - 1) }
}

const EXECUTORS: [Executor; 3] = [Executor::Masked, Executor::ProgramCounter, Executor::Auto];

/// How often each member was in each block.
fn visits(trace: &Trace) -> BTreeMap<(usize, usize), usize> {
    let mut visits = BTreeMap::new();
    for step in &trace.steps {
        assert!(!step.visits.is_empty() && step.visits.len() <= step.active && step.active <= step.lanes);
        for visit in &step.visits {
            *visits.entry((visit.member, step.block)).or_default() += 1;
        }
    }
    visits
}

/// Calls of `fib`, those of them that call on, and the depth.
fn calls(n: u64) -> (usize, usize, usize) {
    if n <= 1 {
        return (1, 0, 0);
    }
    let (a, b) = (calls(n - 2), calls(n - 1));
    (a.0 + b.0 + 1, a.1 + b.1 + 1, a.2.max(b.2) + 1)
}

#[test]
fn every_visit_of_every_member_is_there() {
    let n = [5, 3, 1, 7, 4, 0, 6, 2];
    for executor in EXECUTORS {
        for count_blocks in [false, true] {
            let options = Options::default().executor(executor).lanes(4).threads(1).trace(8);
            let outcome = fib_batched_with(&n, &options.count_blocks(count_blocks)).expect("a batch");
            let trace = outcome.trace().unwrap_or_else(|| panic!("{executor:?}: no blocks ran")).clone();
            assert!(trace.complete, "{executor:?}");
            assert_eq!(trace.members, [0, 1, 2, 3, 4, 5, 6, 7]);
            let visits = visits(&trace);
            for (member, n) in n.into_iter().enumerate() {
                let (all, inner, depth) = calls(n);
                let of = |block| visits.get(&(member, block)).copied().unwrap_or(0);
                assert_eq!((of(0), of(1), of(2)), (all, inner, inner), "{executor:?}: fib({n})");
                let deepest = trace.steps.iter().flat_map(|step| &step.visits);
                let deepest = deepest.filter(|visit| visit.member == member).map(|visit| visit.depth).max();
                assert_eq!(deepest, Some(depth), "{executor:?}: fib({n})");
            }
            assert_eq!(outcome.into_values().expect("no faults"), n.map(fib), "{executor:?}");
        }
    }
}

#[test]
fn a_page_is_small_and_needs_nothing_else() {
    let n: Vec<u64> =
        (0..100_000).map(|i| 41 + i % 1000).filter(|n| ![53, 80, 106, 160].contains(n)).collect();
    let options = Options::default().executor(Executor::Masked).quiet(true).trace(10_000);
    let outcome = collatz_batched_with(&n, &options).expect("a batch");
    let trace = outcome.trace().expect("blocks run");
    assert!(trace.members.len() <= 256 && trace.steps.len() <= 2000, "{}", trace.members.len());
    assert!(trace.members.first() < Some(&256) && trace.members.last() > Some(&(n.len() / 3)), "two places");
    let page = trace.to_html();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    for part in ["http", "src=", "<link", "@import", "/*DATA*/", "<!--TITLE-->", "<!--SOURCE-->"] {
        assert!(!page.contains(part), "{part}");
    }
    for part in ["prefers-color-scheme: dark", "if n != 1", "data-block=\"1\"", "collatz"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(outcome.report().blocks.is_empty() && outcome.report().counted == 0, "no report was asked for");
    for (n, result) in n.iter().zip(outcome.iter()).step_by(97) {
        match result {
            Ok(steps) => assert_eq!(*steps, collatz(*n)),
            Err(fault) => assert_eq!((fault.kind, &*fault.message), (FaultKind::Panic, "too near")),
        }
    }
}

#[test]
fn members_that_failed_are_not_run_again() {
    for executor in EXECUTORS {
        let n: Vec<u64> = vec![40, 40, 32, 85, 40, 16];
        let options = Options::default().executor(executor).quiet(true).trace(6);
        let outcome = collatz_batched_with(&n, &options).expect("a batch");
        let failed: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
        assert_eq!(failed, [0, 1, 2, 3, 4, 5].into_iter().filter(|i| fails(n[*i])).collect::<Vec<_>>());
        if let Some(trace) = outcome.trace() {
            let of = |member| trace.members.contains(&member);
            assert!(of(2) && of(3) && of(5), "{executor:?}: {:?}", trace.members);
        }
    }
}

fn fails(mut n: u64) -> bool {
    while n != 1 && n != 40 {
        n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
    }
    n == 40
}

#[test]
fn members_that_run_once_are_recorded_as_they_run() {
    let start: Vec<u32> = (0..1000u32).map(|i| i * 7_919).collect();
    let most: Vec<u32> = (0..1000).map(|i| i % 40).collect();
    for executor in EXECUTORS {
        for report in [false, true] {
            let mut states = start.clone();
            let options = Options::default().executor(executor).trace(50).report(report);
            let outcome = draws_batched_with(&mut states, &most, &options).expect("a batch");
            let trace = outcome.trace().unwrap_or_else(|| panic!("{executor:?}: no blocks ran")).clone();
            assert_eq!(trace.members, (0..50).collect::<Vec<_>>(), "{executor:?}");
            let values = outcome.into_values().expect("no faults");
            let visits = visits(&trace);
            for (i, (state, most)) in start.iter().zip(&most).enumerate() {
                let mut own = *state;
                assert_eq!((values[i], states[i]), (draws(&mut own, *most), own), "{executor:?}: {i}");
                if i < 50 {
                    let rounds: usize = visits.range((i, 0)..(i + 1, 0)).map(|(_, count)| count).sum();
                    assert!(rounds > values[i] as usize, "{executor:?}: {i}: {rounds} {}", values[i]);
                }
            }
        }
    }
}

#[test]
fn calls_of_kernels_are_recorded() {
    let x: Vec<f64> = (0..300).map(|i| f64::from(i) * 10.0).collect();
    let outcome = settle_batched_with(&x, &Options::default().threads(1).trace(20)).expect("a batch");
    let trace = outcome.trace().expect("blocks run");
    assert_eq!(trace.members.len(), 20);
    assert!(trace.steps.iter().any(|step| settle_batched::program().blocks[step.block].primitive));
    assert_eq!(outcome.into_values().expect("no faults"), x.iter().map(|x| settle(*x)).collect::<Vec<_>>());
}

#[test]
fn there_is_no_trace_of_scalar_code_or_unasked() {
    let scalar = Options::default().executor(Executor::Scalar).trace(8);
    assert!(fib_batched_with(&[3, 4], &scalar).expect("a batch").trace().is_none());
    assert!(fib_batched_with(&[3, 4], &Options::default()).expect("a batch").trace().is_none());
    let outcome = stored_batched_with(&[3, 4], &Options::default().trace(8)).expect("a batch");
    assert_eq!(outcome.into_values().expect("no faults"), [stored(3), stored(4)]);
}
