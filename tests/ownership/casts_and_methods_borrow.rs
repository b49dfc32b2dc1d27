//! Casts, trait objects and methods borrow, whatever they are named: a method with the name of one of std's that only
//! computes may borrow in a user's type.

use std::any::Any;
use std::borrow::Borrow;
use std::fmt::{Debug, Display, Write};

use autobatch::autobatch;

use crate::common::promises::{Rows, View, lists, numbers, promises, texts};

trait Lends {
    fn entry(&self, k: u64) -> &f64;

    fn first(&self) -> &f64 {
        self.entry(0)
    }
}

impl Lends for Rows {
    fn entry(&self, k: u64) -> &f64 {
        &self.d[k as usize % self.d.len()]
    }
}

impl Lends for View<'_> {
    fn entry(&self, k: u64) -> &f64 {
        &self.of[k as usize / 2 % self.of.len()]
    }
}

/// The methods have the names of methods of numbers, text and collections.
impl Rows {
    fn len(&self) -> &f64 {
        &self.d[1]
    }

    fn is_empty(&self) -> Option<&f64> {
        self.d.last()
    }

    fn checked_add(&self, k: u64) -> Option<&f64> {
        self.heap.get(k as usize)
    }

    fn checked_sub<'a>(&'a self, other: &'a Rows) -> Option<View<'a>> {
        if self.d[0] < other.d[0] { Some(View { of: &other.d, by: 0.5 }) } else { self.abs() }
    }

    fn wrapping_mul(&self, by: f64) -> View<'_> {
        View { of: &self.d, by }
    }

    fn position(&self, k: u64) -> &[f64] {
        &self.heap[(k % 5) as usize..]
    }

    fn clone(&self) -> View<'_> {
        View { of: &self.d[2..], by: 1.0 }
    }

    fn sqrt(&self) -> &Vec<f64> {
        &self.heap
    }

    fn abs(&self) -> Option<View<'_>> {
        Some(View { of: &self.d[..3], by: -1.0 })
    }

    fn min<'a>(&'a self, other: &'a Rows) -> &'a Rows {
        if self.d[0] < other.d[0] { self } else { other }
    }

    fn to_owned(&self) -> [&f64; 2] {
        [&self.d[0], &self.d[7]]
    }

    fn to_vec(&self) -> Vec<&f64> {
        self.d.iter().collect()
    }

    fn sum(&self) -> (&f64, f64) {
        (&self.d[2], self.d.iter().sum())
    }

    fn count_ones(&mut self) -> &mut f64 {
        &mut self.d[3]
    }

    fn cos(&mut self) -> Entry<'_> {
        Entry { at: self.d.iter_mut() }
    }
}

struct Entry<'a> {
    at: std::slice::IterMut<'a, f64>,
}

impl Entry<'_> {
    fn add(&mut self, k: f64) -> bool {
        self.at.next().is_some_and(|v| {
            *v += k;
            true
        })
    }
}

#[autobatch]
fn cast_to_a_trait_object(n: u64) -> f64 {
    let x = Rows::of(n);
    let seen = &x;
    let object = &x as &dyn Lends;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += object.entry(k) + seen.d[0];
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn coerced_to_a_trait_object(n: u64) -> f64 {
    let x = Rows::of(n);
    let view = &x * 2.0;
    let object: &dyn Lends = if n % 2 == 0 { &x } else { &view };
    let first = object.first();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += object.entry(k) * first;
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn trait_objects_in_a_list(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 1));
    let all: Vec<&dyn Lends> = vec![&x, &y, &x];
    let mut sum = 0.0;
    for k in 0..n % 9 {
        sum = sum * 0.5 + all[k as usize % 3].entry(k);
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn boxed_trait_object(n: u64) -> f64 {
    let x = Rows::of(n);
    let boxed: Box<dyn Lends + '_> = Box::new(&x * 1.5);
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += boxed.entry(k);
        k /= 2;
    }
    drop(boxed);
    sum + x.spent()
}

#[autobatch]
fn boxed_function(n: u64) -> f64 {
    let x = Rows::of(n);
    let at: Box<dyn Fn(u64) -> f64 + '_> =
        if n % 3 == 0 { Box::new(|k| x.d[(k % 8) as usize]) } else { Box::new(|k| x.d[0] + k as f64) };
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + at(k);
        k /= 2;
    }
    drop(at);
    sum + x.spent()
}

