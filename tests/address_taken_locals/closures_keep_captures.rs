//! Closures and iterators of one's own keep what they capture: by reference, exclusively, by move.

#![allow(clippy::all)] // as users write, not as one should

use std::iter;

use autobatch::autobatch;

use crate::common::promises::{Rows, View, lists, numbers, promises, texts};

#[autobatch]
fn by_reference(n: u64) -> f64 {
    let x = Rows::of(n);
    let at = |k: u64| x.d[(k % 8) as usize];
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + at(k);
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn one_field_by_reference(n: u64) -> f64 {
    let mut x = Rows::of(n);
    let at = |k: u64| x.d[(k % 8) as usize];
    let mut k = n;
    while k > 0 {
        let v = at(k);
        x.heap[(k % 3) as usize] += v;
        k /= 2;
    }
    x.spent()
}

#[autobatch]
fn exclusively(n: u64) -> u64 {
    let mut counts = [n, 0, 1];
    let mut count = |k: u64| {
        counts[(k % 3) as usize] += k;
        counts[0] % 5
    };
    let mut sum = 0;
    let mut k = n;
    while k > 0 {
        sum = sum * 3 + count(k);
        k /= 2;
    }
    sum * 100 + counts[1] + counts[2]
}

#[autobatch]
fn by_move(values: Vec<f64>) -> f64 {
    let length = values.len();
    let mut rest = values;
    let mut next = move || {
        let last = rest.pop();
        if rest.len() % 3 == 1 {
            rest.reverse();
        }
        last
    };
    let mut sum = length as f64;
    while let Some(v) = next() {
        sum = sum * 0.5 + v;
    }
    sum
}

#[autobatch]
fn moved_reference(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let mut at = &x;
    let read = move |k: u64| at.d[(k % 8) as usize];
    let mut sum = 0.0;
    for k in 0..n % 7 {
        sum = sum * 0.5 + read(k) - at.d[0];
        if k == 3 {
            at = &y;
        }
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn closure_in_a_closure(n: u64) -> f64 {
    let x = Rows::of(n);
    let at = |k: u64| &x.d[(k % 8) as usize];
    let between = |k: u64, by: f64| {
        let scaled = |j: u64| at(j) * by;
        scaled(k) - scaled(k + 1)
    };
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + between(k, 0.5) + at(k);
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn closures_in_an_array(n: u64) -> f64 {
    let x = Rows::of(n);
    let (low, high) = (|k: u64| x.d[(k % 4) as usize], |k: u64| x.heap[(k % 4 + 4) as usize]);
    let all: [&dyn Fn(u64) -> f64; 2] = [&low, &high];
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + all[(k % 2) as usize](k);
        k /= 2;
    }
    sum + x.spent()
}

struct Rule<F> {
    apply: F,
    times: u64,
}

impl<F: Fn(u64) -> f64> Rule<F> {
    fn run(&self, k: u64) -> f64 {
        (self.apply)(k) * self.times as f64
    }
}

#[autobatch]
fn closure_in_a_struct(n: u64) -> f64 {
    let x = Rows::of(n);
    let rule = Rule { apply: |k| x.d[(k % 8) as usize], times: n % 3 };
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + rule.run(k) + (rule.apply)(0);
        k /= 2;
    }
    sum + x.spent()
}

impl Rows {
    fn reader(&self) -> impl Fn(u64) -> f64 + '_ {
        |k| self.d[(k % 8) as usize]
    }

    fn writer(&mut self) -> impl FnMut(u64, f64) -> f64 {
        |k, v| {
            self.heap[(k % 8) as usize] += v;
            self.heap[0]
        }
    }

    fn above(&self, low: f64) -> impl Iterator<Item = &f64> {
        self.d.iter().filter(move |v| **v > low)
    }
}

fn twice<'a>(inner: impl Fn(u64) -> f64 + 'a) -> impl Fn(u64) -> f64 + 'a {
    move |k| inner(k) + inner(k + 1)
}

#[autobatch]
fn closure_of_a_method(n: u64) -> f64 {
    let x = Rows::of(n);
    let read = x.reader();
    let more = twice(x.reader());
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + read(k) - more(k / 2);
        k /= 2;
    }
    drop((read, more));
    sum + x.spent()
}

#[autobatch]
fn exclusive_closure_of_a_method(n: u64) -> f64 {
    let mut x = Rows::of(n);
    let mut write = x.writer();
    let mut sum = 0.0;
    for k in 0..n % 7 {
        sum += write(k, sum);
        if sum > 30.0 {
            break;
        }
    }
    drop(write);
    sum + x.spent()
}

