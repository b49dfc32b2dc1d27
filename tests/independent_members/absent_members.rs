//! Members that are absent run nothing, take no lanes, and leave states and outputs as they are.

#![allow(clippy::manual_is_multiple_of)] // vector code knows the operator

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{agree_at, executors};
use autobatch::{BatchError, Engine, Executor, Isa, Options, Outcome, autobatch, same, with_options};

const SIZES: [usize; 4] = [0, 1, 211, 4003];

/// The batch with absent members between, which would never end or panic; and who runs.
fn with_absent<T: Copy>(batch: &[T], absent: T) -> (Vec<T>, Vec<bool>) {
    let (mut all, mut runs) = (Vec::new(), Vec::new());
    for (nth, member) in batch.iter().enumerate() {
        // Runs of neighbours of several lengths, and at most two absent ones between.
        let before = if nth % 97 < 40 { 0 } else { nth * nth % 3 };
        all.extend(std::iter::repeat_n(absent, before));
        runs.extend(std::iter::repeat_n(false, before));
        all.push(*member);
        runs.push(true);
    }
    all.push(absent);
    runs.push(false);
    (all, runs)
}

fn unzip<A: Copy, B: Copy>(batch: &[(A, B)]) -> (Vec<A>, Vec<B>) {
    batch.iter().copied().unzip()
}

#[autobatch(strict)]
fn collatz(mut n: u64, scale: u64) -> u64 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps + 1000 / scale
}

/// Calls that don't need each other's results.
#[autobatch(strict)]
fn leaves(n: u32, scale: u32) -> u32 {
    if n < 2 { 1000 / scale } else { leaves(n - 1, scale) ^ leaves(n - 2, scale).rotate_left(3) }
}

/// One call needs the other's result.
#[autobatch(strict)]
fn nested(n: u32, scale: u32) -> u32 {
    if n > 100 { n - 10 / scale } else { nested(nested(n + 11, scale), scale) }
}

#[autobatch(strict)]
fn spell(n: u32, mut text: String) -> String {
    assert!(!text.is_empty(), "a text");
    let mut i = 0;
    while i < n {
        text.push(char::from(b'a' + (i % 26) as u8));
        i += 1;
    }
    text
}

/// It is not cut into blocks.
#[autobatch]
fn stored(n: u64, scale: u64) -> u64 {
    let step: Box<dyn Fn(u64) -> u64> = Box::new(move |n| n * 3 / scale);
    step(n) + step(n + 1)
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

#[autobatch::primitive(batched = halves)]
fn half(x: f64) -> f64 {
    assert!(x.is_finite(), "of absent members nothing is computed");
    x / 2.0
}

fn halves(x: &[f64]) -> Vec<f64> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    x.iter().map(|x| half(*x)).collect()
}

#[autobatch]
fn halvings(mut x: f64) -> u32 {
    let mut n = 0;
    while x > 1.0 {
        x = half(x);
        n += 1;
    }
    n
}

/// On fibers.
#[autobatch]
fn halvings_apart(x: f64) -> u32 {
    let step: Box<dyn Fn(f64) -> f64> = Box::new(half);
    let (mut x, mut n) = (x, 0);
    while x > 1.0 {
        x = step(x);
        n += 1;
    }
    n
}

#[autobatch(strict)]
fn draw(seed: &mut u64, n: u32) -> u64 {
    let mut sum = 0_u64;
    for _ in 0..n {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        sum = sum.wrapping_add(*seed >> 33);
    }
    assert!(n < 1000, "too many");
    sum
}

#[autobatch(strict)]
fn longest(#[each] text: &str, limit: usize) -> usize {
    let mut longest = 0;
    for word in text.split(' ') {
        longest = longest.max(word.len());
    }
    assert!(longest < limit, "a long word");
    longest
}

#[test]
fn numbers_in_loops() {
    let inputs: Vec<(u64, u64)> = (1..60).map(|n| (n * n, n % 7 + 1)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, scale)| collatz(*n, *scale),
        |batch, options| {
            let (all, runs) = with_absent(batch, (0, 0));
            let (n, scale) = unzip(&all);
            collatz_batched_with(&n, &scale, &options.clone().only(runs))
        },
    );
}

#[test]
fn numbers_in_recursion() {
    let inputs: Vec<(u32, u32)> = (1..40).map(|n| (n % 13, n % 7 + 1)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, scale)| leaves(*n, *scale),
        |batch, options| {
            let (all, runs) = with_absent(batch, (3, 0));
            let (n, scale) = unzip(&all);
            leaves_batched_with(&n, &scale, &options.clone().only(runs))
        },
    );
    let inputs: Vec<(u32, u32)> = (0..40).map(|n| (n * 3, 1)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, scale)| nested(*n, *scale),
        |batch, options| {
            let (all, runs) = with_absent(batch, (7, 0));
            let (n, scale) = unzip(&all);
            nested_batched_with(&n, &scale, &options.clone().only(runs))
        },
    );
}

