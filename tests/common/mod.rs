//! The differential harness: the scalar function is the oracle, every executor has to agree with it bit
//! for bit, on several thread counts, lane counts, instruction sets and batch sizes.

#![allow(dead_code, unreachable_pub)] // each test file uses its part

pub mod promises;

use std::fmt::Debug;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use autobatch::{BatchError, CancelToken, Executor, Isa, Options, Outcome, Schedule};

/// Equality of bits: NaNs of the same bits are equal, the two zeros are not.
pub trait Bits: Debug {
    fn same(&self, other: &Self) -> bool;
}

macro_rules! bits_by_eq {
    ($($t:ty),*) => { $(impl Bits for $t { fn same(&self, other: &Self) -> bool { self == other } })* };
}
bits_by_eq!((), bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, String, &str);

impl Bits for f32 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Bits for f64 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl<T: Bits> Bits for Option<T> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(a), Some(b)) => a.same(b),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<T: Bits, E: Bits> Bits for Result<T, E> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Ok(a), Ok(b)) => a.same(b),
            (Err(a), Err(b)) => a.same(b),
            _ => false,
        }
    }
}

impl<T: Bits> Bits for Vec<T> {
    fn same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(a, b)| a.same(b))
    }
}

impl<T: Bits, const N: usize> Bits for [T; N] {
    fn same(&self, other: &Self) -> bool {
        self.iter().zip(other).all(|(a, b)| a.same(b))
    }
}

macro_rules! bits_of_tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Bits),*> Bits for ($($name,)*) {
            fn same(&self, other: &Self) -> bool { $(self.$index.same(&other.$index))&&* }
        }
    };
}
bits_of_tuples!(A 0);
bits_of_tuples!(A 0, B 1);
bits_of_tuples!(A 0, B 1, C 2);
bits_of_tuples!(A 0, B 1, C 2, D 3);

/// The batching executors with their schedules, and the others.
pub fn executors() -> Vec<(&'static str, Options)> {
    let base = Options::default;
    vec![
        ("masked", base().executor(Executor::Masked)),
        // Vector code that counts, as with limits.
        ("masked report", base().executor(Executor::Masked).report(true)),
        // The machine, where vector code runs the program otherwise.
        ("masked machine", base().executor(Executor::Masked).count_blocks(true)),
        ("pc most lanes", base().executor(Executor::ProgramCounter).schedule(Schedule::MostLanes)),
        (
            "pc earliest",
            base().executor(Executor::ProgramCounter).schedule(Schedule::EarliestBlock).report(true),
        ),
        ("scalar", base().executor(Executor::Scalar)),
        ("auto", base().executor(Executor::Auto)),
    ]
}

/// Compares functions that tell what they do, a member at a time: `told` takes what has been told.
#[track_caller]
pub fn tell_the_same<T: Debug, R: PartialEq + Debug, S: PartialEq + Debug>(
    inputs: &[T],
    told: impl Fn() -> S,
    scalar: impl Fn(&T) -> R,
    batched: impl Fn(&[T], &Options) -> Result<Outcome<R>, BatchError>,
) {
    for input in inputs {
        told();
        let expected = (vec![scalar(input)], told());
        for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Auto] {
            let options = Options::default().executor(executor).threads(1);
            let outcome = batched(std::slice::from_ref(input), &options).expect("one member");
            let values = outcome.into_values().expect("no faults");
            assert_eq!((values, told()), expected, "{input:?}, {executor:?}");
        }
    }
}

/// Under Miri and valgrind, which are slow, batches are small and ways to run them few.
fn each_instruction_is_checked() -> bool {
    cfg!(miri) || std::env::var_os("AUTOBATCH_CHECKED").is_some()
}

/// The combinations to run a batch of `members` in: every executor meets every instruction set, and every number of threads.
/// Batches of other sizes have other numbers of lanes and of threads with each.
fn combinations(members: usize) -> Vec<(String, Options)> {
    let isas = [("baseline", Isa::Baseline), ("avx2", Isa::Avx2), ("widest", Isa::Avx512)];
    let mut lane_counts = vec![None, Some(7), Some(64), Some(1000)];
    if members <= 1000 {
        // No vector code runs, which is slow.
        lane_counts.push(Some(1));
    }
    let mut all = Vec::new();
    for (e, (name, executor)) in executors().into_iter().enumerate() {
        for (i, (isa_name, isa)) in isas.into_iter().enumerate() {
            if each_instruction_is_checked() && i != e % 3 {
                continue;
            }
            let turn = e + i + members;
            let (threads, lanes) = match each_instruction_is_checked() {
                true => (1, Some(7)),
                false => (turn % 3 + 1, lane_counts[(turn + i) % lane_counts.len()]),
            };
            let mut options = executor.clone().threads(threads).isa(isa);
            if let Some(lanes) = lanes {
                options = options.lanes(lanes);
            }
            all.push((format!("{name}, {threads} threads, {lanes:?} lanes, {isa_name}"), options));
        }
    }
    all
}

