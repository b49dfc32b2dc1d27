//! A function without blocks runs its scalar code for each member: same results, and `program()` says where and why.
//! (`tests/diagnostics/ui/strict_*.rs` has the same places as errors.)

#![allow(clippy::useless_vec, clippy::needless_borrows_for_generic_args)] // written as users write

use crate::common::{agree_at, is_per_member};
use autobatch::{Program, autobatch};

fn in_turn(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    [n / 2, n / 3].into_iter().map(&f).sum()
}

#[autobatch]
fn handed_on(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    in_turn(|i| handed_on(i) * 3, n)
}

macro_rules! both {
    ($a:expr, $b:expr) => {
        $a + $b
    };
}

#[autobatch]
fn in_a_macro(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    both!(in_a_macro(n - 1), in_a_macro(n / 2)) + in_a_macro(n / 3)
}

/// What it yields depends on its rules.
macro_rules! part {
    ($x:expr) => {
        &$x
    };
    ($x:expr, $k:expr) => {
        &$x[$k..]
    };
}

#[autobatch]
fn lent_by_a_macro(n: u32) -> u32 {
    let values = vec![n, 7, 9];
    let part = part!(values, 1);
    let mut i = 0;
    while i < n {
        i += part[0];
    }
    i + values[2]
}

#[autobatch]
fn as_a_value(n: u64) -> u64 {
    if n == 0 { 0 } else { 1 + in_turn(as_a_value, n) }
}

#[autobatch]
mod borrowed {
    pub(crate) fn longest(words: &[&str], n: usize) -> usize {
        let own = format!("{n}{n}");
        if n < 2 { own.len() } else { longer(words, &own, n).len() + longest(words, n / 2) }
    }
    fn longer<'a>(words: &[&'a str], own: &'a str, n: usize) -> &'a str {
        let mut best = own;
        let mut i = 0;
        while i < words.len().min(n) {
            if words[i].len() > best.len() {
                best = words[i];
            }
            i += 1;
        }
        best
    }
}

#[autobatch]
mod borrowed_closure {
    pub(crate) fn entry(n: u64) -> u64 {
        let scale = n + 1;
        let plain = if n > 2 { applied(&|x| x + 2, n) } else { 1 };
        if n == 0 { plain } else { applied(&|x| x * scale, n) + entry(n - 1) + plain }
    }

    fn applied(f: &dyn Fn(u64) -> u64, mut n: u64) -> u64 {
        while n > 3 {
            n = f(n) / 5;
        }
        n
    }
}

/// The macro does not know that `repeat` only reads.
#[autobatch]
fn crossing_borrow(n: u32) -> u32 {
    let mut values = vec![n, 7];
    let first = &values[0];
    let mut i = 0;
    while i < n {
        i += *first + values.repeat(2).len() as u32;
    }
    values.push(i);
    values.into_iter().sum()
}

#[autobatch]
fn crossing_closure(n: u32) -> u32 {
    let scale = n + 1;
    let scaled = [|x: u32| x * scale];
    let mut i = 0;
    while scaled[0](i) < 100 {
        i += 1;
    }
    i
}

#[autobatch]
fn loop_over_a_local(n: u32) -> u32 {
    if n == 0 {
        return 1;
    }
    let values = vec![n as u8, n as u8 / 2, b'a'];
    let mut sum = 0;
    for value in values.escape_ascii() {
        sum += loop_over_a_local(n / 2) % 100 + u32::from(value);
    }
    let last = values;
    sum + u32::from(last[0])
}

#[autobatch]
mod generic {
    fn twice<T: Copy + std::ops::Add<Output = T>>(x: T, n: u32) -> T {
        if n == 0 { x } else { twice(x + x, n - 1) }
    }
    pub(crate) fn grow(n: u32) -> u64 {
        let mut sum = 0;
        for i in 0..n {
            sum += twice(u64::from(i), i % 5);
        }
        sum
    }
}

#[autobatch]
mod same_names {
    pub(crate) fn outer(n: u32) -> u32 {
        const STEP: u32 = 3;
        if n < STEP { inner(n) } else { outer(n - STEP) + 1 }
    }
    fn inner(n: u32) -> u32 {
        const STEP: u32 = 2;
        if n < STEP { n } else { inner(n - STEP) * 7 }
    }
}

struct Chain {
    weight: f64,
    next: Option<Box<Chain>>,
}

fn behind(chain: &Chain) -> Option<&Chain> {
    chain.next.as_deref()
}

