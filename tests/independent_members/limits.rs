//! The edges of a run: empty batches, wrong lengths, cancelled runs, pools, progress, and deep recursion with values that own
//! memory.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use crate::common::executors;
use autobatch::{
    BatchError, CancelToken, Executor, FaultKind, Isa, Options, Ragged, Schedule, autobatch, same,
};

/// The batching executors, one and two threads.
fn batching() -> Vec<(String, Options)> {
    let mut all = Vec::new();
    for (how, options) in executors() {
        for threads in [1, 2] {
            if how.starts_with("masked") || how.starts_with("pc") {
                all.push((format!("{how}, {threads} threads"), options.clone().threads(threads)));
            }
        }
    }
    all
}

#[autobatch(strict)]
fn triangle(n: u64, step: u64, rows: &[u64]) -> u64 {
    if n < step { rows[0] } else { n + triangle(n - step, step, rows) }
}

#[autobatch(strict)]
fn count(#[each] words: &[u8], times: u32, seen: &mut u32) -> usize {
    let mut i = 0;
    while i < times {
        *seen += 1;
        i += 1;
    }
    words.len()
}

#[test]
fn an_empty_batch_gives_an_empty_result() {
    for (how, options) in executors() {
        for report in [false, true] {
            let none: [u64; 0] = [];
            let outcome =
                triangle_batched_with(&none, same(1), &[1], &options.clone().report(report)).unwrap();
            assert!(outcome.faults().is_empty(), "{how}");
            assert_eq!(outcome.into_values().unwrap(), none, "{how}");
        }
    }
    triangle_batched_into(&[], &[], &[1], &mut []);
    assert_eq!(triangle_batched(vec![], vec![], &[]), []);
}

#[test]
fn wrong_lengths_name_the_parameter_and_both_lengths() {
    let options = Options::default();
    let length = |first, expected, parameter, found| BatchError::Length { first, expected, parameter, found };
    let error = triangle_batched_with(&[1, 2, 3], vec![1], &[1], &options).unwrap_err();
    assert_eq!(error, length("n", 3, "step", 1));
    let error = triangle_batched_with(&[], &[1, 2], &[1], &options).unwrap_err();
    assert_eq!(error, length("n", 0, "step", 2));
    let words = [vec![1], vec![2, 3]];
    let error = count_batched_with(&words, same(1), &mut [0; 3], &options).unwrap_err();
    assert_eq!(error, length("words", 2, "seen", 3));
    let values = [1, 2, 3];
    let ragged = Ragged::new(&values, &[0, 1, 3]);
    let mut seen = [0; 2];
    let error = count_batched_with(ragged, &[1; 5], &mut seen, &options).unwrap_err();
    assert_eq!(error, length("words", 2, "times", 5));
    assert_eq!(seen, [0; 2], "nothing ran");
    let found = count_batched_with(ragged, &[2, 5], &mut seen, &options).unwrap().into_values().unwrap();
    assert_eq!((found, seen), (vec![1, 2], [2, 5]));
}

#[test]
fn the_plain_call_panics_with_what_is_wrong() {
    let payload = catch_unwind(|| triangle_batched(&[1, 2], &[1, 1, 1], &[1])).unwrap_err();
    let message = payload.downcast_ref::<String>().expect("a message");
    assert!(message.contains("`step` has 3") && message.contains("`n` has 2"), "{message}");
    let payload = catch_unwind(|| triangle_batched(same(1), same(1), &[1])).unwrap_err();
    assert!(payload.downcast_ref::<String>().expect("a message").contains("same("));
}

#[test]
fn a_token_cancelled_before_the_run_ends_every_member() {
    let token = CancelToken::new();
    token.cancel();
    for (how, options) in batching() {
        let n: Vec<u64> = (0..500).map(|i| 2000 + i).collect();
        let outcome = triangle_batched_with(&n, same(1), &[1], &options.cancel(&token)).unwrap();
        assert!(outcome.faults().iter().all(|f| f.kind == FaultKind::Cancelled), "{how}");
        let faults = outcome.faults().len();
        assert!(faults > 0, "{how}");
        for (n, result) in n.iter().zip(outcome.into_results()) {
            if let Ok(value) = result {
                assert_eq!(value, n * (n + 1) / 2 + 1, "{how}");
            }
        }
    }
}

