//! What tests of ownership share: a function is compared with its scalar one on 37 inputs, by its results, the states that members
//! change, or what each member did, in order.

// Macros and lists are as their users need them.
#![allow(clippy::ptr_arg, unused_imports, unused_macros)]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use super::{Bits, agree_at, executors};
use autobatch::{BatchError, Isa, Options, Outcome};

/// Compares a batched function with its scalar one on each of the inputs, a value per member.
macro_rules! agree {
    ($inputs:expr, $scalar:expr, $batched:expr) => {
        $crate::common::promises::hold(&$inputs, $scalar, $batched)
    };
}
pub(crate) use agree;

/// One test a promise.
macro_rules! promises {
    ($($promise:ident: $scalar:path, $batched:path, $inputs:expr;)*) => {
        $(#[test]
        fn $promise() {
            $crate::common::promises::agree!(
                $inputs,
                |input| $scalar(input.clone()),
                |batch, options| $batched(batch, options)
            );
        })*
    };
}
pub(crate) use promises;

/// The scalar function is the oracle. The inputs have to lead to results that differ, or a test could not fail.
#[track_caller]
pub(crate) fn hold<I, R>(
    inputs: &[I],
    scalar: fn(&I) -> R,
    batched: fn(&[I], &Options) -> Result<Outcome<R>, BatchError>,
) where
    I: Clone + Debug,
    R: Bits,
{
    assert_eq!(inputs.len(), 37);
    let expected: Vec<R> = inputs.iter().map(scalar).collect();
    let differing = (1..expected.len()).filter(|&at| !expected[at].same(&expected[at - 1])).count();
    assert!(differing > 8, "only {differing} of the results differ from their neighbours");
    agree_at(&[1, 211], inputs, scalar, batched);
}

/// Compares states that members change, and results. The function takes a state and a number.
macro_rules! states_agree {
    ($($promise:ident: $scalar:path, $batched:path, $states:expr;)*) => {
        $(#[test]
        fn $promise() {
            $crate::common::promises::hold_states(
                $states,
                |state, n| $scalar(state, n),
                |states, numbers, options| $batched(states, numbers, options),
            );
        })*
    };
}
pub(crate) use states_agree;

/// The states of a batch with their numbers.
pub(crate) type Stated<S, R> = fn(&mut [S], &[u64], &Options) -> Result<Outcome<R>, BatchError>;

#[track_caller]
pub(crate) fn hold_states<S: Bits + Clone, R: Bits>(
    states: Vec<S>,
    scalar: fn(&mut S, u64) -> R,
    batched: Stated<S, R>,
) {
    let numbers = numbers();
    assert_eq!(states.len(), numbers.len());
    // More than a few members, so that vectors have them.
    let members = if cfg!(miri) { numbers.len() } else { 211 };
    let numbers: Vec<u64> = numbers.into_iter().cycle().take(members).collect();
    let states: Vec<S> = states.into_iter().cycle().take(members).collect();
    let mut changed = states.clone();
    let expected: Vec<R> = changed.iter_mut().zip(&numbers).map(|(state, &n)| scalar(state, n)).collect();
    let differing = (1..expected.len()).filter(|&at| !expected[at].same(&expected[at - 1])).count();
    assert!(differing > 8, "only {differing} of the results differ from their neighbours");
    assert!(!changed.same(&states), "no state changes");
    for (name, options) in executors() {
        let ways = [
            (1, 64, Isa::Avx512),
            (1, 1, Isa::Baseline),
            (2, 7, Isa::Avx2),
            (3, 1000, Isa::Avx512),
            (1, 1000, Isa::Avx2),
        ];
        for (threads, lanes, isa) in ways {
            let how = format!("{name}, {threads} threads, {lanes} lanes, {isa:?}");
            let mut found = states.clone();
            let options = options.clone().threads(threads).lanes(lanes).isa(isa);
            let outcome =
                batched(&mut found, &numbers, &options).unwrap_or_else(|error| panic!("{how}: {error}"));
            let values = outcome.into_values().expect("no faults");
            for (member, value) in values.iter().enumerate() {
                let (want, state) = (&expected[member], &changed[member]);
                assert!(
                    value.same(want) && found[member].same(state),
                    "{how}: member {member} is {value:?}, {:?}, the scalar function says {want:?}, {state:?}",
                    found[member]
                );
            }
        }
    }
}

/// Compares what each member did, in order, and what became of it. The function takes a number and a log.
macro_rules! logs_agree {
    ($($promise:ident: $scalar:path, $batched:path, $panics:expr;)*) => {
        $(#[test]
        fn $promise() {
            $crate::common::promises::hold_logs(
                $scalar,
                |numbers, logs, options| $batched(numbers, logs, options),
                $panics,
            );
        })*
    };
}
pub(crate) use logs_agree;

/// The members of a batch with their logs.
pub(crate) type Logged<R> = fn(&[u64], &[Log], &Options) -> Result<Outcome<R>, BatchError>;

