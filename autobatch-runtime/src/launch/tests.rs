use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rayon::ThreadPoolBuilder;

use super::run::{members, run, run_into};
use super::scalar::PIECE;
use super::ways::Vectors;
use super::*;
use crate::api::fault::{BatchError, FaultKind, message};
use crate::api::options::{CancelToken, Defaults, Executor, Options};
use crate::api::outcome::Outcome;
use crate::api::output::{Out, Output};
use crate::api::program::{Function, Group, Program};
use crate::machine::Core;
use crate::native_stack::depth::Depth;
use crate::storage::Store;
use crate::vector::Tile;

/// A program for the scalar executor.
pub(crate) const SCALAR: Program = Program {
    name: "f",
    functions: &[Function { name: "f", group: 0, recursive: false }],
    groups: &[Group { functions: &[0], ret: 0 }],
    whole_scalar: true,
    ..Program::EMPTY
};
static PROGRAM: Program = SCALAR;

/// No counted code.
type Uncounted<R> = fn(usize, Depth) -> R;

/// A program without vector code.
pub(crate) fn ways<S, T, R>(
    scalar: S,
    tile: T,
) -> Ways<S, Uncounted<R>, T, impl Fn(&mut Tile<'_>, &Out<'_, R>) + Sync> {
    let vector = |_: &mut Tile<'_>, _: &Out<'_, R>| unreachable!("the program has no vector code");
    Ways {
        scalar,
        counted: None,
        steps: false,
        machine: tile,
        vector,
        vector_lanes: 0,
        vectors: Vectors::None,
        wavefront: false,
        task_blocks: false,
        states: false,
    }
}

pub(crate) fn tile<R>(_: &mut Core<'_>, _: &Store, _: &Out<'_, R>) {
    unreachable!("the scalar executor has no tiles");
}

fn run_scalar<R: Send>(members: usize, options: &Options, f: impl Fn(usize) -> R + Sync) -> Outcome<R> {
    run(&PROGRAM, Defaults::NONE, options, &[("x", Some(members))], ways(|member, _| f(member), tile))
        .unwrap()
}

fn into(
    output: impl Output<usize>,
    members: usize,
    f: impl Fn(usize) -> usize + Sync,
) -> Result<(), BatchError> {
    run_into(&PROGRAM, Defaults::NONE, &[("x", Some(members))], ways(|member, _| f(member), tile), output)
}

#[test]
fn columns_have_one_length() {
    assert_eq!(members(&[("a", None), ("b", Some(3)), ("c", Some(3))], &Options::default()), Ok(3));
    let length = BatchError::Length { first: "b", expected: 3, parameter: "c", found: 4 };
    assert_eq!(members(&[("a", None), ("b", Some(3)), ("c", Some(4))], &Options::default()), Err(length));
    assert_eq!(members(&[("a", None)], &Options::default()), Err(BatchError::NoLength));
    assert_eq!(members(&[("a", Some(0))], &Options::default()), Ok(0));
}

#[test]
fn every_batch_size_and_thread_count() {
    for threads in [1, 2, 3, 8] {
        for members in [0, 1, 2, 97, 1000] {
            let outcome =
                run_scalar(members, &Options::default().threads(threads), |member| member.to_string());
            assert_eq!(outcome.report().members, members);
            assert_eq!(outcome.report().executor, Executor::Scalar);
            assert!(outcome.report().threads <= threads.min(members.max(1)));
            let want: Vec<String> = (0..members).map(|member| member.to_string()).collect();
            assert_eq!(outcome.into_values().unwrap(), want);
        }
    }
}

#[test]
fn one_thread_is_the_calling_one() {
    let here = std::thread::current().id();
    let threads = run_scalar(50, &Options::default().threads(1), |_| std::thread::current().id());
    assert!(threads.into_values().unwrap().iter().all(|id| *id == here));
}

#[test]
fn a_given_pool_does_the_work() {
    let pool = ThreadPoolBuilder::new().num_threads(2).thread_name(|i| format!("mine {i}")).build().unwrap();
    let name = |_| std::thread::current().name().unwrap_or("").to_owned();
    let outcome = run_scalar(50, &Options::default().pool(pool), name);
    assert_eq!(outcome.report().threads, 2);
    assert!(outcome.into_values().unwrap().iter().all(|name| name.starts_with("mine")));
}