#[test]
fn values_of_any_type_and_scalar_code() {
    let inputs: Vec<(u32, &str)> = (0..20).map(|n| (n, ["7", "8", "x"][n as usize % 3])).collect();
    agree_at(
        &[0, 1, 211],
        &inputs,
        |(n, text)| spell(*n, (*text).to_owned()),
        |batch, options| {
            let (all, runs) = with_absent(batch, (u32::MAX, ""));
            let (n, text) = unzip(&all);
            // Texts of absent members are dropped, like those that are moved.
            let text: Vec<String> = text.into_iter().map(str::to_owned).collect();
            spell_batched_with(&n, text, &options.clone().only(runs))
        },
    );
    let inputs: Vec<(u64, u64)> = (0..20).map(|n| (n, n % 4 + 1)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(n, scale)| stored(*n, *scale),
        |batch, options| {
            let (all, runs) = with_absent(batch, (5, 0));
            let (n, scale) = unzip(&all);
            stored_batched_with(&n, &scale, &options.clone().only(runs))
        },
    );
}

#[test]
fn primitives_in_blocks_and_on_fibers() {
    let inputs: Vec<f64> = (0..30).map(|n| 0.3 * f64::from(n * n)).collect();
    for is_apart in [false, true] {
        agree_at(
            &[0, 1, 211],
            &inputs,
            |x| halvings(*x),
            |batch, options| {
                let (all, runs) = with_absent(batch, f64::INFINITY);
                let options = options.clone().only(runs);
                match is_apart {
                    true => halvings_apart_batched_with(&all, &options),
                    false => halvings_batched_with(&all, &options),
                }
            },
        );
    }
}

#[test]
fn borrowed_members() {
    let inputs = ["a", "", "three words here", "x y"];
    agree_at(
        &SIZES,
        &inputs,
        |text| longest(text, 9),
        |batch, options| {
            let (all, runs) = with_absent(batch, "incomprehensible");
            longest_batched_with(&all, same(9), &options.clone().only(runs))
        },
    );
}

#[test]
fn states_and_places_of_absent_members_stay_as_they_are() {
    let n: Vec<u32> = (0..300).map(|n| if n % 3 == 1 { 5000 } else { n % 17 }).collect();
    let runs: Vec<bool> = n.iter().map(|n| *n < 1000).collect();
    let mut expected_seeds: Vec<u64> = (0..300).collect();
    let mut expected = vec![77; 300];
    for member in (0..300).filter(|member| runs[*member]) {
        expected[member] = draw(&mut expected_seeds[member], n[member]);
    }
    for (how, options) in executors() {
        let options = options.only(&runs);
        let mut seeds: Vec<u64> = (0..300).collect();
        let outcome = draw_batched_with(&mut seeds, &n, &options).unwrap();
        assert_eq!((outcome.len(), outcome.faults().len(), &seeds), (300, 0, &expected_seeds), "{how}");
        assert_eq!(outcome.iter().len(), 200, "{how}");
        assert_eq!(outcome.get(1), None, "{how}");
        assert_eq!(outcome.into_values_or(77), expected, "{how}");

        let mut seeds: Vec<u64> = (0..300).collect();
        let mut out = vec![77; 300];
        draw_batched_into(&mut seeds, &n, with_options(&mut out, &options));
        assert_eq!((seeds, out), (expected_seeds.clone(), expected.clone()), "{how}");

        let (collatz_n, scale): (Vec<u64>, Vec<u64>) =
            runs.iter().zip(1..).map(|(runs, n)| if *runs { (n, n) } else { (0, 0) }).unzip();
        let mut out = ndarray::Array1::from_elem(600, 9);
        let every_second = out.slice_mut(ndarray::s![..;2]);
        collatz_batched_into(&collatz_n, &scale, with_options(every_second, &options));
        for (member, n) in collatz_n.iter().enumerate() {
            let expected = if runs[member] { collatz(*n, scale[member]) } else { 9 };
            assert_eq!((out[2 * member], out[2 * member + 1]), (expected, 9), "{how}, {member}");
        }
    }
}

