//! Recursive calls borrow locals: `f(&x)`, `f(&mut x)`, parts of them, temporaries, and `&mut` parameters passed on.

#![allow(clippy::needless_range_loop, clippy::ptr_arg, clippy::useless_vec)] // written as users write

use crate::common::{agree_at, column};
use autobatch::{Executor, Options, autobatch};

const SIZES: [usize; 3] = [0, 1, 97];

#[autobatch]
fn fft(#[each] signal: &[f64]) -> Vec<(f64, f64)> {
    let n = signal.len();
    if n == 1 {
        return vec![(signal[0], 0.0)];
    }
    let evens: Vec<f64> = signal.iter().step_by(2).copied().collect();
    let odds: Vec<f64> = signal.iter().skip(1).step_by(2).copied().collect();
    let even = fft(&evens);
    let odd = fft(&odds);
    let mut out = vec![(0.0, 0.0); n];
    for k in 0..n / 2 {
        let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
        let (c, s) = (angle.cos(), angle.sin());
        let (re, im) = (c * odd[k].0 - s * odd[k].1, c * odd[k].1 + s * odd[k].0);
        out[k] = (even[k].0 + re, even[k].1 + im);
        out[k + n / 2] = (even[k].0 - re, even[k].1 - im);
    }
    out
}

/// An accumulator of the function's own, and one passed on.
#[autobatch]
fn totals(n: u64, total: &mut u64) -> u64 {
    let mut here = n;
    if n > 0 {
        let below = totals(n - 1, &mut here);
        *total += here + below % 3;
        totals(n / 2, total);
    }
    *total + here
}

#[derive(Clone, Debug, PartialEq)]
struct Board {
    rows: [u8; 6],
    placed: Vec<(usize, usize)>,
}

/// A `&mut` parameter passed on as `&`, a part of it, and itself.
#[autobatch]
mod boards {
    use super::Board;

    pub(crate) fn solve(board: &mut Board, row: usize, #[shared] size: usize) -> u32 {
        if row == size {
            return count(board, size);
        }
        let mut found = 0;
        for column in 0..size {
            if free(&board.placed, row, column, 0) {
                board.placed.push((row, column));
                board.rows[row] = column as u8;
                let before = count(board, row + 1);
                found += solve(board, row + 1, size) + before / 100;
                board.placed.pop();
            }
        }
        found
    }

    fn free(placed: &[(usize, usize)], row: usize, column: usize, from: usize) -> bool {
        if from == placed.len() {
            return true;
        }
        let (r, c) = placed[from];
        c != column && row - r != column.abs_diff(c) && free(placed, row, column, from + 1)
    }

    fn count(board: &Board, upto: usize) -> u32 {
        let mut sum = 1;
        let mut i = 0;
        while i < upto {
            sum += u32::from(board.rows[i] > 6);
            i += 1;
        }
        sum
    }
}

#[autobatch]
fn quicksort(#[each] v: &mut [i32]) -> u32 {
    if v.len() < 2 {
        return 1;
    }
    let pivot = v[v.len() / 2];
    let (mut i, mut j) = (0, v.len() - 1);
    loop {
        while v[i] < pivot {
            i += 1;
        }
        while v[j] > pivot {
            j -= 1;
        }
        if i >= j {
            break;
        }
        v.swap(i, j);
        i += 1;
        j -= 1;
    }
    let left = quicksort(&mut v[..i]);
    let right = quicksort(&mut v[i..]);
    assert!(v.is_sorted());
    left + right
}

#[autobatch]
fn merge_sort(#[each] v: &mut [i32]) {
    if v.len() < 2 {
        return;
    }
    let middle = v.len() / 2;
    merge_sort(&mut v[..middle]);
    merge_sort(&mut v[middle..]);
    let mut merged = Vec::with_capacity(v.len());
    let (mut i, mut j) = (0, middle);
    while merged.len() < v.len() {
        if j == v.len() || (i < middle && v[i] <= v[j]) {
            merged.push(v[i]);
            i += 1;
        } else {
            merged.push(v[j]);
            j += 1;
        }
    }
    v.copy_from_slice(&merged);
}

