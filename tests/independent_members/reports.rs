//! A report names the engine that runs without one, too, and counts the blocks of some members.

use autobatch::{Engine, Executor, Options, autobatch};

#[autobatch]
fn fib(n: u32) -> u64 {
    if n <= 1 { u64::from(n) } else { fib(n - 1) + fib(n - 2) }
}

/// Changes its state, so it runs once for each member.
#[autobatch]
fn draws(state: &mut u32, most: u32) -> u32 {
    let mut n = 0;
    while *state % 16 != 3 && n < most {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        n += 1;
    }
    n
}

const EXECUTORS: [Executor; 3] = [Executor::Masked, Executor::ProgramCounter, Executor::Auto];

#[test]
fn blocks_are_counted_beside_vector_code() {
    let numbers: Vec<u32> = (0..300).map(|i| i % 12).collect();
    let expected: Vec<u64> = numbers.iter().map(|n| fib(*n)).collect();
    for executor in EXECUTORS {
        let options = Options::default().executor(executor);
        let plain = fib_batched_with(&numbers, &options).expect("a batch");
        let outcome = fib_batched_with(&numbers, &options.report(true)).expect("a batch");
        let report = outcome.report().clone();
        if executor != Executor::Auto {
            assert_eq!(report.engine, plain.report().engine, "{executor:?}");
            assert!(report.engine != Engine::Machine && report.steps > 0, "{executor:?}");
        }
        assert!((1..=300).contains(&report.counted), "{executor:?}");
        let entry = report.blocks.iter().find(|block| block.label == "entry").expect("an entry");
        assert!(entry.active >= report.counted as u64 && entry.executions > 0, "{report}");
        assert!(report.utilisation() > 0.0 && report.utilisation() <= 1.0, "{report}");
        assert!(plain.report().blocks.is_empty() && plain.report().counted == 0);
        assert_eq!(outcome.into_values().expect("no faults"), expected, "{executor:?}");
    }
}

#[test]
fn members_that_run_once_are_counted_as_they_run() {
    for members in [1u32, 200, 1000] {
        let start: Vec<u32> = (0..members).map(|i| i * 7_919).collect();
        let most: Vec<u32> = (0..members).map(|i| i % 40).collect();
        for executor in EXECUTORS {
            let mut states = start.clone();
            let options = Options::default().executor(executor).report(true);
            let outcome = draws_batched_with(&mut states, &most, &options).expect("a batch");
            let report = outcome.report().clone();
            let values = outcome.into_values().expect("no faults");
            for (i, (state, most)) in start.iter().zip(&most).enumerate() {
                let mut own = *state;
                assert_eq!(values[i], draws(&mut own, *most), "{executor:?}: {i}");
                assert_eq!(states[i], own, "{executor:?}: {i}");
            }
            if executor == Executor::Auto {
                // Few members run as scalar code, which counts nothing.
                assert!(report.counted <= 256, "{report}");
                continue;
            }
            assert_eq!(report.counted, members.min(256) as usize, "{executor:?}: {report}");
            let largest = values[..report.counted].iter().max().copied().expect("a member");
            let rounds = report.blocks.iter().find(|block| block.label == "while").expect("a loop");
            assert_eq!(rounds.lower_bound, u64::from(largest) + 1, "{executor:?}: {report}");
        }
    }
}

#[test]
fn members_that_panic_are_counted_and_fail_once() {
    #[autobatch]
    fn halves(n: u32) -> u32 {
        let (mut n, mut steps) = (n, 0);
        while n > 1 {
            assert!(n % 2 == 0, "{n} is odd");
            n /= 2;
            steps += 1;
        }
        steps
    }
    let numbers: Vec<u32> = (0..400).map(|i| if i % 10 == 7 { 12 } else { 1 << (i % 9) }).collect();
    for executor in EXECUTORS {
        let options = Options::default().executor(executor).report(true);
        let outcome = halves_batched_with(&numbers, &options).expect("a batch");
        assert_eq!(outcome.faults().len(), 40, "{executor:?}");
        assert!(outcome.faults().iter().all(|fault| fault.member % 10 == 7 && fault.message == "3 is odd"));
        assert!(outcome.report().counted > 0);
    }
}

#[test]
fn auto_reports_the_times_that_it_has_chosen_by() {
    let numbers: Vec<u32> = (0..3000).map(|i| i % 12).collect();
    let options = Options::default().report(true);
    for _ in 0..3 {
        let outcome = fib_batched_with(&numbers, &options).expect("a batch");
        let report = outcome.report();
        let of = |executor| report.measured.iter().find(|one| one.executor == executor);
        let chosen = of(report.executor).expect("the executor that has run most of it was measured");
        assert!(report.measured.iter().all(|one| one.nanoseconds > 0.0), "{report}");
        assert!(report.to_string().contains(&format!("{:?} ", chosen.executor)), "{report}");
    }
    let masked = options.clone().executor(Executor::Masked);
    let outcome = fib_batched_with(&numbers, &masked).expect("a batch");
    assert!(outcome.report().measured.is_empty(), "nothing was chosen");
    let outcome = fib_batched_with(&numbers, &Options::default()).expect("a batch");
    assert!(outcome.report().measured.is_empty(), "no report was asked for");
}