#[test]
fn faults_name_places_in_the_columns_counted_from_the_first_member() {
    for (how, options) in executors() {
        let options = options.quiet(true).only((0..200).map(|n| n % 10 != 9)).first_member(1 << 40);
        let scale: Vec<u32> = (0..200).map(|n| if n % 10 >= 8 { 0 } else { 1 }).collect();
        let outcome = leaves_batched_with(&[5; 200], &scale, &options).unwrap();
        let members: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
        let expected: Vec<usize> = (0..200).filter(|n| n % 10 == 8).map(|n| n + (1 << 40)).collect();
        assert_eq!(members, expected, "{how}");
        let faulty: Vec<bool> = outcome.iter().map(|result| result.is_err()).collect();
        let expected: Vec<bool> = (0..200).filter(|n| n % 10 != 9).map(|n| n % 10 == 8).collect();
        assert_eq!(faulty, expected, "{how}");
        let results = outcome.into_results();
        assert_eq!((results.len(), results[0].as_ref().ok()), (180, Some(&leaves(5, 1))), "{how}");
    }
}

#[test]
fn limits_and_recordings_count_members_that_run() {
    let (n, runs): (Vec<u64>, Vec<bool>) =
        (1..3000).map(|n| if n % 4 == 0 { (0, n % 8 == 0) } else { (n, true) }).unzip();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let base = Options::default().executor(executor).max_steps(20_000).only(&runs);
        for options in [base.clone(), base.clone().report(true), base.threads(1).trace(9)] {
            let outcome = collatz_batched_with(&n, same(1), &options).unwrap();
            let late: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
            assert_eq!(late, (1..3000).filter(|n| n % 8 == 0).map(|n| n - 1).collect::<Vec<_>>());
            for (member, n) in n.iter().enumerate().filter(|(_, n)| **n > 0) {
                assert_eq!(outcome.get(member), Some(&collatz(*n, 1)));
            }
            if let Some(trace) = outcome.trace() {
                assert!(trace.members.iter().all(|member| runs[*member]), "{:?}", trace.members);
            }
        }
    }
}

#[test]
fn all_or_none_may_be_absent_and_the_number_has_to_fit() {
    for (how, options) in executors() {
        let none = collatz_batched_with(&[0; 50], &[0; 50], &options.clone().only([false; 50])).unwrap();
        assert_eq!((none.len(), none.get(0), none.iter().len()), (50, None, 0), "{how}");
        assert_eq!(none.into_values().unwrap(), [], "{how}");
        let all = collatz_batched_with(&[27; 50], &[1; 50], &options.clone().only([true; 50])).unwrap();
        assert_eq!(all.into_values().unwrap(), [collatz(27, 1); 50], "{how}");
        let error = collatz_batched_with(&[27; 50], &[1; 50], &options.clone().only([true; 49])).unwrap_err();
        let expected = BatchError::Length { first: "n", expected: 50, parameter: "only", found: 49 };
        assert_eq!(error, expected, "{how}");
    }
}

/// The engines that the tests above are meant to reach.
#[test]
fn every_engine_leaves_absent_members_out() {
    let runs: Vec<bool> = (0..900).map(|n| n % 5 != 3).collect();
    let pick = |there: u32| runs.iter().map(|runs| if *runs { there } else { 0 }).collect::<Vec<u32>>();
    let wide = |column: Vec<u32>| column.into_iter().map(u64::from).collect::<Vec<u64>>();
    let options = |executor| Options::default().executor(executor).isa(Isa::Avx2).only(&runs);
    let (masked, counters) = (options(Executor::Masked), options(Executor::ProgramCounter));
    let mut engines = Vec::new();
    fn engine<R>(outcome: Result<Outcome<R>, BatchError>) -> Engine {
        let outcome = outcome.unwrap();
        assert_eq!((outcome.len(), outcome.iter().flatten().count()), (900, 720));
        outcome.report().engine
    }
    engines.push(engine(collatz_batched_with(wide(pick(27)), wide(pick(1)), &masked)));
    engines.push(engine(collatz_batched_with(
        wide(pick(27)),
        wide(pick(1)),
        &masked.clone().count_blocks(true),
    )));
    engines.push(engine(leaves_batched_with(pick(7), pick(1), &masked)));
    engines.push(engine(nested_batched_with(pick(50), pick(1), &counters)));
    engines.push(engine(stored_batched_with(wide(pick(50)), wide(pick(1)), &masked)));
    let x: Vec<f64> = runs.iter().map(|runs| if *runs { 9.0 } else { f64::NAN }).collect();
    engines.push(engine(halvings_apart_batched_with(&x, &masked)));
    let expected = match Isa::detect() {
        Isa::Baseline => return,
        _ => [
            Engine::VectorFrames,
            Engine::Machine,
            Engine::TaskBlocks,
            Engine::Wavefront,
            Engine::Scalar,
            Engine::Fibers,
        ],
    };
    assert_eq!(engines, expected);
}