#[test]
fn the_callers_pool_and_progress() {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap());
    let n: Vec<u64> = (0..3001).map(|i| i % 40).collect();
    let want: Vec<u64> = n.iter().map(|n| triangle(*n, 1, &[1])).collect();
    for (how, options) in executors() {
        let (largest, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (to_largest, to_calls) = (Arc::clone(&largest), Arc::clone(&calls));
        let options = options.pool(Arc::clone(&pool)).progress(move |p| {
            assert!(p.done <= p.total && p.total == 3001);
            to_largest.fetch_max(p.done, Ordering::Relaxed);
            to_calls.fetch_add(1, Ordering::Relaxed);
        });
        let outcome = triangle_batched_with(&n, same(1), &[1], &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), want, "{how}");
        assert!(calls.load(Ordering::Relaxed) > 0, "{how}");
        assert_eq!(largest.load(Ordering::Relaxed), 3001, "{how}");
        // From inside a task of the same pool.
        let outcome = pool.install(|| triangle_batched_with(&n, same(1), &[1], &options)).unwrap();
        assert_eq!(outcome.into_values().unwrap(), want, "{how}, inside the pool");
    }
}

/// What a service has: its options, in a struct that lives as long as it does.
struct Service {
    options: Options,
    done: Arc<AtomicUsize>,
}

#[test]
fn options_are_a_field() {
    fn owned<T: Clone + Send + Sync + 'static>(_: &T) {}
    let done = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&done);
    let options = Options::default().progress(move |p| _ = counted.fetch_max(p.done, Ordering::Relaxed));
    let service = Service { options, done };
    owned(&service.options);
    let n: Vec<u64> = (0..100).collect();
    let outcome = std::thread::spawn(move || {
        let outcome = triangle_batched_with(&n, same(1), &[1], &service.options).unwrap();
        (outcome.into_values().unwrap(), service.done.load(Ordering::Relaxed))
    });
    let (values, done) = outcome.join().unwrap();
    assert_eq!(values, (0..100).map(|n| triangle(n, 1, &[1])).collect::<Vec<_>>());
    assert_eq!(done, 100);
}

