//! A call passes the referents of one parameter on as another parameter.

#![allow(clippy::only_used_in_recursion)]

use crate::common::{agree_at, column};
use autobatch::autobatch;

/// Words of two members' lists, turn by turn.
#[autobatch(strict)]
fn turns(depth: u32, #[each] xs: &[u32], #[each] ys: &[u32]) -> u32 {
    match xs {
        [first, rest @ ..] if depth > 0 => turns(depth - 1, ys, rest).wrapping_mul(31).wrapping_add(*first),
        _ => ys.len() as u32,
    }
}

#[autobatch(strict)]
fn same_for_all(depth: u32, xs: &[u32], ys: &[u32], #[each] zs: &[u32]) -> u32 {
    if depth == 0 {
        return xs.iter().chain(zs).sum();
    }
    same_for_all(depth - 1, ys, zs, xs).wrapping_mul(3) ^ same_for_all(depth - 1, zs, xs, ys)
}

/// A reference to references, and type parameters behind one.
#[autobatch(strict)]
fn words<T: PartialOrd + Copy>(
    depth: u32,
    #[each] a: &[&str],
    #[each] b: &[&str],
    #[each] c: &[T],
    d: &[T],
) -> usize {
    if depth == 0 {
        return a.iter().map(|word| word.len()).sum::<usize>() + usize::from(c.first() < d.first());
    }
    2 * words(depth - 1, b, &a[a.len() / 2..], d, c) + 1
}

/// The result borrows from one, the others change places.
#[autobatch]
fn longest<'a>(depth: u32, #[each] found: &'a str, #[each] b: &str, c: &str) -> &'a str {
    if depth == 0 || b.len() > c.len() {
        return found;
    }
    longest(depth - 1, &found[found.len().min(1)..], c, b)
}

#[test]
fn references_change_places() {
    let lists: Vec<(u32, Vec<u32>, Vec<u32>)> =
        (0..20).map(|i| (i % 7, (0..i % 5).collect(), (i..i + i % 4).collect())).collect();
    agree_at(
        &[0, 1, 97],
        &lists,
        |i| turns(i.0, &i.1, &i.2),
        |b, o| {
            turns_batched_with(
                column(b, |i| i.0),
                &column(b, |i| i.1.clone()),
                &column(b, |i| i.2.clone()),
                o,
            )
        },
    );
    let (xs, ys) = (vec![1, 2, 3], vec![5, 8]);
    agree_at(
        &[0, 1, 97],
        &lists,
        |i| same_for_all(i.0, &xs, &ys, &i.2),
        |b, o| same_for_all_batched_with(column(b, |i| i.0), &xs, &ys, &column(b, |i| i.2.clone()), o),
    );
    let text = String::from("one two three four");
    let words_of = |n: u32| text.split(' ').take(n as usize % 5).collect::<Vec<&str>>();
    let d = [0.5];
    let c = |n: u32| vec![f64::from(n % 3); n as usize % 2];
    agree_at(
        &[0, 1, 97],
        &lists,
        |i| words(i.0, &words_of(i.0), &["a"], &c(i.0), &d),
        |b, o| {
            let (first, second) = (column(b, |i| words_of(i.0)), vec![vec!["a"]; b.len()]);
            words_batched_with(column(b, |i| i.0), &first, &second, &column(b, |i| c(i.0)), &d, o)
        },
    );
    let (depths, found) = (column(&lists, |i| i.0), vec![&text[..]; lists.len()]);
    let rest = column(&lists, |i| &text[i.0 as usize..]);
    let want: Vec<&str> = (0..lists.len()).map(|i| longest(depths[i], found[i], rest[i], "a")).collect();
    assert_eq!(longest_batched(&depths, &found, &rest, "a"), want);
}
