//! A type that only a later use tells is the same in every piece of generated code: a variable is bound there in several places, and the
//! use that tells its type may stand in another one.

// As users write, not as one should.
#![allow(clippy::all, unused_assignments)]

use std::cell::Cell;

use autobatch::autobatch;

use crate::common::promises::{numbers, promises};

/// Counts what it is given when it is dropped.
struct Entered<'a>(&'a Cell<u64>, u64);

impl Entered<'_> {
    fn count(&self) -> u64 {
        self.0.get() ^ self.1
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() * 3 + self.1);
    }
}

/// The element's type stands in the path of a method only.
#[autobatch]
fn told_by_a_path(n: u64) -> u64 {
    if n == 0 {
        return 3;
    }
    let score = Cell::new(n);
    let told = {
        let mut entered = None;
        let mut k = 1 + n % 3;
        while k > 0 {
            k -= 1;
            let v: u64 = entered.as_ref().map_or(6, Entered::count);
            score.set(score.get() + v);
        }
        if n % 2 == 0 {
            entered = Some(Entered(&score, n));
        }
        entered.as_ref().map_or(6, Entered::count)
    };
    told ^ score.get() ^ told_by_a_path(n / 3)
}

/// Nothing but `None` is ever in it, and each use makes it anew.
#[autobatch]
fn told_by_a_path_alone(n: u64) -> u64 {
    if n == 0 {
        return 5;
    }
    let mut sum = 0;
    let mut entered = None;
    let mut k = 1 + n % 3;
    while k > 0 {
        k -= 1;
        let v: u64 = entered.as_ref().map_or(6, Entered::count);
        sum += told_by_a_path_alone(n / 4) * v;
    }
    entered = None;
    sum * 3 + n + entered.as_ref().map_or(6, Entered::count)
}

fn enter(score: &Cell<u64>, n: u64) -> Entered<'_> {
    Entered(score, n)
}

fn weigh(n: u64) -> Option<u64> {
    (n % 5 != 0).then(|| n.rotate_left(7))
}

/// What the first binding holds nobody reads: a call that returns stands in front of the others.
#[autobatch]
fn bound_before_a_return(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let score = Cell::new(n);
    let told = {
        let mut entered = None;
        {
            if n % 3 == 1 {
                let mut sum = 5;
                for k in 0..n % 4 {
                    sum ^= bound_before_a_return(k);
                }
                return sum;
            }
            // So much work that it is a step of its own.
            entered = None;
            entered = Some(enter(&score, n.max(3)));
            if weigh(n).is_some_and(|w| w % 2 == 0) {
                score.set(weigh(n + 1).unwrap_or(4));
            }
        }
        entered.as_ref().map_or(6, Entered::count)
    };
    told + score.get() + weigh(told).unwrap_or(1) + weigh(n * 3).unwrap_or(2)
}

/// The type is told behind the loop in which the first piece of code is cut off.
#[autobatch]
fn told_behind_a_loop(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let mut found = None;
    let mut k = n;
    while k > 1 {
        if found.is_none() && told_behind_a_loop(k / 2) % 3 == 1 {
            found = Some(k);
        }
        k /= 2;
    }
    found.as_ref().map_or(4, u64::count_ones_of)
}

trait CountOnes {
    fn count_ones_of(&self) -> u64;
}

impl CountOnes for u64 {
    fn count_ones_of(&self) -> u64 {
        u64::from(self.count_ones()) + self
    }
}

/// One branch makes the variable, a loop in the other writes what tells its type.
#[autobatch]
fn told_in_a_loop_of_a_branch(n: u64) -> u64 {
    let mut list = Vec::new();
    if n % 3 != 0 {
        let mut k = n;
        while k > 0 {
            list.push(k % 7);
            k /= 2;
        }
    }
    list.first().map_or(9, |x| x.count_ones() as u64) + list.len() as u64
}

/// A literal whose width the loop in a branch tells.
#[autobatch]
fn a_literal_told_by_a_branch(n: u64) -> f32 {
    let step = n as f32 * 0.25;
    let mut e = 0.0;
    if n % 4 != 1 {
        let mut k = n;
        while k > 0 {
            e += step / (k as f32);
            k /= 3;
        }
    }
    e.max(0.7) + step
}

/// Nobody reads it, several places write it.
#[autobatch]
fn nobody_reads_it(n: u64) -> u64 {
    let mut last = None;
    let mut k = n;
    let mut sum = 1;
    while k > 0 {
        sum = sum * 5 + k;
        last = Some(sum);
        k /= 2;
    }
    let _unread = last;
    sum
}

/// The value of a loop that ends in several places.
#[autobatch]
fn the_value_of_a_loop(n: u64) -> u64 {
    let mut k = n;
    let first = loop {
        if k % 7 == 3 {
            break Some(k);
        }
        if k == 0 {
            break None;
        }
        k /= 2;
    };
    let mut other = None;
    if n % 2 == 1 {
        let mut j = n;
        while j > 4 {
            other = first.map(|x| x + j);
            j -= 3;
        }
    }
    other.as_ref().or(first.as_ref()).map_or(1, u64::count_ones_of)
}

promises! {
    a_method_s_path_tells: told_by_a_path, told_by_a_path_batched_with, numbers();
    only_a_path_tells: told_by_a_path_alone, told_by_a_path_alone_batched_with, numbers();
    a_binding_in_front_of_a_return: bound_before_a_return, bound_before_a_return_batched_with, numbers();
    a_use_behind_a_loop_tells: told_behind_a_loop, told_behind_a_loop_batched_with, numbers();
    a_loop_in_a_branch_tells: told_in_a_loop_of_a_branch, told_in_a_loop_of_a_branch_batched_with, numbers();
    a_branch_tells_the_width_of_a_literal: a_literal_told_by_a_branch, a_literal_told_by_a_branch_batched_with, numbers();
    a_variable_that_nobody_reads: nobody_reads_it, nobody_reads_it_batched_with, numbers();
    a_loop_that_ends_in_several_places: the_value_of_a_loop, the_value_of_a_loop_batched_with, numbers();
}
