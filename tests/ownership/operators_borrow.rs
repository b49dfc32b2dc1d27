//! An operator, an index or a `Deref` borrows its operands, and the borrow is used in a loop; the local is moved in the end.

use std::ops::{Add, BitAnd, Deref, DerefMut, Div, Index, IndexMut, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use autobatch::autobatch;

use crate::common::promises::{Rows, View, numbers, promises};

impl<'a> Mul<f64> for &'a Rows {
    type Output = View<'a>;
    fn mul(self, by: f64) -> View<'a> {
        View { of: &self.d, by }
    }
}

impl<'a> Div<&'a Rows> for f64 {
    type Output = View<'a>;
    fn div(self, rows: &'a Rows) -> View<'a> {
        View { of: &rows.d, by: 1.0 / self }
    }
}

impl<'a> Neg for &'a Rows {
    type Output = View<'a>;
    fn neg(self) -> View<'a> {
        View { of: &self.d, by: -1.0 }
    }
}

impl<'a> Not for &'a Rows {
    type Output = &'a f64;
    fn not(self) -> &'a f64 {
        &self.d[3]
    }
}

impl<'a> Shl<usize> for &'a Rows {
    type Output = &'a [f64];
    fn shl(self, by: usize) -> &'a [f64] {
        &self.heap[by..]
    }
}

impl<'a> Shr<usize> for &'a Rows {
    type Output = std::slice::Iter<'a, f64>;
    fn shr(self, by: usize) -> Self::Output {
        self.heap[..self.heap.len() - by].iter()
    }
}

impl<'a> Add for &'a Rows {
    type Output = (&'a Rows, &'a Rows);
    fn add(self, other: &'a Rows) -> Self::Output {
        (self, other)
    }
}

/// Lends from the right operand only.
impl<'a> Sub<&'a Rows> for &Rows {
    type Output = &'a f64;
    fn sub(self, other: &'a Rows) -> &'a f64 {
        &other.d[self.d.len() / 2]
    }
}

impl<'a> Rem<u64> for &'a Rows {
    type Output = Option<&'a f64>;
    fn rem(self, by: u64) -> Option<&'a f64> {
        self.heap.get(by as usize)
    }
}

impl<'a> BitAnd<&'a Rows> for View<'a> {
    type Output = [&'a [f64]; 2];
    fn bitand(self, other: &'a Rows) -> Self::Output {
        [self.of, &other.d]
    }
}

impl Index<u64> for Rows {
    type Output = f64;
    fn index(&self, k: u64) -> &f64 {
        &self.d[k as usize % self.d.len()]
    }
}

impl IndexMut<u64> for Rows {
    fn index_mut(&mut self, k: u64) -> &mut f64 {
        let length = self.d.len();
        &mut self.d[k as usize % length]
    }
}

struct Wrapped(Rows);

impl Deref for Wrapped {
    type Target = Rows;
    fn deref(&self) -> &Rows {
        &self.0
    }
}

impl DerefMut for Wrapped {
    fn deref_mut(&mut self) -> &mut Rows {
        &mut self.0
    }
}

#[autobatch]
fn multiplied(n: u64) -> f64 {
    let x = Rows::of(n);
    let seen = &x;
    let view = &x * 2.0;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += view.at(k) + seen.d[0];
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn divided(n: u64) -> f64 {
    let x = Rows::of(n);
    let view = 4.0 / &x;
    let first = &x.d[0];
    let mut sum = 0.0;
    for k in 0..n % 5 {
        if k != 1 {
            sum += view.at(k) + first;
        }
    }
    sum + x.spent()
}

#[autobatch]
fn negated(n: u64) -> f64 {
    let x = Rows::of(n);
    let view = -&x;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += view.at(k);
        k /= 3;
    }
    let moved = x;
    sum + moved.spent()
}

#[autobatch]
fn complemented(n: u64) -> f64 {
    let x = Rows::of(n);
    let third = !&x;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum = sum * 0.5 + third;
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn shifted_left(n: u64) -> f64 {
    let x = Rows::of(n);
    let tail = &x << 3;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += tail[k as usize % tail.len()];
        k /= 2;
    }
    sum - x.spent()
}

/// The iterator that the operator makes is advanced in the loop.
#[autobatch]
fn shifted_right(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut head = &x >> 2;
    let mut sum = 0.0;
    while let Some(v) = head.next() {
        sum += v;
        if sum > n as f64 {
            break;
        }
    }
    sum * 10.0 + head.len() as f64 + x.spent()
}

#[autobatch]
fn added(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 3));
    let (mut a, mut b) = &x + &y;
    let mut sum = 0.0;
    for k in 0..n % 6 {
        sum += a.d[k as usize] * 2.0 - b.d[1];
        (a, b) = (b, a);
    }
    sum + y.spent() * 0.5 + x.spent()
}

