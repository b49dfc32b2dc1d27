//! Depth is data: recursion a million deep on a default test thread.

use autobatch::{Executor, FaultKind, Options, autobatch};

#[autobatch(strict)]
fn sum(n: u64) -> u64 {
    if n == 0 { 0 } else { n + sum(n - 1) }
}

/// All executors, on the calling thread.
fn all() -> [Options; 3] {
    [Executor::Masked, Executor::ProgramCounter, Executor::Scalar]
        .map(|executor| Options::default().executor(executor).threads(1))
}

#[test]
fn a_million_deep() {
    for options in all() {
        let n = [3, 1_000_000, 0, 17];
        for report in [false, true] {
            let outcome = sum_batched_with(&n, &options.clone().count_blocks(report)).unwrap();
            // Who counts steps counts depth.
            let counts = report && outcome.report().executor != Executor::Scalar;
            assert!(!counts || outcome.report().depth == 1_000_000);
            assert_eq!(outcome.into_values().unwrap(), [6, 500_000_500_000, 0, 153]);
        }
    }
}

#[test]
fn thousands_of_members_are_deep_together() {
    for options in all() {
        let n: Vec<u64> = (0..300).map(|i| 3000 + i % 7).collect();
        let want: Vec<u64> = n.iter().map(|n| n * (n + 1) / 2).collect();
        assert_eq!(sum_batched_with(&n, &options).unwrap().into_values().unwrap(), want);
    }
}

/// Not a sum: rustc makes loops of those.
#[autobatch(strict)]
fn fraction(n: u64) -> f64 {
    if n == 0 { 1.0 } else { 1.0 / (1.0 + fraction(n - 1)) }
}

#[test]
fn the_report_says_how_much_memory_calls_took() {
    for options in all() {
        let memory = |n: u64| fraction_batched_with(&[n; 16], &options).unwrap().report().memory;
        let (shallow, deep) = (memory(10), memory(200_000));
        // A call of a member takes 8 bytes at least, of frames, saved values or native stack.
        assert!(deep > 8 * 200_000 && deep > 2 * shallow, "{options:?}: {deep} and {shallow}");
    }
}

#[test]
fn too_deep_members_end_alone() {
    for options in all().into_iter().chain(all().map(|options| options.count_blocks(true))) {
        let n: Vec<u64> = (0..2000).collect();
        let outcome = sum_batched_with(&n, &options.max_depth(1000)).unwrap();
        let results = outcome.into_results();
        for (n, result) in n.iter().zip(results) {
            match result {
                Ok(value) => {
                    assert!(*n <= 1000);
                    assert_eq!(value, n * (n + 1) / 2);
                }
                Err(fault) => {
                    assert!(*n > 1000);
                    assert_eq!(fault.kind, FaultKind::DepthExceeded);
                    assert_eq!(fault.member as u64, *n);
                }
            }
        }
    }
}

#[autobatch(strict, max_depth = 5, executor = Masked)]
fn limited(n: u32) -> u32 {
    if n == 0 { 0 } else { 1 + limited(n - 1) }
}

#[test]
fn the_attribute_sets_defaults() {
    let outcome = limited_batched_with(&[5, 6], &Options::default()).unwrap();
    assert_eq!(outcome.report().executor, Executor::Masked);
    assert_eq!(outcome.faults().len(), 1);
    assert_eq!(outcome.faults()[0].member, 1);
    let outcome = limited_batched_with(&[5, 6], &Options::default().max_depth(6)).unwrap();
    assert_eq!(outcome.into_values().unwrap(), [5, 6]);
}