/// Whether members run the scalar code where blocks are asked for: for reasons in the program's notes, or by rustc's answers about types.
pub fn is_per_member<I, R>(
    inputs: &[I],
    batched: impl Fn(&[I], &Options) -> Result<Outcome<R>, BatchError>,
) -> bool {
    let outcome = batched(inputs, &Options::default().executor(Executor::Masked)).expect("a batch");
    outcome.report().executor == Executor::Scalar
}

/// Compares `batched` with `scalar` on batches of 0, 1, some more and some thousand members, made by
/// going round the given inputs.
///
/// # Panics
///
/// At the first member whose result differs in a bit, naming the input and the way it was run.
pub fn agree<I, R>(
    inputs: &[I],
    scalar: impl Fn(&I) -> R,
    batched: impl Fn(&[I], &Options) -> Result<Outcome<R>, BatchError>,
) where
    I: Clone + Debug,
    R: Bits,
{
    agree_at(&[0, 1, 211, 1013], inputs, scalar, batched);
}

/// [`agree`] on batches of chosen sizes.
pub fn agree_at<I, R>(
    sizes: &[usize],
    inputs: &[I],
    scalar: impl Fn(&I) -> R,
    batched: impl Fn(&[I], &Options) -> Result<Outcome<R>, BatchError>,
) where
    I: Clone + Debug,
    R: Bits,
{
    let (inputs, sizes) = match each_instruction_is_checked() {
        true => (&inputs[..inputs.len().min(9)], &[9][..]),
        false => (inputs, sizes),
    };
    let expected: Vec<R> = inputs.iter().map(&scalar).collect();
    for &size in sizes {
        let batch: Vec<I> = inputs.iter().cycle().take(size).cloned().collect();
        for (how, options) in combinations(size) {
            let outcome = batched(&batch, &options).unwrap_or_else(|error| panic!("{how}: {error}"));
            assert_eq!(outcome.faults(), [], "{how}, {size} members");
            let values = outcome.into_values().expect("no faults");
            assert_eq!(values.len(), size, "{how}");
            for (member, value) in values.iter().enumerate() {
                let want = &expected[member % inputs.len()];
                assert!(
                    value.same(want),
                    "{how}, {size} members: member {member} with input {:?} is {value:?}, the scalar function says {want:?}",
                    batch[member]
                );
            }
        }
    }
}

/// Runs a batch that is cancelled as soon as so many members are done. Long after, it is cancelled in any case: a member that waits for ever
/// makes a test fail, and how long one waits is no part of it.
pub fn cancelled_after<R>(
    done: usize,
    options: &Options,
    batched: impl FnOnce(&Options) -> Outcome<R>,
) -> Outcome<R> {
    let token = CancelToken::new();
    let ender = token.clone();
    let options = options.clone().progress(move |progress| {
        if progress.done >= done {
            ender.cancel();
        }
    });
    cancelled_late(Duration::from_secs(300), token, &options, batched)
}

/// Runs a batch that is cancelled after some time, and then after more and more of it until so many members have results. For code that tells
/// only at the end of a tile how many those are.
pub fn cancelled_with_results<R>(
    results: usize,
    options: &Options,
    mut batched: impl FnMut(&Options) -> Outcome<R>,
) -> Outcome<R> {
    with_enough_time(results, |time| cancelled_late(time, CancelToken::new(), options, &mut batched))
}

/// The same with deadlines.
pub fn overdue_with_results<R>(
    results: usize,
    options: &Options,
    mut batched: impl FnMut(&Options) -> Outcome<R>,
) -> Outcome<R> {
    with_enough_time(results, |time| batched(&options.clone().deadline(time)))
}

/// The first of some runs, each of which has more time, in which so many members have results.
fn with_enough_time<R>(results: usize, mut run: impl FnMut(Duration) -> Outcome<R>) -> Outcome<R> {
    let mut time = Duration::from_millis(10);
    loop {
        let outcome = run(time);
        if time > Duration::from_secs(300) || outcome.len() - outcome.faults().len() >= results {
            return outcome;
        }
        time *= 4;
    }
}

/// Runs a batch that is cancelled after some time unless it ends before.
fn cancelled_late<R>(
    time: Duration,
    token: CancelToken,
    options: &Options,
    batched: impl FnOnce(&Options) -> Outcome<R>,
) -> Outcome<R> {
    let (at_last, (over, is_over)) = (token.clone(), mpsc::channel::<()>());
    let timer = thread::spawn(move || {
        if is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            at_last.cancel();
        }
    });
    let outcome = batched(&options.clone().cancel(&token));
    drop(over);
    timer.join().unwrap();
    outcome
}

/// One column of a batch of tuples.
pub fn column<I, T>(batch: &[I], pick: impl Fn(&I) -> T) -> Vec<T> {
    batch.iter().map(pick).collect()
}
