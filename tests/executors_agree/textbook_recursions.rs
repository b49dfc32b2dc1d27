//! Textbook recursions: Rosetta Code, Knuth, Sedgewick, "Structure and Interpretation of Computer Programs".
//! Typed anew from the algorithm; nothing is changed for the sake of batching, and all of them batch under `strict`.

#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop, clippy::too_many_arguments, clippy::many_single_char_names)] // as in the books

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 211];

/// Ackermann and Péter.
#[autobatch(strict)]
fn ackermann(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

/// The towers of Hanoi; the moves are written down.
#[autobatch(strict)]
fn hanoi(n: u32, from: char, to: char, via: char) -> Vec<(char, char)> {
    if n == 0 {
        return Vec::new();
    }
    let mut moves = hanoi(n - 1, from, via, to);
    moves.push((from, to));
    moves.extend(hanoi(n - 1, via, to, from));
    moves
}

/// Takeuchi's function.
#[autobatch(strict)]
fn tak(x: i32, y: i32, z: i32) -> i32 {
    if y >= x { z } else { tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) }
}

/// Hofstadter's Q sequence, as defined.
#[autobatch(strict)]
fn hofstadter_q(n: u64) -> u64 {
    if n <= 2 { 1 } else { hofstadter_q(n - hofstadter_q(n - 1)) + hofstadter_q(n - hofstadter_q(n - 2)) }
}

/// Hofstadter's female and male sequences.
#[autobatch(strict)]
mod figure {
    pub(super) fn female(n: u32) -> u32 {
        if n == 0 { 1 } else { n - male(female(n - 1)) }
    }

    pub(super) fn male(n: u32) -> u32 {
        if n == 0 { 0 } else { n - female(male(n - 1)) }
    }
}

/// Catalan numbers by their convolution.
#[autobatch(strict)]
fn catalan(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    let mut sum = 0;
    for i in 0..n {
        sum += catalan(i) * catalan(n - 1 - i);
    }
    sum
}

/// The ways to change an amount (SICP 1.2.2).
#[autobatch(strict)]
fn change(amount: i64, coins: &[i64]) -> u64 {
    if amount == 0 {
        1
    } else if amount < 0 || coins.is_empty() {
        0
    } else {
        change(amount, &coins[1..]) + change(amount - coins[0], coins)
    }
}

/// Partitions of `n` into parts of at most `k`.
#[autobatch(strict)]
fn partitions(n: i32, k: i32) -> u64 {
    if n == 0 {
        return 1;
    }
    if n < 0 || k == 0 {
        return 0;
    }
    partitions(n, k - 1) + partitions(n - k, k)
}

/// Queens that do not attack each other, by backtracking over bit masks (Wirth's problem, Richards' solution).
#[autobatch]
fn queens(all: u32, columns: u32, left: u32, right: u32) -> u32 {
    if columns == all {
        return 1;
    }
    let mut count = 0;
    let mut free = all & !(columns | left | right);
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free &= free - 1;
        count += queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    count
}

/// Levenshtein's distance by its recursion.
#[autobatch]
fn levenshtein(#[each] a: &[u8], #[each] b: &[u8]) -> usize {
    match (a, b) {
        ([], b) => b.len(),
        (a, []) => a.len(),
        ([x, a_rest @ ..], [y, b_rest @ ..]) => {
            if x == y {
                levenshtein(a_rest, b_rest)
            } else {
                1 + levenshtein(a_rest, b).min(levenshtein(a, b_rest)).min(levenshtein(a_rest, b_rest))
            }
        }
    }
}

/// The longest common subsequence, as a string.
#[autobatch]
fn common_subsequence(#[each] a: &str, #[each] b: &str) -> String {
    let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else {
        return String::new();
    };
    let (rest_a, rest_b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
    if x == y {
        return format!("{x}{}", common_subsequence(rest_a, rest_b));
    }
    let (with, without) = (common_subsequence(a, rest_b), common_subsequence(rest_a, b));
    if with.len() >= without.len() { with } else { without }
}

/// A pattern with `?` and `*`, Kernighan and Pike's way.
#[autobatch(strict)]
fn wildcard(pattern: &[u8], #[each] text: &[u8]) -> bool {
    match pattern.first() {
        None => text.is_empty(),
        Some(b'*') => wildcard(&pattern[1..], text) || (!text.is_empty() && wildcard(pattern, &text[1..])),
        Some(b'?') => !text.is_empty() && wildcard(&pattern[1..], &text[1..]),
        Some(c) => text.first() == Some(c) && wildcard(&pattern[1..], &text[1..]),
    }
}

/// Merge sort of a vector that is handed on.
#[autobatch(strict)]
fn merge_sort(mut v: Vec<i32>) -> Vec<i32> {
    if v.len() <= 1 {
        return v;
    }
    let right = v.split_off(v.len() / 2);
    let left = merge_sort(v);
    let right = merge_sort(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut a, mut b) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        merged.extend(if x <= y { a.next() } else { b.next() });
    }
    merged.extend(a);
    merged.extend(b);
    merged
}