#[autobatch]
fn iterator_of_a_method(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut above = x.above((n % 9) as f64);
    let mut sum = 0.0;
    while let Some(v) = above.next() {
        sum = sum * 0.5 + v;
        if v.fract() != 0.0 {
            above.next();
        }
    }
    drop(above);
    sum + x.spent()
}

/// A user's iterator, which borrows from the values that it goes over.
pub(crate) struct Steps<'a> {
    of: &'a Rows,
    at: usize,
    by: usize,
}

impl<'a> Iterator for Steps<'a> {
    type Item = &'a f64;
    fn next(&mut self) -> Option<&'a f64> {
        let v = self.of.d.get(self.at);
        self.at += self.by;
        v
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a f64;
    type IntoIter = Steps<'a>;
    fn into_iter(self) -> Steps<'a> {
        Steps { of: self, at: 0, by: 3 }
    }
}

#[autobatch]
fn own_iterator(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut steps = Steps { of: &x, at: (n % 3) as usize, by: 1 };
    let mut last = &x.d[0];
    let mut sum = 0.0;
    while let Some(v) = steps.next() {
        sum = sum * 0.5 + v - last;
        last = v;
        steps.by = 1 + steps.at % 2;
    }
    sum + last + x.spent()
}

#[autobatch]
fn loop_over_a_local(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut greatest = None;
    for v in &x {
        if greatest.is_none_or(|g| v > g) {
            greatest = Some(v);
        }
    }
    greatest.map_or(0.0, |g| g * 2.0) + x.spent()
}

/// An iterator that changes what it goes through.
struct Drain<'a> {
    from: &'a mut Vec<f64>,
    keep: usize,
}

impl Iterator for Drain<'_> {
    type Item = f64;
    fn next(&mut self) -> Option<f64> {
        if self.from.len() > self.keep { self.from.pop() } else { None }
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.from.push(self.keep as f64);
    }
}

#[autobatch]
fn own_draining_iterator(values: Vec<f64>) -> f64 {
    let mut values = values;
    let mut sum = 0.0;
    for keep in [5, 2] {
        for v in (Drain { from: &mut values, keep }) {
            sum = sum * 0.5 + v;
            if sum > 2.0 {
                break;
            }
        }
    }
    values.iter().fold(sum, |a, v| a * 0.5 + v)
}

#[autobatch]
fn drained_by_std(values: Vec<f64>) -> f64 {
    let mut values = values;
    let mut sum = 0.0;
    {
        let half = values.len() / 2;
        let mut drained = values.drain(half..);
        while let Some(v) = drained.next() {
            sum = sum * 0.5 + v;
            if sum > 1.0 {
                break;
            }
        }
    }
    values.iter().fold(sum, |a, v| a * 0.5 + v)
}

#[autobatch]
fn chained_adaptors(text: String) -> u64 {
    let stop = text.len() / 3;
    let mut seen = 0;
    let mut parts = text
        .split(' ')
        .flat_map(|word| word.char_indices().map(move |(at, c)| (word, at, c)))
        .inspect(|_| seen += 1)
        .skip_while(|(word, ..)| word.len() > 4)
        .step_by(2);
    let mut sum = 0;
    while let Some((word, at, c)) = parts.next() {
        sum = (sum * 3 + (word.len() * at) as u64 + u64::from(c == 'e')) % 1_000_003;
        if sum as usize % 11 == stop {
            break;
        }
    }
    drop(parts);
    sum * 100 + seen + text.len() as u64
}

#[autobatch]
fn taken_by_reference(values: Vec<f64>) -> f64 {
    let mut left = values.iter();
    let mut sum = 0.0;
    while left.len() > 0 {
        let part: f64 = left.by_ref().take_while(|v| **v > 0.0).sum();
        sum = sum * 0.5 + part;
        sum += left.clone().next().map_or(0.25, |v| v * 2.0);
    }
    sum + values.into_iter().rev().fold(0.0, |a, v| a * 0.5 + v)
}

#[autobatch]
fn made_by_functions(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut at = 0;
    let mut pairs = iter::from_fn(|| {
        at += 2;
        x.d.get(at - 2..at)
    });
    let mut later = iter::successors(Some(&x.d[..]), |part| part.get(3..));
    let mut sum = 0.0;
    loop {
        let (Some(pair), part) = (pairs.next(), later.next()) else { break };
        sum = sum * 0.5 + pair[0] - pair[1] + part.map_or(0.0, |part| part.len() as f64);
        if sum > n as f64 {
            break;
        }
    }
    sum + at as f64 + x.spent()
}