/// A position that is advanced by the calls, parts of a local side by side, temporaries.
#[autobatch]
mod parser {
    pub(crate) struct Work {
        pub(crate) at: usize,
        pub(crate) depths: Vec<u32>,
    }

    pub(crate) fn sum(#[each] text: &str) -> (i64, u32) {
        let mut work = Work { at: 0, depths: vec![] };
        let value = expression(text.as_bytes(), &mut work.at, &mut work.depths, 0);
        let deepest = maximum(&work.depths);
        (value + maximum(&vec![1, value.unsigned_abs() as u32 % 5]) as i64, deepest)
    }

    fn expression(text: &[u8], at: &mut usize, depths: &mut Vec<u32>, depth: u32) -> i64 {
        let mut value = term(text, at, depths, depth);
        while *at < text.len() && (text[*at] == b'+' || text[*at] == b'-') {
            let plus = text[*at] == b'+';
            *at += 1;
            let next = term(text, at, depths, depth);
            value = if plus { value + next } else { value - next };
        }
        value
    }

    fn term(text: &[u8], at: &mut usize, depths: &mut Vec<u32>, depth: u32) -> i64 {
        if text[*at] == b'(' {
            *at += 1;
            let inner = expression(text, at, depths, depth + 1);
            *at += 1;
            return inner;
        }
        depths.push(depth);
        let mut number = 0;
        while *at < text.len() && text[*at].is_ascii_digit() {
            number = number * 10 + i64::from(text[*at] - b'0');
            *at += 1;
        }
        number
    }

    fn maximum(of: &[u32]) -> u32 {
        let mut best = 0;
        let mut i = 0;
        while i < of.len() {
            best = best.max(of[i]);
            i += 1;
        }
        best
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Matrix([[f64; 2]; 2]);

#[autobatch]
impl Matrix {
    /// By value, with `&self` and `&other` inside.
    pub(crate) fn power(self, n: u32) -> Matrix {
        if n == 0 {
            return Matrix([[1.0, 0.0], [0.0, 1.0]]);
        }
        let half = self.power(n / 2);
        let square = Self::times(&half, &half, 0);
        if n % 2 == 1 { Self::times(&square, &self, 1) } else { square }
    }

    fn times(a: &Matrix, b: &Matrix, rounds: u32) -> Matrix {
        let mut out = [[0.0; 2]; 2];
        let mut i = 0;
        while i < 2 {
            let mut j = 0;
            while j < 2 {
                out[i][j] = a.0[i][0] * b.0[0][j] + a.0[i][1] * b.0[1][j];
                j += 1;
            }
            i += 1;
        }
        if rounds > 0 { Matrix(out) } else { Self::times(&Matrix(out), &Matrix([[1.0, 0.0], [0.0, 1.0]]), 1) }
    }
}

/// Stores into an array behind a `&mut`, at an index that a call with the same `&mut` yields.
#[autobatch]
fn stored(n: usize, state: &mut [i32; 3]) -> usize {
    (*state)[(if n > 0 { stored(n - 1, state) } else { 5 }) % 3] = 7 + n as i32;
    state[(if n > 1 { stored(n - 2, state) } else { 8 }) % 3] += 2;
    let read = state[if n > 2 { stored(n - 3, state) % 3 } else { 1 }];
    (read.unsigned_abs() as usize + n) % 5
}

/// `v` is shared data's, but a value of this function's.
#[autobatch]
fn first_value(xs: &[f64], x: &f64, depth: u32, scale: f64) -> f64 {
    match xs.first().copied() {
        Some(v) if depth > 0 => first_value(&xs[1..], &v, depth - 1, scale * 0.5) + x * scale,
        _ => *x * scale,
    }
}

/// Words by their letters.
#[derive(Debug, Default)]
struct Trie {
    next: std::collections::BTreeMap<char, Trie>,
    count: u32,
}

impl crate::common::Bits for &Trie {
    fn same(&self, other: &Self) -> bool {
        std::ptr::eq(*self, *other)
    }
}

/// A method's result borrows from its receiver, not from the local that is borrowed as another argument.
#[autobatch]
impl Trie {
    pub(crate) fn find(&self, #[each] word: &str) -> Option<&Trie> {
        let mut rest = word.chars();
        match rest.next() {
            None => Some(self),
            Some(c) => self.next.get(&c)?.find(rest.as_str()),
        }
    }

    pub(crate) fn longest(&self, #[each] word: &str, most: usize) -> &Trie {
        let own = word.to_string();
        let Some(c) = own.chars().next().filter(|_| most > 0) else { return self };
        let Some(below) = self.next.get(&c) else { return self };
        let end = below.longest(&own[c.len_utf8()..], most - 1);
        if end.count + own.len() as u32 > 1 { end } else { self }
    }
}

/// The same with a lifetime that is named, in a module.
#[autobatch]
mod tries {
    use super::Trie;

    pub(crate) fn seek<'t>(trie: &'t Trie, #[each] word: &str) -> Option<&'t Trie> {
        let own = word.to_string();
        let Some(c) = own.chars().next() else { return Some(trie) };
        seek(trie.next.get(&c)?, &own[c.len_utf8()..])
    }
}

/// Calls borrow results of methods; iterators change the values that they go over.
#[autobatch]
mod method_results {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Counters {
        pub(crate) cells: [u8; 4],
        pub(crate) total: u32,
    }