#[test]
fn faults_are_per_member_and_ordered() {
    for threads in [1, 3] {
        let divide = |member: usize| {
            assert!(member != 70, "member seventy");
            100 / (member % 50)
        };
        let outcome = run_scalar(101, &Options::default().threads(threads), divide);
        let seen: Vec<(usize, FaultKind)> = outcome.faults().iter().map(|f| (f.member, f.kind)).collect();
        assert_eq!(seen, [0, 50, 70, 100].map(|member| (member, FaultKind::Panic)));
        assert_eq!(outcome.faults()[0].message, "attempt to divide by zero");
        assert_eq!(outcome.faults()[2].message, "member seventy");
        let results = outcome.into_results();
        assert_eq!((&results[1], &results[99]), (&Ok(100), &Ok(2)));
        assert_eq!(results[70].as_ref().unwrap_err().to_string(), "member 70: member seventy");
    }
}

#[test]
fn payloads_have_messages() {
    let outcome = run_scalar(3, &Options::default(), |member| match member {
        0 => panic!("text"),
        1 => panic!("text {member}"),
        _ => std::panic::panic_any(5),
    });
    let messages: Vec<&str> = outcome.faults().iter().map(|f| f.message.as_str()).collect();
    assert_eq!(messages, ["text", "text 1", "panicked"]);
    let _: Vec<()> = outcome.into_values().unwrap_or_default();
}

#[test]
fn cancelled_members_are_faults() {
    let token = CancelToken::new();
    let options = Options::default().threads(1).cancel(&token);
    let outcome = run_scalar(100, &options, |member| {
        if member == 40 {
            token.cancel()
        }
    });
    let cancelled: Vec<usize> = outcome.faults().iter().map(|f| f.member).collect();
    assert_eq!(cancelled, (41..100).collect::<Vec<_>>());
    assert!(outcome.faults().iter().all(|f| f.kind == FaultKind::Cancelled));
}

#[test]
fn progress_only_grows_and_reaches_the_total_once() {
    for threads in [1, 2] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let calls = Arc::clone(&seen);
        let options = Options::default().threads(threads).progress(move |p| {
            // Long enough for the other thread to overtake this one, if it may.
            std::thread::sleep(std::time::Duration::from_millis(1));
            calls.lock().unwrap().push((p.done, p.total))
        });
        let fail = |member| assert!(member != 7);
        run_scalar(1000, &options, fail);
        drop(options);
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|(_, total)| *total == 1000));
        assert!(seen.is_sorted_by(|(one, _), (next, _)| one < next), "{seen:?}");
        assert_eq!(seen.last(), Some(&(1000, 1000)));
        assert!((2..=101).contains(&seen.len()), "{} calls", seen.len());
    }
}

#[test]
fn results_into_the_callers_memory() {
    let mut values = [0; 5];
    into(&mut values, 5, |member| member * member).unwrap();
    assert_eq!(values, [0, 1, 4, 9, 16]);
    let error = into(&mut values[1..], 5, |member| member).unwrap_err();
    assert_eq!(error, BatchError::Output { expected: 5, found: 4 });
    let panic = catch_unwind(AssertUnwindSafe(|| into(&mut values, 5, |m| 12 / (m % 2)))).unwrap_err();
    assert_eq!(message(&*panic), "member 0: attempt to divide by zero");
    assert_eq!(values, [0, 12, 4, 12, 16], "faulty members keep their old values");
}

#[cfg(feature = "ndarray")]
#[test]
fn results_into_a_reversed_view() {
    let mut values = ndarray::Array1::zeros(6);
    into(values.slice_mut(ndarray::s![..;-2]), 3, |member| member + 1).unwrap();
    assert_eq!(values, ndarray::array![0, 3, 0, 2, 0, 1]);
}

#[test]
#[should_panic(expected = "all columns need one value per member")]
fn a_wrong_call_panics() {
    unwrap_unit(members(&[("a", Some(1)), ("b", Some(2))], &Options::default()).map(|_| ()));
}

#[test]
fn skewed_members_are_shared_out() {
    // One member waits until all others are done, which takes another thread that goes on without it.
    let options = Options::default().threads(2);
    let (done, started) = (AtomicUsize::new(0), AtomicBool::new(false));
    let f = |member: usize| {
        if member == 0 {
            started.store(true, Ordering::SeqCst);
            // The members that were taken together with this one wait with it.
            while done.load(Ordering::SeqCst) < 1000 - PIECE {
                std::thread::yield_now();
            }
        }
        done.fetch_add(1, Ordering::SeqCst);
    };
    assert!(run_scalar(1000, &options, f).faults().is_empty());
    assert!(started.into_inner());
}
