//! With `Options::quiet` members that panic print nothing. Everybody else's panics are as loud as before.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use autobatch::{BatchError, Executor, Options, Outcome, autobatch};

use crate::common::executors;

#[autobatch]
fn loop_that_panics(n: u64) -> u64 {
    let (mut k, mut sum) = (n, 0);
    while k > 0 {
        assert!(sum != 1006, "a member of the quiet tests: {n}");
        sum = sum * 10 + k;
        k -= if sum == 6 { 0 } else { 1 };
        if sum == 66 {
            sum = 1006;
        }
    }
    sum
}

#[autobatch]
fn recursion_that_panics(n: u64) -> u64 {
    match n {
        0 | 1 => 1,
        12 => panic!("a member of the quiet tests: {n}"),
        _ => recursion_that_panics(n - 1) + recursion_that_panics(n - 2),
    }
}

#[autobatch]
fn scalar_code_that_panics(n: u64) -> u64 {
    let text = n.to_string();
    let mut sum = 0;
    for digit in text.chars() {
        sum = sum * 3 + u64::from(digit.to_digit(10).expect("a digit"));
        assert!(sum != 5, "a member of the quiet tests: {n}");
    }
    sum
}

static HEARD: AtomicUsize = AtomicUsize::new(0);

/// How often the panic hook has been told of the tests of this file. One test at a time may ask.
fn heard() -> usize {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let ours = info.to_string().contains("a member of the quiet tests");
            if ours {
                HEARD.fetch_add(1, Ordering::SeqCst);
            } else {
                before(info);
            }
        }));
    });
    HEARD.load(Ordering::SeqCst)
}

#[test]
fn quiet_members_print_nothing_and_have_the_same_faults() {
    let n: Vec<u64> = (0..300).map(|i| i * 7 % 20).collect();
    type Batched = fn(&[u64], &Options) -> Result<Outcome<u64>, BatchError>;
    let programs: [(&str, Batched); 3] = [
        ("a loop", |n, options| loop_that_panics_batched_with(n, options)),
        ("a recursion", |n, options| recursion_that_panics_batched_with(n, options)),
        ("scalar code", |n, options| scalar_code_that_panics_batched_with(n, options)),
    ];
    for (program, batched) in programs {
        for (name, options) in executors() {
            for threads in [1, 3] {
                let how = format!("{program}, {name}, {threads} threads");
                let options = options.clone().threads(threads);
                let before = heard();
                let loud = batched(&n, &options).unwrap();
                let between = heard();
                assert!(between > before, "{how}: nothing was heard");
                let quiet = batched(&n, &options.clone().quiet(true)).unwrap();
                assert_eq!(heard(), between, "{how}");
                assert!(!loud.faults().is_empty(), "{how}");
                assert_eq!(quiet.faults(), loud.faults(), "{how}");
            }
        }
    }
    // The run is over.
    let before = heard();
    let caught = panic::catch_unwind(|| panic!("a member of the quiet tests: none"));
    assert!(caught.is_err() && heard() == before + 1);
    // A run inside of a quiet member decides for itself.
    #[autobatch]
    fn outer(n: u64) -> usize {
        let loud = Options::default().threads(1).executor(Executor::Scalar);
        let inner = recursion_that_panics_batched_with(&[n], &loud).unwrap();
        assert!(inner.faults().is_empty(), "a member of the quiet tests: {n}");
        inner.faults().len()
    }
    let before = heard();
    let outcome = outer_batched_with(&[12, 3], &Options::default().threads(1).quiet(true)).unwrap();
    assert_eq!((outcome.faults().len(), outcome.get(1)), (1, Some(&0)));
    assert_eq!(heard(), before + 1, "the inner member is heard, the outer one is not");
}