    impl Counters {
        fn with(&self, i: usize) -> Counters {
            let mut next = *self;
            next.cells[i % 4] += 1;
            next.total += u32::from(next.cells[i % 4]);
            next
        }

        fn all(&self) -> Vec<Counters> {
            (0..4).map(|i| self.with(i)).collect()
        }
    }

    pub(crate) fn outside(#[each] c: &Counters, depth: u32) -> u32 {
        if depth == 0 {
            return c.total;
        }
        let mut found = 0;
        for i in 0..3 {
            found += outside(&c.with(i), depth - 1) % 5;
        }
        found + c.total
    }

    pub(crate) fn own(c: Counters, depth: u32) -> u32 {
        if depth == 0 {
            return sum(&c.all(), 1);
        }
        let mut found = 0;
        for i in 0..3 {
            found +=
                outside(&c.with(i), depth - 1) + own(c.with(i), depth - 1) + sum(&c.with(i).all()[1..], 2);
        }
        found
    }

    fn sum(all: &[Counters], weight: u32) -> u32 {
        if all.is_empty() { 0 } else { weight * all[0].total + sum(&all[1..], weight + 1) }
    }

    pub(crate) fn ages(mut x: Vec<u32>, depth: u32) -> u32 {
        if depth == 0 {
            return x.iter().sum();
        }
        x.push(depth);
        older(x.iter_mut(), depth) + ages(x, depth - 1)
    }