/// Compares results and logs. A member that panics drops all that it has, too, but in an order that is not promised.
#[track_caller]
pub(crate) fn hold_logs<R: Bits>(scalar: fn(u64, Log) -> R, batched: Logged<R>, panics: bool) {
    let numbers = numbers();
    let mut expected = Vec::new();
    for &n in &numbers {
        let log = Log::default();
        let result = catch_unwind(AssertUnwindSafe(|| scalar(n, log.clone()))).ok();
        expected.push((log.taken(result.is_none()), result));
    }
    let differing = (1..expected.len()).filter(|&at| expected[at].0 != expected[at - 1].0).count();
    assert!(differing > 8, "only {differing} of the logs differ from their neighbours");
    let faulty = expected.iter().filter(|(_, result)| result.is_none()).count();
    assert!(faulty < 30 && (faulty > 3) == panics, "{faulty} members panic");
    let members: Vec<u64> = numbers.iter().copied().cycle().take(111).collect();
    for (name, options) in executors() {
        for (threads, lanes) in [(1, 64), (1, 1), (2, 7), (3, 1000)] {
            let how = format!("{name}, {threads} threads, {lanes} lanes");
            let logs: Vec<Log> = members.iter().map(|_| Log::default()).collect();
            let options = options.clone().threads(threads).lanes(lanes);
            let outcome = batched(&members, &logs, &options).unwrap_or_else(|error| panic!("{how}: {error}"));
            let results = outcome.into_results().into_iter().map(Result::ok);
            for (member, result) in results.enumerate() {
                let (log, want) = &expected[member % numbers.len()];
                let n = members[member];
                assert!(
                    result.same(want),
                    "{how}: member {member} with input {n} is {result:?}, the scalar function says {want:?}"
                );
                let found = logs[member].taken(want.is_none());
                assert_eq!(&found, log, "{how}: the log of member {member} with input {n}");
            }
        }
    }
}

/// What a member did, in order. Its values share the log, and the test looks at it from outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u64>>>);

impl Log {
    pub(crate) fn note(&self, what: u64) -> u64 {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(what);
        what
    }

    /// A value that is noted when it is dropped.
    pub(crate) fn token(&self, id: u64) -> Token {
        Token { log: self.clone(), id }
    }

    pub(crate) fn taken(&self, sorted: bool) -> Vec<u64> {
        let mut all = std::mem::take(&mut *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        if sorted {
            all.sort_unstable();
        }
        all
    }
}

/// Is noted when it is dropped.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) log: Log,
    pub(crate) id: u64,
}

impl Token {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.log.note(1000 + self.id);
    }
}

/// Small numbers in no order.
pub(crate) fn numbers() -> Vec<u64> {
    (0..37).map(|i| i * i % 53 + i % 5 + 1).collect()
}

pub(crate) fn floats() -> Vec<f64> {
    (0..37).map(|i| f64::from(i * i % 41) * 0.37 - 3.1).collect()
}

/// Lists of different lengths, none empty.
pub(crate) fn lists() -> Vec<Vec<f64>> {
    let list = |i: u32| (0..1 + i * 7 % 11).map(|k| f64::from(i * i % 19 + k * 5 % 7) * 0.25 - 1.0).collect();
    (0..37).map(list).collect()
}

/// Words and numbers, separated by blanks.
pub(crate) fn texts() -> Vec<String> {
    const WORDS: [&str; 7] = ["ash", "beech", "12", "elm", "fir", "oak", "7"];
    let text = |i: usize| {
        let words: Vec<_> = (0..1 + i * 5 % 9).map(|k| WORDS[(i * 3 + k * k) % 7]).collect();
        words.join(" ")
    };
    (0..37).map(text).collect()
}

pub(crate) fn fives(text: &String) -> u64 {
    text.len() as u64 * 5 % 23
}

/// Owns numbers that borrows can be taken of, in itself and on the heap. A borrow that outlives it reads what is there
/// then; one of the numbers in it reads the place that it left, too.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) d: [f64; 8],
    pub(crate) heap: Vec<f64>,
}

impl Rows {
    pub(crate) fn of(n: u64) -> Self {
        let d = std::array::from_fn(|k| ((n as usize * 7 + k * k) % 61) as f64 * 0.5 + k as f64);
        Self { d, heap: d.to_vec() }
    }

    /// Ends it.
    pub(crate) fn spent(mut self) -> f64 {
        self.heap.reverse();
        self.heap.iter().zip(&self.d).fold(0.0, |sum, (a, b)| sum * 0.5 + a - b * 0.25)
    }
}

/// Lends from numbers of another.
pub(crate) struct View<'a> {
    pub(crate) of: &'a [f64],
    pub(crate) by: f64,
}

impl View<'_> {
    pub(crate) fn at(&self, k: u64) -> f64 {
        self.of[k as usize % self.of.len()] * self.by
    }
}
