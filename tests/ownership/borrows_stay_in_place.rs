//! A local is borrowed in front of a branch, and both are used where the paths meet: neither moves.

use autobatch::autobatch;

use crate::common::promises::{Rows, numbers, promises};

/// An exclusive borrow across a branch with a call that returns.
#[autobatch]
fn an_exclusive_borrow(n: u64) -> f64 {
    if n == 0 {
        return 0.5;
    }
    let mut rows = Rows::of(n);
    let h = &mut rows.d[(n % 8) as usize];
    if n % 3 == 0 {
        *h += 1.0;
    } else {
        if *h > 20.0 {
            return an_exclusive_borrow(n / 2) + 1.0;
        }
        *h *= 0.5;
    }
    let told = *h;
    told + rows.spent()
}

#[autobatch]
fn a_shared_borrow(n: u64) -> f64 {
    let rows = Rows::of(n);
    let first = &rows.d[(n % 8) as usize];
    let mut sum = 1.0;
    if n % 2 == 0 {
        let mut k = n;
        while k > 0 {
            sum = sum * 0.5 + k as f64;
            k /= 3;
        }
    } else if *first > 9.0 {
        sum += 2.0;
    }
    sum + first * 2.0 + rows.d[1]
}

/// The list is assigned in one branch, and lent behind it.
#[autobatch]
fn assigned_in_a_branch(n: u64) -> f64 {
    if n == 0 {
        return 2.0;
    }
    let mut rows = Rows::of(n);
    if n % 5 == 2 {
        if rows.d[0] > 4.0 {
            return assigned_in_a_branch(n - 1) * 0.5;
        }
        rows = Rows::of(n + 7);
    }
    let view = &rows.heap;
    let third = view[3];
    third + rows.spent()
}

/// Branches in branches, each with a borrow in front of it.
#[autobatch]
fn borrows_in_branches(n: u64) -> f64 {
    if n == 0 {
        return 1.0;
    }
    let mut rows = Rows::of(n);
    let head = &mut rows.d[0];
    let mut sum = *head;
    if n % 2 == 0 {
        let mut inner = Rows::of(n + 1);
        let part = &mut inner.heap[2];
        if n % 3 == 0 {
            if *part > 6.0 {
                return borrows_in_branches(n / 4) + sum;
            }
            *part += 0.25;
        } else {
            *part -= 0.5;
        }
        sum += *part;
        sum += inner.spent();
    }
    *head += sum;
    rows.spent()
}

promises! {
    an_exclusive_borrow_stays: an_exclusive_borrow, an_exclusive_borrow_batched_with, numbers();
    a_shared_borrow_stays: a_shared_borrow, a_shared_borrow_batched_with, numbers();
    what_a_branch_assigns_is_lent: assigned_in_a_branch, assigned_in_a_branch_batched_with, numbers();
    borrows_stay_in_branches: borrows_in_branches, borrows_in_branches_batched_with, numbers();
}
