//! Programs expanded by hand, the way generated code looks: see [`super`]. Each runs in
//! every mode, schedule and instruction set, with many lane counts, against the scalar function.

pub(super) mod harness;
mod numbers;
mod owned;

use std::time::Duration;

use crate::machine::{Mode, Settings};
use harness::{Batch, settings, sweep};

#[test]
fn mandel() {
    let side = 16;
    let c: Vec<(f32, f32)> =
        (0..side * side).map(|k| (-2.0 + (k % side) as f32 / 5.0, -1.5 + (k / side) as f32 / 5.0)).collect();
    sweep(|settings| {
        let run = Batch::new(&numbers::MANDEL, settings, c.len()).run(|core, store, out| {
            numbers::enter_mandel(core, store, (&c, 50, out));
        });
        for (k, &(re, im)) in c.iter().enumerate() {
            assert_eq!(run.value(k), &numbers::mandel(re, im, 50), "{:?}", run.settings);
        }
    });
}

#[test]
fn fib() {
    let n: Vec<u64> = (0..130).map(|k| k * 7 % 13).collect();
    let want: Vec<u64> = (0..13).map(numbers::fib).collect();
    sweep(|settings| {
        let run = Batch::new(&numbers::FIB, settings, n.len())
            .run(|core, store, out| numbers::enter_fib(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            assert_eq!(run.value(k), &want[n as usize], "{:?}", run.settings);
        }
        assert_eq!(run.finished.depth, 11);
    });
}

#[test]
fn tail_calls_are_loops() {
    let n: Vec<u64> = (0..100).map(|k| k * k % 199).collect();
    sweep(|settings| {
        let settings = Settings { max_depth: 0, ..settings };
        let run = Batch::new(&numbers::IOTA, settings, n.len())
            .run(|core, store, out| numbers::enter_iota(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            assert_eq!(*run.value(k), n * (n + 1) / 2);
        }
    });
}

#[test]
fn a_million_deep() {
    for mode in [Mode::Masked, Mode::ProgramCounter] {
        let n = [1_000_000u64, 5, 999_999];
        let run = Batch::new(&numbers::SUM, Settings { mode, ..settings() }, n.len())
            .run(|core, store, out| numbers::enter_sum(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            assert_eq!(*run.value(k), n * (n + 1) / 2);
        }
        assert_eq!(run.finished.depth, 1_000_000);
    }
}

#[test]
fn too_deep_members_end_alone() {
    let n: Vec<u64> = (0..40).map(|k| if k % 9 == 4 { 10_000 } else { k }).collect();
    sweep(|settings| {
        let run = Batch::new(&numbers::SUM, Settings { max_depth: 100, ..settings }, n.len())
            .run(|core, store, out| numbers::enter_sum(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            match n {
                10_000 => assert_eq!(run.fault(k), "DepthExceeded: more than 100 nested calls"),
                _ => assert_eq!(*run.value(k), n * (n + 1) / 2),
            }
        }
        assert_eq!(run.finished.depth, 100);
    });
}

#[test]
fn endless_members_end_alone() {
    let n: Vec<u64> = (0..40).map(|k| if k % 9 == 4 { u64::MAX } else { k }).collect();
    sweep(|settings| {
        let run = Batch::new(&numbers::IOTA, Settings { max_steps: 50, ..settings }, n.len())
            .run(|core, store, out| numbers::enter_iota(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            match n {
                u64::MAX => assert_eq!(run.fault(k), "StepsExceeded: more than 50 steps"),
                _ => assert_eq!(*run.value(k), n * (n + 1) / 2),
            }
        }
    });
    sweep(|settings| {
        let run = Batch::new(&numbers::IOTA, settings, n.len())
            .cancel_after(20)
            .run(|core, store, out| numbers::enter_iota(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            match &run.results[k] {
                Ok(value) => assert_eq!(*value, n * (n + 1) / 2),
                Err(_) => assert_eq!(run.fault(k), "Cancelled: cancelled"),
            }
        }
        assert!(n.iter().zip(&run.results).all(|(&n, result)| n != u64::MAX || result.is_err()));
    });
}

#[test]
fn counts_for_reports() {
    let n: Vec<u64> = vec![3, 7, 4, 5];
    for mode in [Mode::Masked, Mode::ProgramCounter] {
        let run = Batch::new(&numbers::FIB, Settings { mode, report: true, ..settings() }, n.len())
            .run(|core, store, out| numbers::enter_fib(core, store, (&n, out)));
        let calls = |n: u64| 2 * numbers::fib(n) - 1;
        let blocks = &run.finished.blocks;
        assert_eq!(blocks[0].active, n.iter().map(|&n| calls(n)).sum::<u64>());
        assert_eq!(run.finished.largest[0], calls(7));
        assert_eq!(run.finished.largest[1], (calls(7) - 1) / 2);
        assert!(blocks.iter().zip(&run.finished.largest).all(|(b, &least)| b.executions >= least));
        assert!(blocks.iter().all(|b| b.active >= b.executions && b.offered >= b.active));
        assert_eq!(run.finished.refills, 0);
    }
}

#[test]
fn refills_are_counted() {
    let n: Vec<u64> = (0..100).collect();
    for (refill, want) in [(true, 93), (false, 93)] {
        let run = Batch::new(&numbers::IOTA, Settings { lanes: 7, refill, ..settings() }, n.len())
            .run(|core, store, out| numbers::enter_iota(core, store, (&n, out)));
        assert_eq!(run.finished.refills, want);
    }
}

#[test]
fn several_workers() {
    let n: Vec<u64> = (0..3000).map(|k| k * 7 % 14).collect();
    for mode in [Mode::Masked, Mode::ProgramCounter] {
        let run = Batch::new(&numbers::FIB, Settings { mode, ..settings() }, n.len())
            .workers(4)
            .run(|core, store, out| numbers::enter_fib(core, store, (&n, out)));
        for (k, &n) in n.iter().enumerate() {
            assert_eq!(*run.value(k), numbers::fib(n));
        }
    }
}

#[test]
fn owned_values_and_panics() {
    let quiet = harness::Quiet::new();
    for count in if cfg!(miri) { [1, 5, 20] } else { [1, 5, 100] } {
        sweep(|settings| owned::check(settings, count, None));
    }
    drop(quiet);
}

#[test]
fn owned_values_and_limits() {
    let count = if cfg!(miri) { 13 } else { 60 };
    sweep(|settings| owned::check(Settings { max_depth: 3, ..settings }, count, None));
    sweep(|settings| owned::check(Settings { max_steps: 5, ..settings }, count, None));
    for after in [0, 1, 10, 40, 200] {
        sweep(|settings| owned::check(settings, count, Some(after)));
    }
}

/// Memory may be refused whenever members leave their frames, which go on then.
#[test]
fn frames_go_on_that_can_not_be_left() {
    let quiet = harness::Quiet::new();
    let refusals: &[usize] = if cfg!(miri) { &[0, 7] } else { &[0, 1, 7, 30] };
    for &copies in refusals {
        for microseconds in [0, 20, 100] {
            let patience = Some(Duration::from_micros(microseconds));
            let settings = Settings { patience, lanes: 64, ..settings() };
            harness::refuse_after(copies);
            owned::check(settings.clone(), 60, None);
            assert!(microseconds > 0 || harness::is_refused());
            harness::refuse_after(copies);
            let n: Vec<u64> = (0..60).map(|k| k % 12).collect();
            let run = Batch::new(&numbers::FIB, settings, n.len())
                .run(|core, store, out| numbers::enter_fib(core, store, (&n, out)));
            assert!(n.iter().enumerate().all(|(k, &n)| *run.value(k) == numbers::fib(n)));
            assert!(microseconds > 0 || harness::is_refused());
        }
    }
    harness::refuse_after(usize::MAX);
    drop(quiet);
}

/// Members leave frames at any time, many or few, deep ones too.
#[test]
fn members_that_leave_frames_go_on_where_they_are() {
    let quiet = harness::Quiet::new();
    let (count, deep) = if cfg!(miri) { (10, 100) } else { (60, 20_000) };
    let n: Vec<u64> = (0..count).map(|k| if k == 7 { deep } else { k % 20 }).collect();
    let times: &[u64] = if cfg!(miri) { &[0, 100] } else { &[0, 1, 5, 20, 50, 100, 200, 500, 1000, 2000] };
    for &microseconds in times {
        for lanes in [2, 5, 256] {
            let patience = Some(Duration::from_micros(microseconds));
            let settings = Settings { patience, lanes, max_steps: 100_000, ..settings() };
            let run = Batch::new(&numbers::SUM, settings.clone(), n.len())
                .run(|core, store, out| numbers::enter_sum(core, store, (&n, out)));
            assert!(n.iter().enumerate().all(|(k, &n)| *run.value(k) == n * (n + 1) / 2));
            owned::check(settings, count as u32, None);
        }
    }
    drop(quiet);
}

#[test]
fn deep_members_that_panic_drop_everything() {
    let quiet = harness::Quiet::new();
    owned::check_deep(3_000);
    drop(quiet);
}
