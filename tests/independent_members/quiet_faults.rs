//! A member that panics is told of once, by name. With `Options::quiet` members that panic print nothing. Everybody else's panics are as
//! loud as before.

use std::panic;
use std::process::Command;
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

/// A loop that runs for many members at once, until one of them panics.
#[autobatch]
fn interchanged_loop_that_panics(x: f64, ys: &[f64]) -> u64 {
    let mut sum = 0.0;
    for y in ys {
        sum += x * *y;
    }
    assert!(sum < 50.0, "a member of the quiet tests: {x}");
    sum as u64
}

/// A clone that panics while members are loaded.
#[derive(PartialEq, Debug)]
struct Fragile(u64);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(self.0 != 12, "a member of the quiet tests: {}", self.0);
        Fragile(self.0)
    }
}

#[autobatch]
fn clone_that_panics(n: Fragile) -> u64 {
    let mut k = n.0;
    while k > 5 {
        k -= 3;
    }
    k
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

type Batched = fn(&[u64], &Options) -> Result<Outcome<u64>, BatchError>;

/// Programs of each kind.
fn programs() -> [(&'static str, Batched); 5] {
    [
        ("a loop", |n, options| loop_that_panics_batched_with(n, options)),
        ("a recursion", |n, options| recursion_that_panics_batched_with(n, options)),
        ("scalar code", |n, options| scalar_code_that_panics_batched_with(n, options)),
        ("an interchanged loop", |n, options| {
            let x: Vec<f64> = n.iter().map(|n| *n as f64).collect();
            interchanged_loop_that_panics_batched_with(&x, &[1.0, 2.0, 0.5], options)
        }),
        ("a clone", |n, options| {
            let n: Vec<Fragile> = n.iter().map(|n| Fragile(*n)).collect();
            clone_that_panics_batched_with(&n, options)
        }),
    ]
}

fn numbers() -> Vec<u64> {
    (0..300).map(|i| i * 7 % 17).collect()
}

/// Hears how often the hook is told.
fn listen() {
    let n = numbers();
    for (program, batched) in programs() {
        for (name, options) in executors() {
            for threads in [1, 3] {
                let how = format!("{program}, {name}, {threads} threads");
                let options = options.clone().threads(threads);
                let before = heard();
                let loud = batched(&n, &options).unwrap();
                let between = heard();
                assert_eq!(between - before, loud.faults().len(), "{how}: each is heard once");
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

/// Says to a child what it is to do.
const CHILD: &str = "AUTOBATCH_QUIET_FAULTS";

/// Runs a child, whose hook nobody else has set before. What it says on standard error.
fn said_by_child(what: &str) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "quiet_faults::a_child", "--nocapture"])
        .env(CHILD, what)
        // Those are said in pieces.
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{said}");
    said
}

/// What the children do. Otherwise there is nothing to be done.
#[test]
fn a_child() {
    match std::env::var(CHILD).as_deref() {
        Ok("names") => name(),
        Ok("listens") => listen(),
        _ => {}
    }
}

/// Runs batches, and says who should be named.
fn name() {
    for (program, batched) in programs() {
        for (name, options) in executors() {
            eprintln!("batch of {program}, {name}");
            let outcome = batched(&numbers(), &options.threads(2)).unwrap();
            outcome.faults().iter().for_each(|fault| eprintln!("expected {fault}"));
        }
    }
}

#[test]
fn quiet_members_print_nothing_and_have_the_same_faults() {
    said_by_child("listens");
}

#[test]
fn each_faulty_member_is_named_once() {
    let said = said_by_child("names");
    let mut runs = 0;
    for run in said.split("batch of ").skip(1) {
        let of = |prefix: &str| {
            let mut lines: Vec<&str> = run.lines().filter_map(|line| line.strip_prefix(prefix)).collect();
            lines.sort_unstable();
            lines
        };
        let (how, named) = (run.lines().next(), of("autobatch: "));
        assert!(!named.is_empty(), "{how:?}");
        assert_eq!(named, of("expected "), "{how:?}");
        runs += 1;
    }
    assert_eq!(runs, programs().len() * executors().len());
}