#[autobatch]
fn boxed_iterator(values: Vec<f64>) -> f64 {
    let mut left: Box<dyn Iterator<Item = &f64> + '_> =
        if values.len() % 2 == 0 { Box::new(values.iter().rev()) } else { Box::new(values.iter().skip(1)) };
    let mut sum = 0.5;
    while let Some(v) = left.next() {
        sum = sum * 0.5 + v;
    }
    drop(left);
    sum + values.into_iter().fold(0.0, |a, v| a * 0.25 + v)
}

#[autobatch]
fn trait_object_that_writes(text: String) -> String {
    let mut out = String::new();
    let sink: &mut dyn Write = &mut out;
    for (k, word) in text.split(' ').enumerate() {
        if k % 2 == 0 {
            write!(sink, "{word}{k}").unwrap();
        }
    }
    out + &text
}

#[autobatch]
fn trait_object_of_any(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), n + 1);
    let mut any: &dyn Any = &x;
    let mut sum = 0.0;
    for k in 0..n % 5 {
        if let Some(rows) = any.downcast_ref::<Rows>() {
            sum += rows.d[k as usize];
            any = &y;
        } else if let Some(number) = any.downcast_ref::<u64>() {
            sum += *number as f64;
            any = &x;
        }
    }
    sum + x.spent()
}

#[autobatch]
fn trait_objects_to_show(n: u64) -> String {
    let (x, text) = (Rows::of(n % 3), n.to_string());
    let shown: [&dyn Debug; 2] = [&x.d[0], &text];
    let mut plain: &dyn Display = &text;
    let mut out = String::new();
    for k in 0..n % 4 {
        out += &format!("{:?}{plain}", shown[k as usize % 2]);
        plain = &x.d[3];
    }
    drop(x);
    out + &text
}

#[autobatch]
fn slices_of_arrays(n: u64) -> f64 {
    let (three, five) = ([n as f64; 3], [0.5; 5]);
    let slice: &[f64] = if n % 2 == 0 { &three } else { &five };
    let mut sum = 0.0;
    for (k, v) in slice.iter().enumerate() {
        if k != 1 {
            sum += v * k as f64;
        }
    }
    sum + three[0]
}