#[autobatch]
fn subtracted(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n + 5));
    let middle = &x - &y;
    let first = x.spent();
    let mut sum = first;
    for k in 0..n % 7 {
        sum = sum * 0.5 + middle * k as f64;
    }
    sum + y.spent()
}

#[autobatch]
fn remainder_that_may_lend(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut sum = 0.0;
    let some = &x % (n % 12);
    for k in 0..n % 4 {
        sum += some.map_or(-1.0, |v| v + k as f64);
    }
    sum + x.spent()
}

#[autobatch]
fn chain_of_operators(n: u64) -> f64 {
    let (x, y) = (Rows::of(n), Rows::of(n * 2));
    let both = (&x * 3.0) & &y;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += both[(k % 2) as usize][(k % 8) as usize];
        k /= 2;
    }
    sum + x.spent() + y.spent()
}

#[autobatch]
fn by_index(n: u64) -> f64 {
    let x = Rows::of(n);
    let entry = &x[n + 1];
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += entry + k as f64;
        k /= 2;
    }
    sum + x.spent()
}

#[autobatch]
fn by_exclusive_index(n: u64) -> f64 {
    let mut x = Rows::of(n);
    let entry = &mut x[n + 1];
    for k in 0..n % 9 {
        *entry = *entry * 0.5 + k as f64;
    }
    x.spent()
}

#[autobatch]
fn by_range_index(n: u64) -> f64 {
    let x = Rows::of(n);
    let part = &x.heap[1..1 + (n % 7) as usize];
    let mut sum = 0.0;
    for (k, v) in part.iter().enumerate() {
        if k != 2 {
            sum += v * k as f64;
        }
    }
    sum + part.len() as f64 + x.spent()
}

#[autobatch]
fn by_deref(n: u64) -> f64 {
    let x = Wrapped(Rows::of(n));
    let inner = &x.d;
    let whole: &Rows = &x;
    let mut sum = 0.0;
    let mut k = n;
    while k > 0 {
        sum += inner[(k % 8) as usize] + whole.d[0];
        k /= 2;
    }
    sum + x.0.spent()
}

#[autobatch]
fn by_exclusive_deref(n: u64) -> f64 {
    let mut x = Wrapped(Rows::of(n));
    let inner = &mut *x;
    let last = inner.d.last_mut().unwrap();
    for k in 0..n % 6 {
        *last += k as f64 * 0.5;
    }
    let sum = x.d[7];
    sum + x.0.spent()
}

#[autobatch]
fn deref_of_a_box(n: u64) -> f64 {
    let x = Box::new(Rows::of(n));
    let rows = &*x;
    let first = &rows.d[..2];
    let mut sum = 0.0;
    for k in 0..n % 5 {
        sum += first[k as usize % 2];
    }
    let moved = *x;
    sum + moved.spent()
}

promises! {
    a_borrow_by_a_product_stays_valid: multiplied, multiplied_batched_with, numbers();
    a_borrow_by_a_quotient_stays_valid: divided, divided_batched_with, numbers();
    a_borrow_by_a_negation_stays_valid: negated, negated_batched_with, numbers();
    a_borrow_by_a_complement_stays_valid: complemented, complemented_batched_with, numbers();
    a_borrow_by_a_shift_stays_valid: shifted_left, shifted_left_batched_with, numbers();
    an_iterator_by_a_shift_stays_valid: shifted_right, shifted_right_batched_with, numbers();
    borrows_of_both_by_a_sum_stay_valid: added, added_batched_with, numbers();
    a_borrow_of_one_by_a_difference_stays_valid: subtracted, subtracted_batched_with, numbers();
    a_borrow_by_a_remainder_stays_valid: remainder_that_may_lend, remainder_that_may_lend_batched_with, numbers();
    a_borrow_through_operators_stays_valid: chain_of_operators, chain_of_operators_batched_with, numbers();
    a_borrow_by_an_index_stays_valid: by_index, by_index_batched_with, numbers();
    an_exclusive_borrow_by_an_index_is_written: by_exclusive_index, by_exclusive_index_batched_with, numbers();
    a_borrow_by_a_range_stays_valid: by_range_index, by_range_index_batched_with, numbers();
    a_borrow_by_deref_stays_valid: by_deref, by_deref_batched_with, numbers();
    an_exclusive_borrow_by_deref_is_written: by_exclusive_deref, by_exclusive_deref_batched_with, numbers();
    the_value_in_a_box_stays_valid: deref_of_a_box, deref_of_a_box_batched_with, numbers();
}
