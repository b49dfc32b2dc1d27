//! A user's method may have the name of a number's, or of a list's, and do something: each member does it once, also where it runs again
//! because another member of its tile has failed.

#![allow(clippy::all)] // as users write, not as one should

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use autobatch::{Options, autobatch};

use crate::common::executors;

static DONE: AtomicU64 = AtomicU64::new(0);
/// Tests take turns: they count together.
static TURN: Mutex<()> = Mutex::new(());

fn done() {
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// Runs members, of which some fail, in each executor, and compares what they have done.
fn the_same_is_done(scalar: impl Fn(u64), batched: impl Fn(&[u64], &Options)) {
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let inputs: Vec<u64> = (0..300).map(|i| i * 37 % 50).collect();
    DONE.store(0, Ordering::Relaxed);
    for n in &inputs {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scalar(*n)));
    }
    let expected = DONE.swap(0, Ordering::Relaxed);
    assert!(expected > 0, "something is done");
    for (name, options) in executors() {
        batched(&inputs, &options.quiet(true).threads(1));
        let found = DONE.swap(0, Ordering::Relaxed);
        assert_eq!(found, expected, "{name}");
    }
    drop(turn);
}

trait Loud {
    fn recip(self) -> u64;
    fn signum(&self) -> u64;
    fn abs(self) -> u64;
    fn floor(&mut self);
    fn len(&self) -> usize;
}

impl Loud for u64 {
    fn recip(self) -> u64 {
        done();
        self * 3
    }
    fn signum(&self) -> u64 {
        done();
        self + 1
    }
    fn abs(self) -> u64 {
        done();
        self + 2
    }
    fn floor(&mut self) {
        done();
        *self += 2;
    }
    fn len(&self) -> usize {
        done();
        3
    }
}

#[autobatch]
fn of_an_integer(n: u64) -> u64 {
    let (mut sum, mut i) = (0, 0u64);
    while i < n {
        if i % 3 == 0 {
            sum += i.recip();
        }
        if i == 45 {
            sum += 100 / (n ^ 46);
        }
        i += 1;
    }
    sum
}

/// No type is written where the method is called.
#[autobatch]
fn of_a_number_of_no_written_type(n: u64) -> u64 {
    let mut sum = 0;
    let mut k = n;
    while k > 1 {
        let half = (k, k / 2).1;
        sum += half.signum() + half.len() as u64;
        k -= 1 + 60 / (n ^ 46) % 2;
    }
    sum
}

#[autobatch]
fn by_its_path(n: u64) -> u64 {
    let mut sum = 0;
    let mut k = n;
    while k > 1 {
        sum += u64::recip(k) + 100 / (n ^ 46);
        k /= 2;
    }
    sum
}

fn beside(k: u64) -> u64 {
    let twice = k * 2;
    twice.recip() + 1
}

#[autobatch]
fn in_a_function_beside(n: u64) -> u64 {
    if n < 2 { beside(n) } else { in_a_function_beside(n / 2) + beside(n) + 100 / (n ^ 46) }
}

/// The method changes the counter.
#[autobatch]
fn of_the_counter(n: u64) -> u64 {
    let (mut sum, mut i) = (0, 0u64);
    while i < n {
        i.floor();
        sum += i + 100 / (n ^ 46);
        i += 1;
    }
    sum
}

/// The loop runs for all lanes at once, in a program that does more than compute.
#[autobatch]
fn in_a_loop_of_all_lanes(n: u64) -> u64 {
    let mut text = String::new();
    let mut k = n;
    let mut sum = 0;
    while k > 1 {
        for i in 0..20u64 {
            let x = k ^ i;
            sum += x.recip() + 100 / (n ^ 46);
        }
        text.push('a');
        k /= 2;
    }
    sum + text.chars().count() as u64
}

/// What all members share is computed where it is needed, unless somebody may see that.
#[autobatch]
fn of_a_shared_number(n: u64, #[shared] k: u64) -> u64 {
    let made = k.abs();
    let (mut m, mut sum) = (n, 0);
    while m > 0 {
        sum += made;
        m /= 2;
    }
    if n > 4 { sum + made + of_a_shared_number(n / 2, k) } else { sum }
}

struct Table {
    values: [u64; 4],
}

impl Table {
    fn len(&self) -> usize {
        done();
        self.values.len()
    }
}

static TABLE: Table = Table { values: [1, 2, 3, 4] };

#[autobatch]
fn of_a_shared_type(n: u64, table: &Table) -> u64 {
    let mut k = n;
    let mut sum = 0;
    while k > 1 {
        sum += table.len() as u64 + TABLE.len() as u64 + 100 / (n ^ 46);
        k /= 2;
    }
    sum
}

mod math {
    pub(super) fn exp(x: f64) -> f64 {
        super::done();
        x + 1.0
    }
}

#[autobatch]
fn of_a_module_named_math(n: u64) -> u64 {
    let mut k = n;
    let mut sum = 0;
    while k > 1 {
        sum += math::exp(k as f64) as u64 + 100 / (n ^ 46);
        k /= 2;
    }
    sum
}

macro_rules! tests {
    ($($test:ident: $f:ident, $batched:ident;)*) => {$(
        #[test]
        fn $test() {
            the_same_is_done(|n| _ = $f(n), |batch, options| {
                $batched(batch, options).expect("it runs");
            });
        }
    )*};
}

tests! {
    a_method_of_an_integer: of_an_integer, of_an_integer_batched_with;
    a_method_of_a_type_that_follows: of_a_number_of_no_written_type, of_a_number_of_no_written_type_batched_with;
    a_function_of_the_name_by_its_path: by_its_path, by_its_path_batched_with;
    a_method_in_a_function_beside: in_a_function_beside, in_a_function_beside_batched_with;
    a_method_that_changes_the_counter: of_the_counter, of_the_counter_batched_with;
    a_method_in_a_loop_of_all_lanes: in_a_loop_of_all_lanes, in_a_loop_of_all_lanes_batched_with;
    a_function_of_a_module_named_math: of_a_module_named_math, of_a_module_named_math_batched_with;
}

#[test]
fn the_length_of_a_shared_type() {
    the_same_is_done(
        |n| _ = of_a_shared_type(n, &TABLE),
        |batch, options| {
            of_a_shared_type_batched_with(batch, &TABLE, options).expect("it runs");
        },
    );
}

#[test]
fn a_method_of_a_shared_number() {
    the_same_is_done(
        |n| _ = of_a_shared_number(n, 7),
        |batch, options| {
            of_a_shared_number_batched_with(batch, 7, options).expect("it runs");
        },
    );
}

/// What the method makes of the counter counts.
#[test]
fn a_counter_that_a_method_changes() {
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let inputs: Vec<u64> = (0..45).collect();
    let expected: Vec<u64> = inputs.iter().map(|n| of_the_counter(*n)).collect();
    for (name, options) in executors() {
        let found = of_the_counter_batched_with(&inputs, &options).expect("it runs");
        assert_eq!(found.into_values().expect("no member fails"), expected, "{name}");
    }
    drop(turn);
}