#[autobatch]
fn scanned(values: Vec<f64>) -> f64 {
    let mut total = 0.0;
    let sums = values.iter().scan(&mut total, |total, v| {
        **total += v;
        (**total < 4.0).then_some(**total)
    });
    let mut out = 0.0;
    for (k, sum) in sums.enumerate() {
        if k % 2 == 0 {
            out = out * 0.5 + sum;
        }
    }
    out + total + values[0]
}

fn each_pair<'a>(rows: &'a Rows, mut look: impl FnMut(&'a f64, &'a f64) -> bool) -> usize {
    rows.d.windows(2).take_while(|pair| look(&pair[0], &pair[1])).count()
}

#[autobatch]
fn handed_to_a_function(n: u64) -> f64 {
    let x = Rows::of(n);
    let (mut rising, mut last) = (Vec::new(), &x.d[0]);
    let mut count = 0;
    for k in 0..n % 3 + 1 {
        count += each_pair(&x, |a, b| {
            if a < b {
                rising.push(View { of: std::slice::from_ref(b), by: k as f64 });
            }
            last = b;
            *b < 40.0
        });
    }
    rising.iter().fold(count as f64, |sum, view| sum * 0.5 + view.at(0)) + last + x.spent()
}

#[autobatch]
mod recursion_through_a_closure {
    use super::Rows;

    pub(super) fn run(n: u64) -> f64 {
        let x = Rows::of(n);
        let at = |k: u64| x.d[(k % 8) as usize];
        let sum = walk(&at, n) + walk(&|k| at(k + 1) * 0.5, n / 2);
        sum + x.spent()
    }

    fn walk(at: &dyn Fn(u64) -> f64, n: u64) -> f64 {
        if n == 0 {
            return at(0);
        }
        let here = at(n);
        let shifted = |k| at(k + n) - here;
        walk(at, n / 2) * 0.5 + walk(&shifted, n / 3) * 0.25 + here
    }
}

promises! {
    a_closure_keeps_a_reference: by_reference, by_reference_batched_with, numbers();
    a_closure_captures_one_field: one_field_by_reference, one_field_by_reference_batched_with, numbers();
    a_closure_writes_to_what_it_captures: exclusively, exclusively_batched_with, numbers();
    a_closure_owns_what_moved_in: by_move, by_move_batched_with, lists();
    a_closure_keeps_the_reference_that_moved_in: moved_reference, moved_reference_batched_with, numbers();
    a_closure_captures_a_closure: closure_in_a_closure, closure_in_a_closure_batched_with, numbers();
    closures_are_called_by_index: closures_in_an_array, closures_in_an_array_batched_with, numbers();
    a_struct_holds_a_closure: closure_in_a_struct, closure_in_a_struct_batched_with, numbers();
    a_method_returns_a_closure_that_borrows: closure_of_a_method, closure_of_a_method_batched_with, numbers();
    a_method_returns_a_closure_that_writes:
        exclusive_closure_of_a_method, exclusive_closure_of_a_method_batched_with, numbers();
    a_method_returns_an_iterator_that_borrows: iterator_of_a_method, iterator_of_a_method_batched_with, numbers();
    a_users_iterator_borrows: own_iterator, own_iterator_batched_with, numbers();
    a_loop_over_a_local_keeps_an_element: loop_over_a_local, loop_over_a_local_batched_with, numbers();
    an_iterator_of_ones_own_drains_a_list: own_draining_iterator, own_draining_iterator_batched_with, lists();
    a_list_is_drained_in_part: drained_by_std, drained_by_std_batched_with, lists();
    adaptors_capture_locals: chained_adaptors, chained_adaptors_batched_with, texts();
    an_iterator_is_taken_from_by_reference: taken_by_reference, taken_by_reference_batched_with, lists();
    functions_make_iterators_that_borrow: made_by_functions, made_by_functions_batched_with, numbers();
    a_scan_writes_to_its_state: scanned, scanned_batched_with, lists();
    a_function_calls_back_with_references: handed_to_a_function, handed_to_a_function_batched_with, numbers();
    recursion_goes_through_closures:
        recursion_through_a_closure::run, recursion_through_a_closure::run_batched_with, numbers();
}
