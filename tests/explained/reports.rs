//! A report tells what ran, how often lanes moved together, who failed, and what the time went into; and nothing runs otherwise for it.

use autobatch::{Executor, Options, Purpose};

use crate::traces::{collatz, collatz_batched_with, draws_batched_with, fib, fib_batched_with};

const EXECUTORS: [Executor; 4] =
    [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto];

#[test]
fn phases_have_each_member_once_for_its_result() {
    let n: Vec<u64> = (0..3000).map(|i| i % 12).collect();
    let most: Vec<u32> = (0..3000).map(|i| i % 40).collect();
    let start: Vec<u32> = (0..3000u32).map(|i| i * 7_919).collect();
    for executor in EXECUTORS {
        for threads in [1, 2] {
            let options = Options::default().executor(executor).threads(threads).report(true).trace(8);
            let pure = fib_batched_with(&n, &options).expect("a batch");
            let mut states = start.clone();
            let with_state = draws_batched_with(&mut states, &most, &options).expect("a batch");
            let of = |report: &autobatch::Report, counts: bool| {
                let phases = report.phases.iter();
                let phases = phases.filter(|phase| counts || phase.purpose == Purpose::Results);
                phases.map(|phase| phase.members).sum::<usize>()
            };
            // What only computes runs again for counts; what has a state does not.
            assert_eq!(of(pure.report(), false), 3000, "{executor:?}: {}", pure.report());
            assert_eq!(of(with_state.report(), true), 3000, "{executor:?}: {}", with_state.report());
            let counts = |phase: &&autobatch::PhaseReport| phase.purpose == Purpose::Counts;
            let counted: usize = pure.report().phases.iter().filter(counts).map(|phase| phase.members).sum();
            assert_eq!(counted, pure.report().counted, "{executor:?}: {}", pure.report());
            assert_eq!(pure.into_values().expect("no faults"), n.iter().map(|n| fib(*n)).collect::<Vec<_>>());
        }
    }
    let plain = fib_batched_with(&n, &Options::default()).expect("a batch");
    assert!(plain.report().phases.is_empty() && plain.report().compactions == 0, "nobody has asked");
}

#[test]
fn lanes_that_move_together_are_counted() {
    let n: Vec<u64> = (0..4000).map(|i| 41 + i % 1000).filter(|n| ![53, 80, 106, 160].contains(n)).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        for count_blocks in [false, true] {
            let options =
                Options::default().executor(executor).threads(1).lanes(256).quiet(true).report(true);
            let outcome = collatz_batched_with(&n, &options.count_blocks(count_blocks)).expect("a batch");
            let report = outcome.report();
            if executor == Executor::Masked {
                assert!(report.compactions > 0, "{report}");
            }
            assert_eq!(report.faults, outcome.faults().len(), "{report}");
            for (n, result) in n.iter().zip(&outcome) {
                match result {
                    Ok(steps) => assert_eq!(*steps, collatz(*n)),
                    Err(fault) => assert!(fails(*n), "{n}: {fault}"),
                }
            }
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
fn faults_are_counted_and_the_engine_stays() {
    let n: Vec<u64> = (1..500).collect();
    for executor in EXECUTORS {
        let options = Options::default().executor(executor).quiet(true);
        let plain = collatz_batched_with(&n, &options).expect("a batch");
        let told = collatz_batched_with(&n, &options.report(true)).expect("a batch");
        let failed = n.iter().filter(|n| fails(**n)).count();
        assert_eq!((plain.report().faults, told.report().faults), (failed, failed), "{executor:?}");
        if executor != Executor::Auto {
            assert_eq!(plain.report().engine, told.report().engine, "{executor:?}");
        }
        let text = told.report().to_string();
        assert!(text.contains(&format!("{failed} faults")) && text.contains("phases: "), "{text}");
    }
}
