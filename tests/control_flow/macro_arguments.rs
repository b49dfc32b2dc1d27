//! Recursive calls and borrows of locals in the arguments of macros.

#![allow(clippy::useless_vec)] // written as users write

use std::fmt::Write;

use crate::common::agree_at;
use autobatch::autobatch;

#[autobatch]
fn listed(n: u32) -> Vec<u32> {
    if n < 2 {
        return vec![n; 2];
    }
    let below = vec![listed(n - 1).len() as u32, n, listed(n / 2)[0]];
    let same = vec![listed(n / 3); 2];
    assert_eq!(same[0], listed(n / 3), "the same twice of {n}");
    assert!(listed(n / 4).len() > 1, "{below:?}");
    [below, same.concat()].concat()
}

#[autobatch]
fn worded(n: u32) -> String {
    if n == 0 {
        return String::from("0");
    }
    if matches!(worded(n / 3).len(), 1 | 4..=9) {
        return format!("{n}{}", worded(n - 1));
    }
    let mut text = String::new();
    write!(text, "[{below:>3}]", below = worded(n / 2)).unwrap();
    writeln!(text, "{}", if n > 4 { worded(n / 5) } else { n.to_string() }).unwrap();
    text
}

/// A `?` and a `return` in the arguments.
#[autobatch]
fn left_early(n: u32) -> Option<Vec<u32>> {
    let mut all = vec![n.checked_sub(1)?, if n == 5 { return None } else { n }];
    while all.len() < 4 && !matches!(n.checked_sub(2)?, 4 | 6) {
        all.push(format!("{}", n.checked_sub(3)?).len() as u32);
    }
    Some(all)
}

/// Does something when it is dropped.
struct Guard<'a>(&'a [u64]);
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        assert!(self.0.len() < 100);
    }
}

macro_rules! lend {
    ($x:expr) => {
        &$x
    };
}
macro_rules! guarded {
    ($x:expr) => {
        Guard(&$x)
    };
}
macro_rules! numbered {
    ($x:expr, $n:expr) => {
        $x.iter().enumerate().skip($n)
    };
}
macro_rules! length_of {
    ($x:expr) => {
        count(&$x) + 1
    };
}

fn count(v: &[u64]) -> u64 {
    v.len() as u64
}

#[autobatch]
mod borrows {
    use super::{Guard, count};

    fn made(n: u64) -> Vec<u64> {
        (0..n % 50 + 14).map(|k| k * n).collect()
    }
    fn length(v: &[u64], n: u64) -> u64 {
        if n == 0 { v.iter().sum::<u64>() % 101 } else { length(v, n - 1) + 1 }
    }
    pub(super) fn the_whole(n: u64) -> u64 {
        let kept = made(n);
        let r = lend!(kept);
        let x = length(&[n], n % 7);
        x + r.len() as u64
    }
    pub(super) fn a_part(n: u64) -> u64 {
        let kept = made(n);
        let r = lend!(kept[1..]);
        let x = length(r, n % 7);
        x + kept[0] + r.len() as u64
    }
    pub(super) fn in_a_tuple(n: u64) -> u64 {
        let kept = made(n);
        let (r, k) = (lend!(kept), 2);
        let x = length(&[n, k], n % 7);
        x + r.len() as u64
    }
    pub(super) fn in_a_block(n: u64) -> u64 {
        let kept = made(n);
        let r = { lend!(kept) };
        let mut i = 0;
        while i < n {
            i += 1 + r[1] % 3;
        }
        i + kept[0]
    }
    pub(super) fn moved_behind(n: u64) -> u64 {
        let kept = made(n);
        let r = lend!(kept);
        let x = length(r, n % 7);
        let moved = kept;
        x + moved[0] + length(&moved, 1)
    }
    pub(super) fn to_a_guard(n: u64) -> u64 {
        let kept = made(n);
        let g = guarded!(kept);
        let x = length(&kept, n % 7);
        x + kept[0] + g.0[1]
    }
    pub(super) fn to_a_guard_only(n: u64) -> u64 {
        let kept = made(n);
        let _g = guarded!(kept);
        let x = length(&kept, n % 7);
        x + kept[0]
    }
    pub(super) fn to_an_iterator(n: u64) -> u64 {
        let kept = made(n);
        let mut sum = 0;
        for (i, k) in numbered!(kept, 3) {
            sum += length(&[*k, i as u64], k % 3);
        }
        sum + length(&kept, 2)
    }
    pub(super) fn to_a_list(n: u64) -> u64 {
        let kept = made(n);
        let r = vec![&kept, &kept];
        let x = length(r[0], n % 7);
        x + r[1].len() as u64 + kept[0]
    }
    pub(super) fn to_a_function(n: u64) -> u64 {
        let kept = made(n);
        let x = length_of!(kept) * 2;
        let y = length(&kept, x % 7);
        let moved = kept;
        x + y + length(&moved, 1)
    }
}

#[test]
fn locals_borrowed_in_macros_stay_where_they_are() {
    let ns: Vec<u64> = (0..12).collect();
    macro_rules! agree {
        ($($f:ident $batched:ident)*) => { $(
            agree_at(&[0, 1, 97], &ns, |n| borrows::$f(*n), |n, o| borrows::$batched(n, o));
        )* };
    }
    agree!(the_whole the_whole_batched_with a_part a_part_batched_with in_a_tuple in_a_tuple_batched_with);
    agree!(in_a_block in_a_block_batched_with moved_behind moved_behind_batched_with);
    agree!(to_a_guard to_a_guard_batched_with to_a_guard_only to_a_guard_only_batched_with);
    agree!(to_an_iterator to_an_iterator_batched_with to_a_list to_a_list_batched_with);
    agree!(to_a_function to_a_function_batched_with);
}

#[test]
fn arguments_are_values() {
    let ns: Vec<u32> = (0..9).collect();
    agree_at(&[0, 1, 97], &ns, |n| listed(*n), |n, o| listed_batched_with(n, o));
    agree_at(&[0, 1, 97], &ns, |n| left_early(*n), |n, o| left_early_batched_with(n, o));
    agree_at(&[0, 1, 97], &ns, |n| worded(*n), |n, o| worded_batched_with(n, o));
}
