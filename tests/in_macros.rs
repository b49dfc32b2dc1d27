//! Recursive calls in the arguments of the standard macros.

mod common;

use std::fmt::Write;

use autobatch::autobatch;
use common::agree_at;

#[autobatch(strict)]
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

#[autobatch(strict)]
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
#[autobatch(strict)]
fn left_early(n: u32) -> Option<Vec<u32>> {
    let mut all = vec![n.checked_sub(1)?, if n == 5 { return None } else { n }];
    while all.len() < 4 && !matches!(n.checked_sub(2)?, 4 | 6) {
        all.push(format!("{}", n.checked_sub(3)?).len() as u32);
    }
    Some(all)
}

#[test]
fn arguments_are_values() {
    let ns: Vec<u32> = (0..9).collect();
    agree_at(&[0, 1, 97], &ns, |n| listed(*n), |n, o| listed_batched_with(n, o));
    agree_at(&[0, 1, 97], &ns, |n| left_early(*n), |n, o| left_early_batched_with(n, o));
    agree_at(&[0, 1, 97], &ns, |n| worded(*n), |n, o| worded_batched_with(n, o));
}