/// All permutations, by insertion of the first element.
#[autobatch(strict)]
fn permutations(mut items: Vec<u8>) -> Vec<Vec<u8>> {
    let Some(last) = items.pop() else { return vec![vec![]] };
    let mut all = Vec::new();
    for shorter in permutations(items) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, last);
            all.push(longer);
        }
    }
    all
}

/// 0-1 knapsack, with or without the first item.
#[autobatch(strict)]
fn knapsack(items: &[(u32, u32)], room: u32) -> u32 {
    match items {
        [] => 0,
        [(weight, _), rest @ ..] if *weight > room => knapsack(rest, room),
        [(weight, value), rest @ ..] => knapsack(rest, room).max(value + knapsack(rest, room - weight)),
    }
}

/// The determinant by Laplace's expansion along the first row.
#[autobatch(strict)]
fn determinant(matrix: Vec<Vec<f64>>) -> f64 {
    if matrix.len() == 1 {
        return matrix[0][0];
    }
    let mut sum = 0.0;
    for column in 0..matrix.len() {
        let minor = matrix[1..].iter().map(|row| [&row[..column], &row[column + 1..]].concat()).collect();
        let sign = if column % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * matrix[0][column] * determinant(minor);
    }
    sum
}

/// Arithmetic expressions by recursive descent; each function returns where it stopped.
#[autobatch(strict)]
mod calculator {
    pub(super) fn expression(#[each] text: &[u8], at: usize) -> Option<(f64, usize)> {
        let (mut value, mut at) = term(text, at)?;
        while let Some(sign @ (b'+' | b'-')) = text.get(at) {
            let (other, end) = term(text, at + 1)?;
            value = if *sign == b'+' { value + other } else { value - other };
            at = end;
        }
        Some((value, at))
    }

    fn term(text: &[u8], at: usize) -> Option<(f64, usize)> {
        let (mut value, mut at) = factor(text, at)?;
        while let Some(sign @ (b'*' | b'/')) = text.get(at) {
            let (other, end) = factor(text, at + 1)?;
            value = if *sign == b'*' { value * other } else { value / other };
            at = end;
        }
        Some((value, at))
    }

    fn factor(text: &[u8], at: usize) -> Option<(f64, usize)> {
        match text.get(at)? {
            b'(' => {
                let (value, at) = expression(text, at + 1)?;
                (text.get(at) == Some(&b')')).then_some((value, at + 1))
            }
            b'-' => factor(text, at + 1).map(|(value, at)| (-value, at)),
            b'0'..=b'9' => {
                let digits = text[at..].iter().take_while(|c| c.is_ascii_digit()).count();
                let number = std::str::from_utf8(&text[at..at + digits]).ok()?;
                Some((number.parse().ok()?, at + digits))
            }
            _ => None,
        }
    }
}

