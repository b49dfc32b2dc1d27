//! Recursive calls that the compiler can't take for calls count too: in the tokens of any macro, of functions as values, in closures and in
//! functions inside the body. Rust's own name resolution finds what counts.

#![allow(clippy::useless_vec, clippy::redundant_closure, clippy::useless_format)] // written as users write

use std::num::Wrapping;
use std::thread;

use autobatch::{Executor, FaultKind, Options, Outcome, autobatch};

use crate::common::executors;

macro_rules! one_more {
    ($call:expr) => {
        $call + 1
    };
}

/// Makes the call itself.
macro_rules! from_below {
    ($n:expr) => {
        one_more!(by_its_own_macro($n - 1))
    };
}

fn apply(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    f(n)
}

#[autobatch]
fn in_a_format(n: u64) -> u64 {
    if n == 0 { 0 } else { format!("{}", in_a_format(n - 1)).parse::<u64>().unwrap() + 1 }
}

#[autobatch]
fn in_an_assertion(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    assert!(in_an_assertion(n - 1) == n - 1);
    assert_eq!(vec![n; 1], [n]);
    n
}

#[autobatch]
fn in_a_list(n: u64) -> u64 {
    if n == 0 { 0 } else { vec![in_a_list(n - 1); 2][1] + 1 }
}

#[autobatch]
fn in_a_users_macro(n: u64) -> u64 {
    if n == 0 { 0 } else { one_more!(in_a_users_macro(n - 1)) }
}

#[autobatch]
fn by_its_own_macro(n: u64) -> u64 {
    if n == 0 { 0 } else { from_below!(n) }
}

#[autobatch]
fn as_a_value(n: u64) -> u64 {
    let g = as_a_value;
    if n == 0 { 0 } else { g(n - 1) + 1 }
}

#[autobatch]
fn as_a_pointer(n: u64) -> u64 {
    let g: fn(u64) -> u64 = as_a_pointer;
    if n == 0 { 0 } else { g(n - 1) + 1 }
}

#[autobatch]
fn as_an_argument(n: u64) -> u64 {
    if n == 0 { 0 } else { n.checked_sub(1).map(as_an_argument).unwrap().max(apply(as_an_argument, 0)) + 1 }
}

#[autobatch]
fn in_a_closure(n: u64) -> u64 {
    if n == 0 { 0 } else { apply(|n| in_a_closure(n), n - 1) + 1 }
}

#[autobatch]
fn in_an_item(n: u64) -> u64 {
    fn below(n: u64) -> u64 {
        in_an_item(n - 1)
    }
    if n == 0 { 0 } else { below(n) + 1 }
}

#[autobatch]
fn generic<T: Copy + Into<u64>, const ZERO: u64>(n: u64, end: T) -> u64 {
    if n == ZERO { end.into() } else { one_more!(generic::<T, ZERO>(n - 1, end)) }
}

#[autobatch]
fn with_a_state(n: u64, calls: &mut u64) -> u64 {
    *calls += 1;
    if n == 0 { 0 } else { one_more!(with_a_state(n - 1, calls)) }
}

#[autobatch]
fn with_owned_values(n: u64, text: String) -> String {
    if n == 0 { text } else { format!("{}", with_owned_values(n - 1, text)) }
}

#[autobatch]
mod mutual {
    pub(crate) fn even(n: u64) -> u64 {
        if n == 0 { 0 } else { one_more!(odd(n - 1)) }
    }
    fn odd(n: u64) -> u64 {
        let next = even;
        if n == 0 { 0 } else { next(n - 1) + 1 }
    }
}

struct Start(u64);

#[autobatch]
impl Start {
    pub(crate) fn method_in_a_format(&self, n: u64) -> u64 {
        if n == 0 {
            self.0
        } else {
            format!("{}", self.method_in_a_format(n - 1)).parse::<u64>().unwrap() + 1
        }
    }
    pub(crate) fn associated_as_a_value(n: u64) -> u64 {
        if n == 0 { 0 } else { n.checked_sub(1).map(Self::associated_as_a_value).unwrap() + 1 }
    }
}

/// A parameter, a local and an item of the name of the function.
#[autobatch]
fn hidden(hidden: u64) -> u64 {
    one_more!(hidden)
}

#[autobatch]
mod hiding {
    pub(crate) fn by_a_local(n: u64) -> u64 {
        let by_a_local = |n: u64| n * 2;
        if n == 0 { 0 } else { one_more!(by_a_local(n - 1)) }
    }
    pub(crate) fn by_an_item(n: u64) -> u64 {
        fn by_an_item(n: u64) -> u64 {
            n * 2
        }
        if n == 0 { 0 } else { one_more!(by_an_item(n - 1)) }
    }
}

type Batched<'a> = &'a dyn Fn(&[u64], &Options) -> Outcome<u64>;