#[test]
fn options_of_every_size() {
    let n: Vec<u64> = (0..130).collect();
    let want: Vec<u64> = n.iter().map(|n| triangle(*n, 3, &[2])).collect();
    for (how, options) in executors() {
        for lanes in [1, 2, 3, 63, 65, 256, 1 << 20] {
            for refill in [true, false] {
                for threads in [1, 5] {
                    let options = options.clone().lanes(lanes).refill(refill).threads(threads);
                    let outcome = triangle_batched_with(&n, same(3), &[2], &options).unwrap();
                    assert_eq!(
                        outcome.into_values().unwrap(),
                        want,
                        "{how}, {lanes} lanes, {threads} threads"
                    );
                }
            }
        }
    }
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

#[derive(Debug)]
struct Held(String);

impl Held {
    fn new(n: u32) -> Held {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Held(format!("number {n}"))
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Held(self.0.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Values held across every call, some of them in a vector that a loop empties; panics for some members.
#[autobatch]
fn holding(x: Held, n: u32, log: &mut Vec<Held>) -> Result<Held, Held> {
    let mine = Held::new(n);
    if n == 0 {
        return Ok(x);
    }
    assert!(n != 2 || !x.0.ends_with("13"), "thirteen");
    if n == 2 && x.0.ends_with('7') {
        return Err(mine);
    }
    log.push(mine.clone());
    let mut last = x;
    let mut items = vec![Some(mine.clone()), None, Some(mine)];
    while let Some(item) = items.pop() {
        let Some(item) = item else { continue };
        let below = holding(last.clone(), n / 2, log)?;
        last = if below.0.len() > item.0.len() { item } else { below };
    }
    holding(last, n - 1, log)
}

#[test]
fn values_across_calls_are_dropped_once() {
    for (how, options) in executors() {
        for (lanes, depth) in [(5, 1000), (64, 1000), (5, 4), (64, 2)] {
            let options = options.clone().lanes(lanes).max_depth(depth);
            let x: Vec<Held> = (0..40).map(Held::new).collect();
            let n: Vec<u32> = (0..40).map(|i| i % 8).collect();
            let mut logs: Vec<Vec<Held>> = (0..40).map(|_| Vec::new()).collect();
            let outcome = holding_batched_with(&x, &n, &mut logs, &options).unwrap();
            for fault in outcome.faults() {
                let kind = fault.kind;
                assert!(kind == FaultKind::Panic || depth < 10 && kind == FaultKind::DepthExceeded, "{how}");
            }
            assert!(outcome.faults().iter().any(|f| f.message == "thirteen"), "{how}");
            drop((outcome, logs, x));
            assert_eq!(ALIVE.load(Ordering::SeqCst), 0, "{how}, {lanes} lanes, depth {depth}");
        }
    }
}

#[autobatch(strict)]
mod deep {
    pub(crate) fn down(n: u32, text: String) -> usize {
        if n == 0 { text.len() } else { 1 + over(n - 1, text) }
    }
    fn over(n: u32, text: String) -> usize {
        let kept = text.clone();
        let below = down(n.saturating_sub(1), text);
        below + kept.len() / 100
    }
}

#[test]
fn owned_values_are_as_deep_as_numbers() {
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor);
        let n = [200_000, 1, 0, 6];
        let outcome = deep::down_batched_with(&n, same("abc".to_owned()), &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [100_003, 4, 3, 6]);
        let limited = options.max_depth(999);
        let outcome = deep::down_batched_with(&n, same("abc".to_owned()), &limited).unwrap();
        let results = outcome.into_results();
        assert_eq!(results[0].as_ref().unwrap_err().kind, FaultKind::DepthExceeded, "{executor:?}");
        assert_eq!(results[1..], [Ok(4), Ok(3), Ok(6)], "{executor:?}");
    }
}

#[autobatch(strict)]
fn endless(n: u32, x: u32) -> u32 {
    if n == 5 {
        endless(n, x + 1)
    } else if n == 6 {
        1 + endless(n, x)
    } else {
        n + x
    }
}

#[test]
fn endless_recursion_ends_by_steps_or_by_depth() {
    let n: Vec<u32> = (0..30).collect();
    for schedule in [Schedule::EarliestBlock, Schedule::MostLanes] {
        for executor in [Executor::Masked, Executor::ProgramCounter] {
            let options = Options::default().executor(executor).schedule(schedule);
            let options = options.max_steps(50_000).max_depth(1000);
            let outcome = endless_batched_with(&n, same(0), &options).unwrap();
            let kinds: Vec<_> = outcome.faults().iter().map(|f| (f.member, f.kind)).collect();
            assert_eq!(
                kinds,
                [(5, FaultKind::StepsExceeded), (6, FaultKind::DepthExceeded)],
                "{executor:?}, {schedule:?}"
            );
        }
    }
}

/// `Auto` measures on the batch, on stacks that hold what it runs.
#[test]
fn depth_is_data_under_auto_too() {
    let few = [0, 200_000, 3];
    assert_eq!(triangle_batched(&few, same(1), &[0]), [0, 20_000_100_000, 6]);
    let many: Vec<u64> = (0..2000).map(|i| if i % 500 == 0 { 100_000 } else { i % 7 }).collect();
    let sums = triangle_batched(&many, same(1), &[0]);
    for (n, sum) in many.iter().zip(sums) {
        assert_eq!(sum, n * (n + 1) / 2);
    }
}

/// The widest instruction set of the CPU is what a run without a ceiling reports, and a ceiling is kept.
#[test]
fn the_instruction_set_is_capped() {
    let rank = |isa| [Isa::Avx2, Isa::Avx512].iter().position(|i| *i == isa).map_or(0, |i| i + 1);
    let options = Options::default().executor(Executor::Masked);
    let run = |options: &Options| triangle_batched_with(&[5; 40], same(1), &[0], options).unwrap();
    assert_eq!(run(&options).report().isa, Isa::detect());
    for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
        let used = run(&options.clone().isa(isa)).report().isa;
        assert_eq!(rank(used), rank(isa).min(rank(Isa::detect())), "{used:?} under {isa:?}");
    }
}