    fn older(mut x: std::slice::IterMut<'_, u32>, depth: u32) -> u32 {
        match x.next() {
            Some(age) if depth > 0 => {
                *age += depth;
                let now = *age;
                now + older(x, depth - 1)
            }
            _ => 0,
        }
    }
}

#[test]
fn results_of_methods_are_borrowed() {
    let counters = |i: u32| method_results::Counters { cells: [i as u8, 1, 0, 2], total: i };
    let inputs: Vec<(method_results::Counters, u32)> = (0..9).map(|i| (counters(i), i % 4)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| method_results::outside(&i.0, i.1),
        |b, o| method_results::outside_batched_with(&column(b, |i| i.0), column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |i| method_results::own(i.0, i.1),
        |b, o| method_results::own_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    let ages: Vec<(Vec<u32>, u32)> = (0..9).map(|i| ((0..i % 4).collect(), i % 5)).collect();
    agree_at(
        &SIZES,
        &ages,
        |i| method_results::ages(i.0.clone(), i.1),
        |b, o| method_results::ages_batched_with(column(b, |i| i.0.clone()), column(b, |i| i.1), o),
    );
}

#[test]
fn results_that_borrow_from_the_receiver() {
    let words = ["", "a", "ab", "abc", "b", "bä", "bäb", "cab"];
    let mut trie = Trie::default();
    for (i, word) in words.iter().enumerate().skip(1) {
        word.chars().fold(&mut trie, |trie, c| trie.next.entry(c).or_default()).count = i as u32;
    }
    let inputs: Vec<String> = words.iter().map(|word| format!("{word}{}", &word[..word.len() / 3])).collect();
    let texts: Vec<&str> = inputs.iter().map(String::as_str).chain(words).collect();
    let trie = &trie;
    agree_at(&SIZES, &texts, |word| trie.find(word), |texts, o| trie.find_batched_with(texts, o));
    agree_at(
        &SIZES,
        &texts,
        |word| tries::seek(trie, word),
        |texts, o| tries::seek_batched_with(trie, texts, o),
    );
    agree_at(
        &SIZES,
        &texts,
        |word| trie.longest(word, 2),
        |texts, o| trie.longest_batched_with(texts, vec![2; texts.len()], o),
    );
}

#[test]
fn vectors_matrices_and_accumulators() {
    let signals: Vec<Vec<f64>> =
        (0..8).map(|i| (0..1 << (i % 5)).map(|k| f64::from(k * k % 7) - 2.5).collect()).collect();
    agree_at(&SIZES, &signals, |s| fft(s), |s, o| fft_batched_with(s, o));
    let ns: Vec<u64> = (0..9).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| totals(*n, &mut 5),
        |n, o| {
            let mut all = vec![5; n.len()];
            totals_batched_with(n, &mut all, o)
        },
    );
    let matrices: Vec<(Matrix, u32)> =
        (0..12).map(|i| (Matrix([[1.1, f64::from(i) * 0.1], [0.3, 0.9]]), i)).collect();
    for (name, options) in crate::common::executors() {
        let out =
            Matrix::power_batched_with(column(&matrices, |m| m.0), column(&matrices, |m| m.1), &options);
        let expected: Vec<Matrix> = matrices.iter().map(|(m, n)| m.power(*n)).collect();
        assert_eq!(out.unwrap().into_values().unwrap(), expected, "{name}");
    }
    let xs = [0.5, 1.5, -2.0, 8.0];
    let depths: Vec<u32> = (0..7).collect();
    agree_at(
        &SIZES,
        &depths,
        |d| first_value(&xs, &3.0, *d, 2.0),
        |d, o| first_value_batched_with(&xs, &3.0, d, autobatch::same(2.0), o),
    );
}

#[test]
fn states_change_through_calls() {
    for (name, options) in crate::common::executors() {
        let ns: Vec<usize> = (0..29).map(|n| n % 8).collect();
        let (mut batch, mut expected) = (vec![[1, 2, -9]; 29], vec![[1, 2, -9]; 29]);
        let values: Vec<usize> = expected.iter_mut().zip(&ns).map(|(state, n)| stored(*n, state)).collect();
        let out = stored_batched_with(&ns, &mut batch, &options).unwrap();
        assert_eq!((out.into_values().unwrap(), batch), (values, expected), "{name}");
    }
    let board = Board { rows: [0; 6], placed: vec![] };
    for (name, options) in crate::common::executors() {
        let mut boards = vec![board.clone(); 23];
        let rows: Vec<usize> = (0..23).map(|i| i % 3).collect();
        let out = boards::solve_batched_with(&mut boards, &rows, 5, &options).unwrap();
        let mut expected = vec![board.clone(); 23];
        let values: Vec<u32> =
            expected.iter_mut().zip(&rows).map(|(b, row)| boards::solve(b, *row, 5)).collect();
        assert_eq!((out.into_values().unwrap(), boards), (values, expected), "{name}");
    }
    let data: Vec<Vec<i32>> =
        (0..40).map(|i| (0..i).map(|k| (k * 7919 + i * 31) % 101 - 50).collect()).collect();
    for (name, options) in crate::common::executors() {
        let (mut sorted, mut merged, mut expected) = (data.clone(), data.clone(), data.clone());
        let counts: Vec<u32> = expected.iter_mut().map(|v| quicksort(v)).collect();
        let out = quicksort_batched_with(&mut sorted, &options).unwrap();
        assert_eq!((out.into_values().unwrap(), &sorted), (counts, &expected), "{name}");
        merge_sort_batched_with(&mut merged, &options).unwrap().into_values().unwrap();
        assert_eq!(merged, expected, "{name}");
    }
}

#[test]
fn a_parser_advances_its_position() {
    let texts = ["1+2", "(4-(3-2))+10", "7", "((((1))))-(2-(3-(4-5)))", "12-(3+4)-(5+6)"];
    for (name, options) in crate::common::executors() {
        let batch: Vec<&str> = texts.iter().copied().cycle().take(33).collect();
        let expected: Vec<(i64, u32)> = batch.iter().map(|text| parser::sum(text)).collect();
        assert_eq!(
            parser::sum_batched_with(&batch, &options).unwrap().into_values().unwrap(),
            expected,
            "{name}"
        );
    }
}

/// A member that panics, or is too deep, while locals of its callers are borrowed.
#[autobatch]
fn fragile(n: u32, seen: &mut Vec<String>) -> usize {
    let mut own = vec![format!("{n}")];
    if n % 10 == 7 {
        panic!("{n} after {}", seen.len());
    }
    let below = if n > 0 { fragile(n - 1, &mut own) } else { 0 };
    seen.append(&mut own);
    below + seen.len()
}

#[test]
fn members_fail_while_locals_are_borrowed() {
    for (name, options) in crate::common::executors() {
        let ns: Vec<u32> = (0..20).collect();
        let mut seen = vec![vec![String::from("-")]; ns.len()];
        let out = fragile_batched_with(&ns, &mut seen, &options).unwrap();
        let faults: Vec<usize> = out.faults().iter().map(|f| f.member).collect();
        assert_eq!(faults, (7..20).collect::<Vec<_>>(), "{name}");
        assert_eq!(out.faults()[0].message, "7 after 1", "{name}");
        for n in 0..7 {
            let mut expected = vec![String::from("-")];
            fragile(n, &mut expected);
            assert_eq!(seen[n as usize], expected, "{name}");
        }
    }
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let options = Options::default().executor(executor).max_depth(4);
        let mut seen = vec![vec![]; 7];
        let out = fragile_batched_with(column(&[0, 1, 2, 3, 4, 5, 6], |n| *n), &mut seen, &options).unwrap();
        let deep: Vec<usize> = out.faults().iter().map(|f| f.member).collect();
        assert_eq!(deep, [5, 6], "{executor:?}");
    }
}

/// Functions that hand on what they get a reference to.
#[autobatch]
mod returned_borrows {
    pub(super) fn tail(values: &[u64]) -> &[u64] {
        &values[1..]
    }

