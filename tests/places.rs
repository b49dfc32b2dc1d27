//! Locals that live in place stay there during every call that gets what borrows from them, also where the call's result is the
//! function's, and where paths meet behind it on which the local does not exist.

mod common;

use autobatch::autobatch;
use common::{agree_at, column};

#[autobatch(strict)]
fn at_the_end(#[each] x: &[u32], depth: u32) -> u32 {
    if depth == 0 {
        return x.iter().sum();
    }
    let kept: Vec<Vec<u32>> = (0..x.len() % 4)
        .map(|i| {
            let mut x = x.to_vec();
            x.push(i as u32 + depth);
            x
        })
        .collect();
    match kept.as_slice() {
        [] => 0,
        [one] => at_the_end(one, depth - 1),
        [one, .., last] => at_the_end(one, depth - 1) + 3 * at_the_end(last, depth - 1),
    }
}

#[autobatch(strict)]
fn where_paths_meet(#[each] x: &[u32], depth: u32) -> u32 {
    let mut found = 1;
    if depth > 0 {
        found = if x.len().is_multiple_of(3) {
            where_paths_meet(x, depth - 1)
        } else if x.len() % 3 == 1 {
            let kept = vec![x.iter().rev().copied().collect::<Vec<u32>>(), vec![depth; 2]];
            match kept.as_slice() {
                [first, ..] if depth.is_multiple_of(2) => where_paths_meet(first, depth - 1),
                [.., last] => where_paths_meet(last, depth - 1),
                [] => 0,
            }
        } else {
            depth
        };
    }
    found * 3 + x.first().copied().unwrap_or(7)
}

#[test]
fn places_stay_during_calls() {
    let inputs: Vec<(Vec<u32>, u32)> = (0..12).map(|i| ((0..i).collect(), i % 4)).collect();
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| at_the_end(&i.0, i.1),
        |b, o| at_the_end_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |i| where_paths_meet(&i.0, i.1),
        |b, o| where_paths_meet_batched_with(&column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
}
