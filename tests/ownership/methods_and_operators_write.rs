//! A user's method, operator or trait takes a shared borrow, and writes.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::{Add, Deref, Index};

use autobatch::autobatch;

use crate::common::promises::{numbers, promises};

#[derive(Default)]
struct Tally {
    sum: Cell<u64>,
    calls: RefCell<u64>,
}

impl Tally {
    fn add(&self, k: u64) {
        self.sum.set(self.sum.get() + k);
        *self.calls.borrow_mut() += 1;
    }

    /// Named like a method of std's that only reads.
    fn len(&self) -> u64 {
        self.add(3);
        *self.calls.borrow()
    }

    fn read(&self) -> u64 {
        self.sum.get() * 100 + *self.calls.borrow()
    }
}

#[autobatch]
fn method_that_writes(n: u64) -> u64 {
    let tally = Tally::default();
    let mut k = n;
    while k > 0 {
        tally.add(k);
        k /= 2;
    }
    tally.read()
}

#[autobatch]
fn method_named_len_that_writes(n: u64) -> u64 {
    let tally = Tally::default();
    let mut k = n % 10;
    while tally.len() <= k {
        k -= 1;
    }
    tally.read() + k
}

#[autobatch]
fn field_of_a_local(n: u64) -> u64 {
    let tally = Tally { sum: Cell::new(n), ..Tally::default() };
    let sum = &tally.sum;
    for k in 0..n % 5 {
        sum.set(sum.get() * 3 + k);
    }
    tally.read()
}

struct Counter(Cell<u64>);

impl Deref for Counter {
    type Target = Cell<u64>;
    fn deref(&self) -> &Cell<u64> {
        &self.0
    }
}

impl Add<u64> for &Counter {
    type Output = u64;
    fn add(self, k: u64) -> u64 {
        self.0.set(self.0.get() + k);
        self.0.get()
    }
}

impl PartialEq<u64> for Counter {
    fn eq(&self, other: &u64) -> bool {
        self.0.set(self.0.get() + 1);
        self.0.get() == *other
    }
}

impl Clone for Counter {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 100);
        Counter(Cell::new(1))
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.set(self.0.get() + 7);
        write!(f, "{}", self.0.get())
    }
}

impl Index<u64> for Counter {
    type Output = u64;
    fn index(&self, k: u64) -> &u64 {
        self.0.set(self.0.get() + k);
        if k % 2 == 0 { &2 } else { &5 }
    }
}

impl Iterator for &Counter {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        let at = self.0.get();
        self.0.set(at + 1);
        (at < 9).then_some(at)
    }
}

#[autobatch]
fn by_deref(n: u64) -> u64 {
    let c = Counter(Cell::new(n));
    for k in 0..n % 6 {
        c.set(c.get() + k * k);
    }
    c.get()
}

#[autobatch]
fn by_an_operator(n: u64) -> u64 {
    let c = Counter(Cell::new(n));
    let mut sum = 0;
    for k in 0..n % 6 {
        sum += &c + k;
    }
    sum + c.0.get()
}

#[autobatch]
fn by_a_comparison(n: u64) -> u64 {
    let c = Counter(Cell::new(0));
    let mut k = 0;
    while k < 30 && c != n % 11 + 1 {
        k += 1;
    }
    c.0.get() * 100 + k
}

#[autobatch]
fn by_a_clone(n: u64) -> u64 {
    let c = Counter(Cell::new(n));
    let mut sum = 0;
    for k in 0..n % 4 {
        let copy = c.clone();
        sum += copy.0.get() + k;
    }
    sum + c.0.get()
}

#[autobatch]
fn by_display(n: u64) -> u64 {
    let c = Counter(Cell::new(n));
    let mut length = 0;
    for _ in 0..n % 5 {
        length += format!("{c}").len() as u64;
    }
    length * 1000 + c.0.get()
}

#[autobatch]
fn by_an_index(n: u64) -> u64 {
    let c = Counter(Cell::new(n));
    let mut sum = 0;
    for k in 0..n % 5 {
        sum += c[k];
    }
    sum * 1000 + c.0.get()
}

#[autobatch]
fn by_an_iterator(n: u64) -> u64 {
    let c = Counter(Cell::new(n % 4));
    let mut sum = 0;
    for k in &c {
        sum += k;
        if sum > n {
            break;
        }
    }
    sum * 100 + c.0.get()
}

#[autobatch]
fn between_calls_in_a_struct(n: u64) -> u64 {
    let tally = Tally::default();
    tally.add(n);
    if n > 1 {
        tally.add(between_calls_in_a_struct(n / 2));
        tally.add(between_calls_in_a_struct(n / 4));
    }
    tally.read() % 1_000_003
}

promises! {
    writes_of_a_struct_between_recursive_calls_are_kept:
        between_calls_in_a_struct, between_calls_in_a_struct_batched_with, numbers();
    a_method_with_a_shared_receiver_writes: method_that_writes, method_that_writes_batched_with, numbers();
    a_method_named_len_writes: method_named_len_that_writes, method_named_len_that_writes_batched_with, numbers();
    a_borrowed_field_is_written: field_of_a_local, field_of_a_local_batched_with, numbers();
    a_cell_is_written_through_deref: by_deref, by_deref_batched_with, numbers();
    an_operator_writes: by_an_operator, by_an_operator_batched_with, numbers();
    a_comparison_writes: by_a_comparison, by_a_comparison_batched_with, numbers();
    a_clone_writes_to_its_origin: by_a_clone, by_a_clone_batched_with, numbers();
    formatting_writes: by_display, by_display_batched_with, numbers();
    an_index_writes: by_an_index, by_an_index_batched_with, numbers();
    an_iterator_by_shared_reference_writes: by_an_iterator, by_an_iterator_batched_with, numbers();
}