#[autobatch]
fn named_len(n: u64) -> f64 {
    let x = Rows::of(n);
    let seen = &x.d;
    let length = x.len();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + length + seen[0];
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_is_empty(n: u64) -> f64 {
    let x = Rows::of(n);
    let empty = x.is_empty();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += empty.map_or(1.0, |v| v * 0.5);
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_checked_add(n: u64) -> f64 {
    let x = Rows::of(n);
    let Some(entry) = x.checked_add(n % 9) else { return 0.25 };
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + entry;
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_checked_sub(n: u64) -> Option<f64> {
    let (x, y) = (Rows::of(n), Rows::of(n * 3));
    let view = x.checked_sub(&y)?;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += view.at(k);
        k /= 2;
    }
    Some(sum + x.spent() - y.spent())
}

#[autobatch]
fn named_wrapping_mul(n: u64) -> f64 {
    let x = Rows::of(n);
    let view = x.wrapping_mul(2.0);
    let mut sum = 0.0;
    for k in 0..n % 7 {
        sum += view.at(k);
    }
    sum + x.spent()
}

#[autobatch]
fn named_position(n: u64) -> f64 {
    let x = Rows::of(n);
    let part = x.position(n);
    let mut sum = 0.0;
    for (k, v) in part.iter().enumerate() {
        if k != 2 {
            sum = sum * 0.5 + v;
        }
    }
    let count = part.len() as f64;
    sum + count + x.spent()
}

#[autobatch]
fn named_clone(n: u64) -> f64 {
    let x = Rows::of(n);
    let copy = x.clone();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += copy.at(k);
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_sqrt(n: u64) -> f64 {
    let x = Rows::of(n);
    let root = x.sqrt();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += root[(k % 8) as usize].sqrt();
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_abs(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut view = x.abs();
    let mut sum = 0.0;
    for k in 0..n % 8 {
        match &view {
            Some(some) => sum += some.at(k),
            None => view = x.abs(),
        }
        if k % 3 == 2 {
            view = None;
        }
    }
    sum + x.spent()
}

#[autobatch]
fn named_min(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n * 5));
    let least = x.min(&y);
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + least.d[(k % 8) as usize];
        k /= 2;
    }
    sum + x.spent() * 2.0 + y.spent()
}

#[autobatch]
fn named_to_owned(n: u64) -> f64 {
    let x = Rows::of(n);
    let [first, last] = x.to_owned();
    let all = x.to_vec();
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + first - last + all[(k % 8) as usize];
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_sum(n: u64) -> f64 {
    let x = Rows::of(n);
    let (kept, total) = x.sum();
    let mut sum = total;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + kept;
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn named_count_ones(n: u64) -> f64 {
    let mut x = Rows::of(n);
    let entry = x.count_ones();
    let mut k = n;
    while k > 0 {
        *entry += k as f64;
        k /= 2;
    }
    x.spent()
}

#[autobatch]
fn named_cos(n: u64) -> f64 {
    let mut x = Rows::of(n);
    let mut entries = x.cos();
    let mut k = n;
    while k > 0 && entries.add(k as f64) {
        k /= 2;
    }
    x.spent()
}

/// A trait gives the method to a number, and it borrows from the number's slot.
trait Near {
    fn near(&self) -> &Self;
    fn wrapping_near(&self) -> Option<&Self>;
    fn both<'a>(&'a self, other: &'a Self) -> (&'a Self, &'a Self);
}

impl Near for u64 {
    fn near(&self) -> &u64 {
        self
    }
    fn wrapping_near(&self) -> Option<&u64> {
        (*self % 3 != 0).then_some(self)
    }
    fn both<'a>(&'a self, other: &'a u64) -> (&'a u64, &'a u64) {
        if self < other { (self, other) } else { (other, self) }
    }
}

#[autobatch]
fn methods_of_numbers(n: u64) -> u64 {
    let m = n * n % 17;
    let near = n.near();
    let (low, high) = m.both(&n);
    let maybe = m.wrapping_near();
    let mut sum = 0;
    let mut k = n;
    while k > 0 {
        sum = sum * 2 + near + high - low + maybe.unwrap_or(&5);
        k /= 2;
    }
    sum
}

/// The number is written after the loop that uses the borrow.
#[autobatch]
fn methods_of_numbers_that_change(n: u64) -> u64 {
    let mut m = n;
    let mut sum = 0;
    for k in 0..n % 7 {
        let near = m.near();
        let mut j = k;
        while j > 0 {
            sum += near;
            j /= 2;
        }
        m = m * 3 % 23 + k;
    }
    sum * 100 + m
}

#[autobatch]
fn methods_of_arrays(n: u64) -> u64 {
    let mut counts = [n, 1, 2, 3];
    let first = counts.first_mut().unwrap();
    let mut k = n;
    while k > 0 {
        *first += k;
        k /= 2;
    }
    let slice = counts.as_slice();
    let lent: &[u64] = counts.borrow();
    let mut sum = 0;
    for k in 0..n % 5 {
        sum += slice[k as usize % 4] + lent[0];
    }
    sum * 7 + counts[0]
}

#[autobatch]
mod as_a_generic_parameter {
    use super::{Lends, Rows};

    pub(super) fn run(n: u64) -> f64 {
        let x = Rows::of(n);
        let view = &x * 0.5;
        let sum = walk(&x, n % 6) + walk(&view, n % 4) + over(&x, n % 5);
        sum + x.spent()
    }

    fn walk<T: Lends>(lender: &T, n: u64) -> f64 {
        let entry = lender.entry(n);
        if n == 0 { *entry } else { walk(lender, n - 1) * 0.5 + entry }
    }

    fn over(lender: &dyn Lends, n: u64) -> f64 {
        let entry = lender.entry(n);
        if n == 0 { *entry } else { over(lender, n - 1) * 0.5 + entry + over(lender, n / 2) }
    }
}

promises! {
    a_cast_to_a_trait_object_borrows: cast_to_a_trait_object, cast_to_a_trait_object_batched_with, numbers();
    a_coercion_to_a_trait_object_borrows: coerced_to_a_trait_object, coerced_to_a_trait_object_batched_with, numbers();
    trait_objects_in_a_list_borrow: trait_objects_in_a_list, trait_objects_in_a_list_batched_with, numbers();
    a_boxed_trait_object_borrows: boxed_trait_object, boxed_trait_object_batched_with, numbers();
    a_boxed_function_borrows: boxed_function, boxed_function_batched_with, numbers();
    a_boxed_iterator_borrows: boxed_iterator, boxed_iterator_batched_with, lists();
    a_trait_object_writes_to_its_text: trait_object_that_writes, trait_object_that_writes_batched_with, texts();
    an_object_of_any_type_borrows: trait_object_of_any, trait_object_of_any_batched_with, numbers();
    objects_to_show_borrow: trait_objects_to_show, trait_objects_to_show_batched_with, numbers();
    arrays_of_two_lengths_are_borrowed_as_slices: slices_of_arrays, slices_of_arrays_batched_with, numbers();
    a_method_named_len_borrows: named_len, named_len_batched_with, numbers();
    a_method_named_is_empty_borrows: named_is_empty, named_is_empty_batched_with, numbers();
    a_method_named_checked_add_borrows: named_checked_add, named_checked_add_batched_with, numbers();
    a_method_named_checked_sub_borrows_both: named_checked_sub, named_checked_sub_batched_with, numbers();
    a_method_named_wrapping_mul_borrows: named_wrapping_mul, named_wrapping_mul_batched_with, numbers();
    a_method_named_position_borrows: named_position, named_position_batched_with, numbers();
    a_method_named_clone_borrows: named_clone, named_clone_batched_with, numbers();
    a_method_named_sqrt_borrows: named_sqrt, named_sqrt_batched_with, numbers();
    a_method_named_abs_borrows: named_abs, named_abs_batched_with, numbers();
    a_method_named_min_borrows_both: named_min, named_min_batched_with, numbers();
    methods_named_to_owned_and_to_vec_borrow: named_to_owned, named_to_owned_batched_with, numbers();
    a_method_named_sum_borrows: named_sum, named_sum_batched_with, numbers();
    a_method_named_count_ones_writes: named_count_ones, named_count_ones_batched_with, numbers();
    a_method_named_cos_writes_step_by_step: named_cos, named_cos_batched_with, numbers();
    a_method_borrows_a_number: methods_of_numbers, methods_of_numbers_batched_with, numbers();
    a_method_borrows_a_number_that_changes:
        methods_of_numbers_that_change, methods_of_numbers_that_change_batched_with, numbers();
    a_method_borrows_an_array_of_numbers: methods_of_arrays, methods_of_arrays_batched_with, numbers();
    generic_functions_and_objects_borrow_over_calls:
        as_a_generic_parameter::run, as_a_generic_parameter::run_batched_with, numbers();
}