/// Each function, with what it gives for `n`.
fn each(test: impl Fn(&str, &dyn Fn(u64) -> u64, Batched<'_>)) {
    macro_rules! each {
        ($($name:path, $batched:path;)*) => {
            $(test(stringify!($name), &|n| $name(n), &|n, o| $batched(n, o).unwrap());)*
        };
    }
    each! {
        in_a_format, in_a_format_batched_with;
        in_an_assertion, in_an_assertion_batched_with;
        in_a_list, in_a_list_batched_with;
        in_a_users_macro, in_a_users_macro_batched_with;
        by_its_own_macro, by_its_own_macro_batched_with;
        as_a_value, as_a_value_batched_with;
        as_a_pointer, as_a_pointer_batched_with;
        as_an_argument, as_an_argument_batched_with;
        in_a_closure, in_a_closure_batched_with;
        in_an_item, in_an_item_batched_with;
        mutual::even, mutual::even_batched_with;
        Start::associated_as_a_value, Start::associated_as_a_value_batched_with;
    }
    test("generic", &|n| generic::<u8, 0>(n, 0), &|n, o| {
        generic_batched_with::<u8, 0>(n, &vec![0; n.len()], o).unwrap()
    });
    test("with_a_state", &|n| with_a_state(n, &mut 0), &|n, o| {
        with_a_state_batched_with(n, &mut vec![0; n.len()], o).unwrap()
    });
    test("method_in_a_format", &|n| Start(0).method_in_a_format(n), &|n, o| {
        Start(0).method_in_a_format_batched_with(n, o).unwrap()
    });
}

#[test]
fn they_end_at_the_same_depth_in_every_executor() {
    let n = [0, 7, 3, 8, 40, 6, 7];
    each(|name, scalar, batched| {
        for (how, options) in executors() {
            let outcome = batched(&n, &options.max_depth(7));
            let results = outcome.into_results();
            for (n, result) in n.iter().zip(&results) {
                match result {
                    Ok(value) => assert_eq!((*value, *n <= 7), (scalar(*n), true), "{name}, {how}: {n}"),
                    Err(fault) => {
                        let found = (fault.kind, &*fault.message, *n > 7);
                        let wanted = (FaultKind::DepthExceeded, "more than 7 nested calls", true);
                        assert_eq!(found, wanted, "{name}, {how}: {n}");
                    }
                }
            }
        }
    });
}

#[test]
fn they_go_deep_on_a_small_stack() {
    let small = thread::Builder::new().stack_size(160 << 10);
    let test = || {
        for executor in [Executor::Scalar, Executor::Masked, Executor::Auto] {
            let options = Options::default().executor(executor).threads(1);
            each(|name, _, batched| {
                let values = batched(&[3, 4000, 0], &options).into_values().unwrap();
                assert_eq!(values, [3, 4000, 0], "{name}, {executor:?}");
            });
        }
    };
    small.spawn(test).unwrap().join().unwrap();
}

#[test]
fn states_and_owned_values_are_those_of_the_function() {
    for (how, options) in executors() {
        let (mut calls, mut wanted) = ([0, 5, 1], [0, 5, 1]);
        let values = with_a_state_batched_with(&[9, 0, 4], &mut calls, &options).unwrap().into_values();
        let scalar = [9, 0, 4].iter().zip(&mut wanted).map(|(n, calls)| with_a_state(*n, calls)).collect();
        assert_eq!((values, calls), (Ok(scalar), wanted), "{how}");
        let text = vec!["a".to_owned(), String::new()];
        let outcome = with_owned_values_batched_with(&[5, 0], text.clone(), &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), text, "{how}");
    }
}

#[test]
fn other_things_of_their_names_stay_what_they_are() {
    let n = [0, 1, 5];
    for (how, options) in executors() {
        let all = |outcome: Outcome<u64>| outcome.into_values().unwrap();
        assert_eq!(all(hidden_batched_with(&n, &options).unwrap()), n.map(hidden), "{how}");
        let found = all(hiding::by_a_local_batched_with(&n, &options).unwrap());
        assert_eq!(found, n.map(hiding::by_a_local), "{how}");
        let found = all(hiding::by_an_item_batched_with(&n, &options).unwrap());
        assert_eq!(found, n.map(hiding::by_an_item), "{how}");
    }
}

/// A total of a type that adds up in its own way, which lane code leaves to it.
#[autobatch]
fn in_a_total(n: u64) -> Wrapping<u64> {
    if n == 0 {
        return Wrapping(0);
    }
    let below: Wrapping<u64> = (0..1).map(|_| in_a_total(n - 1)).sum();
    below + Wrapping(1)
}

#[test]
fn totals_of_other_types_go_deep_on_a_small_stack() {
    let small = thread::Builder::new().stack_size(160 << 10);
    let test = || {
        for executor in [Executor::Scalar, Executor::Masked, Executor::ProgramCounter] {
            let options = Options::default().executor(executor).threads(1);
            let outcome = in_a_total_batched_with(&[3, 4000, 0], &options).unwrap();
            assert_eq!(outcome.into_values().unwrap(), [3, 4000, 0].map(Wrapping), "{executor:?}");
        }
    };
    small.spawn(test).unwrap().join().unwrap();
}

/// What no name of the function's own leads to runs as the function does, and as deep as its stack allows.
#[autobatch]
fn through_a_module(n: u64) -> u64 {
    if n == 0 { 0 } else { self::through_a_module(n - 1) + one_more!(0) }
}

#[test]
fn paths_through_modules_call_the_function_itself() {
    for (how, options) in executors() {
        let outcome = through_a_module_batched_with(&[3, 100, 0], &options.max_depth(5)).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [3, 100, 0], "{how}");
    }
}