#[test]
fn recursions_on_numbers() {
    let pairs: Vec<(u64, u64)> = (0..12).map(|i| (i % 3, i / 4)).collect();
    agree_at(
        &SIZES,
        &pairs,
        |b| ackermann(b.0, b.1),
        |b, o| ackermann_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    assert_eq!(ackermann(2, 3), 9);

    let triples: Vec<(i32, i32, i32)> = (0..15).map(|i| (i % 5, i * 5 % 4, i * 3 % 3)).collect();
    agree_at(
        &SIZES,
        &triples,
        |b| tak(b.0, b.1, b.2),
        |b, o| tak_batched_with(column(b, |b| b.0), column(b, |b| b.1), column(b, |b| b.2), o),
    );

    let n: Vec<u64> = (0..11).collect();
    agree_at(&SIZES, &n, |n| hofstadter_q(*n), |n, o| hofstadter_q_batched_with(n, o));
    assert_eq!([9, 10, 11].map(hofstadter_q), [6, 6, 6]);
    let n: Vec<u32> = (0..12).collect();
    agree_at(&SIZES, &n, |n| figure::female(*n), |n, o| figure::female_batched_with(n, o));
    agree_at(&SIZES, &n, |n| figure::male(*n), |n, o| figure::male_batched_with(n, o));
    let n: Vec<u64> = (0..6).collect();
    agree_at(&SIZES, &n, |n| catalan(*n), |n, o| catalan_batched_with(n, o));
    assert_eq!(catalan(8), 1430);

    let amounts: Vec<i64> = (0..12).map(|i| i * 7 % 31).collect();
    let coins = [25, 10, 5, 1];
    agree_at(&SIZES, &amounts, |a| change(*a, &coins), |a, o| change_batched_with(a, &coins, o));
    assert_eq!(change(100, &[50, 25, 10, 5, 1]), 292);

    let parts: Vec<(i32, i32)> = (0..14).map(|n| (n, 1 + n % 6)).collect();
    agree_at(
        &SIZES,
        &parts,
        |b| partitions(b.0, b.1),
        |b, o| partitions_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );

    let boards: Vec<u32> = (0..5).map(|n| (1 << n) - 1).collect();
    agree_at(
        &SIZES,
        &boards,
        |all| queens(*all, 0, 0, 0),
        |all, o| queens_batched_with(all, autobatch::same(0), autobatch::same(0), autobatch::same(0), o),
    );
    assert_eq!(queens(255, 0, 0, 0), 92);

    let items = [(3, 7), (5, 4), (2, 6), (7, 9), (4, 5), (1, 2)];
    let rooms: Vec<u32> = (0..20).collect();
    agree_at(
        &SIZES,
        &rooms,
        |room| knapsack(&items, *room),
        |room, o| knapsack_batched_with(&items, room, o),
    );
}

#[test]
fn recursions_on_texts() {
    let words = ["lawn", "flaw", "", "ban", "can", "ab", "banana"];
    let pairs: Vec<(&str, &str)> = (0..14)
        .map(|i| (words[i % 7], words[(i * 3 + 1) % 6]))
        .filter(|(a, b)| a.len() + b.len() < 12)
        .collect();
    let bytes = |b: &[(&'static str, &'static str)],
                 of: fn(&(&'static str, &'static str)) -> &'static str|
     -> Vec<&'static [u8]> { b.iter().map(|b| of(b).as_bytes()).collect() };
    agree_at(
        &SIZES,
        &pairs,
        |(a, b)| levenshtein(a.as_bytes(), b.as_bytes()),
        |b, o| levenshtein_batched_with(bytes(b, |b| b.0), bytes(b, |b| b.1), o),
    );
    assert_eq!(levenshtein(b"kitten", b"sitting"), 3);
    agree_at(
        &SIZES,
        &pairs,
        |(a, b)| common_subsequence(a, b),
        |b, o| common_subsequence_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    agree_at(
        &SIZES,
        &pairs,
        |(a, _)| wildcard(b"*a?n*", a.as_bytes()),
        |b, o| wildcard_batched_with(b"*a?n*", bytes(b, |b| b.0), o),
    );
    let texts = ["1+2*3", "(1+2)*3", "-(4-10)/3-1", "2*", "7/(2-2)", "((8))", ""];
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    agree_at(
        &SIZES,
        &texts,
        |text| calculator::expression(text, 0),
        |text, o| calculator::expression_batched_with(text, autobatch::same(0), o),
    );
    assert_eq!(calculator::expression(b"-(4-10)/3-1", 0), Some((1.0, 11)));
}

#[test]
fn recursions_on_owned_data() {
    let n: Vec<u32> = (0..7).collect();
    agree_at(
        &SIZES,
        &n,
        |n| hanoi(*n, 'a', 'b', 'c'),
        |n, o| hanoi_batched_with(n, autobatch::same('a'), autobatch::same('b'), autobatch::same('c'), o),
    );
    let lists: Vec<Vec<i32>> = (0..9).map(|n| (0..n).map(|i| i * 31 % 17 - i % 3).collect()).collect();
    agree_at(&SIZES, &lists, |v| merge_sort(v.clone()), |v, o| merge_sort_batched_with(v, o));
    let sets: Vec<Vec<u8>> = (0..5).map(|n| (0..n).collect()).collect();
    agree_at(&SIZES, &sets, |v| permutations(v.clone()), |v, o| permutations_batched_with(v, o));
    let matrices: Vec<Vec<Vec<f64>>> = (1..6)
        .map(|n| {
            (0..n).map(|i| (0..n).map(|j| f64::from((i * 7 + j * j * 3) % 11) - 4.5).collect()).collect()
        })
        .collect();
    agree_at(&SIZES, &matrices, |m| determinant(m.clone()), |m, o| determinant_batched_with(m, o));
}

/// As clippy writes it.
#[autobatch(strict)]
fn hailstones(mut n: u64, most: u32) -> u32 {
    let mut steps = 0;
    while n != 1 && steps < most {
        n = if n.is_multiple_of(2) { n / 2 } else { n.wrapping_mul(3).wrapping_add(1) };
        steps += 1;
    }
    steps
}

#[test]
fn multiples_are_asked_for() {
    let inputs: Vec<(u64, u32)> = (0..70).map(|i| (i * i, 3 + i as u32 * 7 % 90)).collect();
    agree_at(
        &[1, 211],
        &inputs,
        |&(n, most)| hailstones(n, most),
        |b, o| hailstones_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}