    fn from(values: &mut Vec<u64>, n: u64) -> &mut [u64] {
        let at = n as usize % values.len();
        &mut values[at..]
    }

    fn copy(values: &[u64]) -> Vec<u64> {
        values[1..].to_vec()
    }

    fn sum(values: &[u64], n: u64) -> u64 {
        if n == 0 { values.len() as u64 } else { sum(values, n - 1) * 3 + values[0] }
    }

    fn add(values: &mut [u64], n: u64) -> u64 {
        if n == 0 {
            return 1;
        }
        values[0] += n;
        add(values, n - 1) + values[0]
    }

    pub(super) fn lends(n: u64) -> u64 {
        let mut values = vec![n, 2, 3];
        let first = sum(tail(&values), n % 4) + sum(super::longest(&values), 2);
        let second = add(from(&mut values, n), 3);
        let third = sum(&copy(&values), 2);
        first + second + third + sum(&values, 1)
    }

    pub(super) fn keeps(n: u64) -> u64 {
        let values = vec![n, 2, 3];
        let rest = tail(&values);
        let letters = vec![b'a'; n as usize + 1];
        let text = std::str::from_utf8(&letters).unwrap_or("");
        let mut i = 0;
        while i < 3 * n {
            i += rest[0] + text.len() as u64;
        }
        i + sum(rest, 3)
    }
}

fn longest(values: &[u64]) -> &[u64] {
    values.split(|x| *x == 2).max_by_key(|part| part.len()).unwrap_or(values)
}

#[test]
fn functions_return_borrows_of_their_arguments() {
    use returned_borrows::{keeps, keeps_batched_with, lends, lends_batched_with};
    let n: Vec<u64> = (1..12).collect();
    agree_at(&SIZES, &n, |n| lends(*n), |n, o| lends_batched_with(n, o));
    agree_at(&SIZES, &n, |n| keeps(*n), |n, o| keeps_batched_with(n, o));
}