#[autobatch]
impl Chain {
    pub(crate) fn sum(&self, x: f64) -> f64 {
        match behind(self) {
            Some(next) => self.weight * x + next.sum(x * 0.5),
            None => self.weight,
        }
    }
}

/// The program says what falls back, and whether wholly.
fn says(program: &Program, whole: bool, why: &str) {
    let note = program.notes.iter().find(|note| note.why.contains(why));
    let note = note.unwrap_or_else(|| panic!("no note on {why:?}: {program}"));
    assert_eq!(note.whole, whole, "{program}");
    assert_eq!(program.whole_scalar, program.notes.iter().any(|note| note.whole));
    assert!(note.line > 0 && program.to_string().contains(why));
}

#[test]
fn single_calls_run_scalar_code() {
    let sizes = [0, 1, 97];
    let ns: Vec<u64> = (0..8).collect();
    agree_at(&sizes, &ns, |n| handed_on(*n), |n, o| handed_on_batched_with(n, o));
    says(handed_on_batched::program(), true, "inside a closure");
    agree_at(&sizes, &ns, |n| in_a_macro(*n), |n, o| in_a_macro_batched_with(n, o));
    says(in_a_macro_batched::program(), true, "macro's tokens");
    agree_at(&sizes, &ns, |n| as_a_value(*n), |n, o| as_a_value_batched_with(n, o));
    says(as_a_value_batched::program(), true, "used as a value");
    let words = ["one", "three"];
    let lens: Vec<usize> = (0..8).collect();
    agree_at(
        &sizes,
        &lens,
        |n| borrowed::longest(&words, *n),
        |n, o| borrowed::longest_batched_with(&words, n, o),
    );
    says(borrowed::longest_batched::program(), true, "is lent to the call");
    let ns: Vec<u64> = (0..4).collect();
    agree_at(&sizes, &ns, |n| borrowed_closure::entry(*n), |n, o| borrowed_closure::entry_batched_with(n, o));
    says(borrowed_closure::entry_batched::program(), true, "is lent to the call");
    let small: Vec<u32> = (0..8).collect();
    agree_at(&sizes, &small, |n| generic::grow(*n), |n, o| generic::grow_batched_with(n, o));
    says(generic::grow_batched::program(), false, "a generic function");
    let chain = |next| Some(Box::new(Chain { weight: 0.3, next }));
    let chain = Chain { weight: 1.5, next: chain(chain(None)) };
    let xs: Vec<f64> = (0..8).map(f64::from).collect();
    agree_at(&sizes, &xs, |x| chain.sum(*x), |x, o| chain.sum_batched_with(x, o));
    says(Chain::sum_batched_program(), false, "Self::method");
}

#[test]
fn whole_functions_run_scalar_code() {
    let sizes = [0, 1, 97];
    let ns: Vec<u32> = (0..8).collect();
    agree_at(&sizes, &ns, |n| crossing_borrow(*n), |n, o| crossing_borrow_batched_with(n, o));
    assert!(is_per_member(&ns, |n, o| crossing_borrow_batched_with(n, o)));
    agree_at(&sizes, &ns, |n| crossing_closure(*n), |n, o| crossing_closure_batched_with(n, o));
    assert!(is_per_member(&ns, |n, o| crossing_closure_batched_with(n, o)));
    agree_at(&sizes, &ns, |n| lent_by_a_macro(*n), |n, o| lent_by_a_macro_batched_with(n, o));
    assert!(is_per_member(&ns, |n, o| lent_by_a_macro_batched_with(n, o)));
    agree_at(&sizes, &ns, |n| loop_over_a_local(*n), |n, o| loop_over_a_local_batched_with(n, o));
    assert!(is_per_member(&ns, |n, o| loop_over_a_local_batched_with(n, o)));
    agree_at(&sizes, &ns, |n| same_names::outer(*n), |n, o| same_names::outer_batched_with(n, o));
    says(same_names::outer_batched::program(), true, "item of the same name");
}

/// A comparison in a macro's tokens is no macro.
#[autobatch(strict)]
fn comparison_in_an_assertion(mut n: u64) -> u32 {
    let mut steps = 0;
    while n > 1 {
        assert!(n != 0 && steps != u32::MAX, "{} {}", n, n != 1);
        n /= 2;
        steps += 1;
    }
    steps
}

#[test]
fn a_comparison_in_an_assertion_is_batched() {
    assert!(!comparison_in_an_assertion_batched::program().whole_scalar);
    let n = [0, 1, 7, 1 << 40];
    for (how, options) in crate::common::executors() {
        let outcome = comparison_in_an_assertion_batched_with(&n, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), n.map(comparison_in_an_assertion), "{how}");
    }
}
