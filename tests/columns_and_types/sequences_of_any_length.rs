//! Sequences of different lengths, and borrowed members of every kind: results, errors, and lanes that
//! are kept busy.

#![allow(clippy::needless_range_loop, clippy::ptr_arg)] // written as users write

use std::path::Path;

use crate::common::{Bits, agree_at, column, executors};
use autobatch::{BadOffsets, BatchError, Executor, Options, Ragged, RaggedMut, Report, autobatch, same};
use ndarray::{Array2, ArrayView1, arr2, s};

const SIZES: [usize; 3] = [0, 1, 211];

/// Kahan's sum, as far as it stays below a bound.
#[autobatch(strict)]
fn total(#[each] xs: &[f64], bound: f64) -> (f64, usize) {
    let (mut sum, mut rest, mut taken) = (0.0, 0.0, 0);
    for x in xs {
        let y = x - rest;
        let t = sum + y;
        rest = (t - sum) - y;
        sum = t;
        taken += 1;
        if sum > bound {
            break;
        }
    }
    (sum, taken)
}

#[autobatch(strict)]
fn mean_of_squares(#[each] xs: &[f64]) -> f64 {
    let mut sum = 0.0;
    for x in xs {
        sum += x * x;
    }
    sum / xs.len() as f64
}

/// Recursion whose slice gets shorter from call to call.
#[autobatch(strict)]
fn tree_sum(#[each] xs: &[f64]) -> f64 {
    match xs {
        [] => 0.0,
        [x] => *x,
        _ => {
            let (left, right) = xs.split_at(xs.len() / 2);
            tree_sum(left) + tree_sum(right)
        }
    }
}

#[autobatch(strict)]
fn words(#[each] text: &str, longer_than: usize) -> usize {
    let mut count = 0;
    for word in text.split(' ') {
        if word.len() > longer_than {
            count += 1;
        }
    }
    count
}

/// The longest common subsequence of two sequences, by recursion.
#[autobatch(strict)]
fn common_length(#[each] a: &[u8], #[each] b: &str) -> usize {
    let b_bytes = b.as_bytes();
    if a.is_empty() || b.is_empty() {
        0
    } else if a[0] == b_bytes[0] {
        1 + common_length(&a[1..], &b[1..])
    } else {
        let left = common_length(&a[1..], b);
        left.max(common_length(a, &b[1..]))
    }
}

#[autobatch(strict)]
fn depth_of(#[each] path: &Path) -> usize {
    let mut parts = path.components();
    let mut n = 0;
    while parts.next().is_some() {
        n += 1;
    }
    n
}

#[derive(Debug)]
struct Polynomial {
    coefficients: Vec<f64>,
}

#[autobatch(strict)]
impl Polynomial {
    /// One polynomial per member.
    pub(crate) fn at(#[each] &self, x: f64) -> f64 {
        let mut value = 0.0;
        for c in self.coefficients.iter().rev() {
            value = value * x + c;
        }
        value
    }

    /// The same polynomial for all members.
    pub(crate) fn shared_at(&self, x: f64) -> f64 {
        let mut value = 0.0;
        for c in self.coefficients.iter().rev() {
            value = value * x + c;
        }
        value
    }
}

#[autobatch(strict)]
fn degree(#[each] p: &Polynomial) -> usize {
    let mut n = p.coefficients.len();
    while n > 1 && p.coefficients[n - 1] == 0.0 {
        n -= 1;
    }
    n.saturating_sub(1)
}

/// Selection sort: returns the swaps.
#[autobatch(strict)]
fn sort(#[each] xs: &mut [i32]) -> usize {
    let mut swaps = 0;
    for i in 0..xs.len() {
        let mut least = i;
        for j in i + 1..xs.len() {
            if xs[j] < xs[least] {
                least = j;
            }
        }
        if least != i {
            xs.swap(i, least);
            swaps += 1;
        }
    }
    swaps
}

#[autobatch(strict)]
fn last_row(row: ArrayView1<'_, f64>, n: usize) -> f64 {
    let mut sum = 0.0;
    let mut i = 0;
    while i < n.min(row.len()) {
        sum = sum * 0.5 + row[i];
        i += 1;
    }
    sum
}

/// Lengths that differ a lot: most are short, few are long.
fn lengths(members: usize) -> Vec<usize> {
    (0..members).map(|i| if i % 29 == 7 { 200 + i % 50 } else { (i * 7 + i / 3) % 11 }).collect()
}

fn sequences(members: usize) -> Vec<Vec<f64>> {
    let row =
        |(i, n): (usize, usize)| (0..n).map(|k| ((i * 31 + k * 17) % 101) as f64 * 0.37 - 9.0).collect();
    lengths(members).into_iter().enumerate().map(row).collect()
}

/// The values of all sequences, and where each begins.
fn flat<T: Clone>(rows: &[Vec<T>]) -> (Vec<T>, Vec<usize>) {
    let offsets = rows.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    });
    (rows.concat(), std::iter::once(0).chain(offsets).collect())
}

#[test]
fn slices_of_different_lengths() {
    let rows = sequences(97);
    let bounded: Vec<(Vec<f64>, f64)> =
        rows.iter().cloned().enumerate().map(|(i, row)| (row, i as f64 * 3.0)).collect();
    agree_at(
        &SIZES,
        &bounded,
        |(row, bound)| total(row, *bound),
        |b, o| total_batched_with(&column(b, |r| r.0.clone()), column(b, |r| r.1), o),
    );
    // The same through `Ragged`, which hands out parts of one piece of memory.
    agree_at(
        &SIZES,
        &bounded,
        |(row, bound)| total(row, *bound),
        |b, o| {
            let (values, offsets) = flat(&column(b, |r| r.0.clone()));
            total_batched_with(Ragged::new(&values, &offsets), column(b, |r| r.1), o)
        },
    );
    // A part of a longer list, with the offsets of an Arrow array.
    agree_at(
        &SIZES,
        &bounded,
        |(row, bound)| total(row, *bound),
        |b, o| {
            let (values, offsets) = flat(&column(b, |r| r.0.clone()));
            let values = [&[7.0; 5][..], &values, &[7.0]].concat();
            let offsets: Vec<i32> = offsets.iter().map(|offset| *offset as i32 + 5).collect();
            total_batched_with(Ragged::new(&values, &offsets), column(b, |r| r.1), o)
        },
    );
    let full: Vec<Vec<f64>> = rows.into_iter().filter(|row| !row.is_empty()).collect();
    agree_at(&SIZES, &full, |row| mean_of_squares(row), |b, o| mean_of_squares_batched_with(b, o));
    agree_at(
        &SIZES,
        &full,
        |row| tree_sum(row),
        |b, o| {
            let (values, offsets) = flat(b);
            tree_sum_batched_with(Ragged::new(&values, &offsets), o)
        },
    );
}

#[test]
fn strings_and_paths() {
    let texts = ["", "one", "to be or not to be", "  ", "a longer sentence than all of the others"];
    agree_at(&SIZES, &texts, |t| words(t, 2), |t, o| words_batched_with(t, same(2), o));
    let owned = texts.map(String::from);
    agree_at(&SIZES, &owned, |t| words(t, 1), |t, o| words_batched_with(t, same(1), o));
    let pairs: Vec<(Vec<u8>, String)> =
        [("abcba", "bdca"), ("", "x"), ("aaa", "aa"), ("xyz", ""), ("gramm", "aming")]
            .map(|(a, b)| (a.as_bytes().to_vec(), b.to_owned()))
            .to_vec();
    agree_at(
        &[0, 1, 97],
        &pairs,
        |(a, b)| common_length(a, b),
        |p, o| common_length_batched_with(&column(p, |p| p.0.clone()), &column(p, |p| p.1.clone()), o),
    );
    let paths = ["a/b/c", "/", "", "x"];
    agree_at(&SIZES, &paths, |p| depth_of(Path::new(p)), |p, o| depth_of_batched_with(p, o));
}

impl Bits for &Polynomial {
    fn same(&self, other: &Self) -> bool {
        self.coefficients.same(&other.coefficients)
    }
}

#[test]
fn borrowed_values_and_receivers() {
    let polynomials: Vec<Polynomial> =
        (0..13).map(|n| Polynomial { coefficients: (0..n).map(|k| f64::from(k % 5)).collect() }).collect();
    let xs: Vec<f64> = (0..13).map(|i| f64::from(i) * 0.25 - 1.0).collect();
    for (how, options) in executors() {
        let values = Polynomial::at_batched_with(&polynomials, &xs, &options).unwrap().into_values().unwrap();
        let degrees = degree_batched_with(&polynomials, &options).unwrap().into_values().unwrap();
        let shared = polynomials[7].shared_at_batched_with(&xs, &options).unwrap().into_values().unwrap();
        for (i, p) in polynomials.iter().enumerate() {
            assert!(values[i].same(&p.at(xs[i])), "{how}");
            assert_eq!(degrees[i], degree(p), "{how}");
            assert!(shared[i].same(&polynomials[7].shared_at(xs[i])), "{how}");
        }
    }
}

#[test]
fn slices_changed_in_place() {
    let rows: Vec<Vec<i32>> =
        (0..211).map(|i| (0..(i * 5) % 23).map(|k| (i * 13 + k * 29) % 97 - 40).collect()).collect();
    let mut sorted = rows.clone();
    let swaps: Vec<usize> = sorted.iter_mut().map(|row| sort(row)).collect();
    for (how, options) in executors() {
        let mut here = rows.clone();
        assert_eq!(sort_batched_with(&mut here, &options).unwrap().into_values().unwrap(), swaps, "{how}");
        assert_eq!(here, sorted, "{how}");
        let (mut values, offsets) = flat(&rows);
        let ragged = RaggedMut::new(&mut values, &offsets);
        assert_eq!(sort_batched_with(ragged, &options).unwrap().into_values().unwrap(), swaps, "{how}");
        assert_eq!(values, sorted.concat(), "{how}");
    }
    let mut table = arr2(&[[3, 1, 2], [1, 2, 3], [9, 8, 7]]);
    assert_eq!(sort_batched(&mut table), [2, 0, 1]);
    assert_eq!(table, arr2(&[[1, 2, 3], [1, 2, 3], [7, 8, 9]]));
    assert_eq!(sort_batched(table.slice_mut(s![.., ..;-1]).slice_mut(s![.., 1..2])), [0; 3]);
    let mut arrays = [[2, 1], [1, 2]];
    assert_eq!(sort_batched(&mut arrays), [1, 0]);
}

#[test]
fn rows_of_arrays() {
    let table = Array2::from_shape_fn((31, 9), |(i, k)| ((i * 7 + k * 3) % 11) as f64 * 0.3);
    let want: Vec<f64> =
        table.rows().into_iter().map(|row| mean_of_squares(row.to_slice().unwrap())).collect();
    assert_eq!(mean_of_squares_batched(&table), want);
    assert_eq!(
        mean_of_squares_batched(table.slice(s![..;-1, ..])),
        want.into_iter().rev().collect::<Vec<_>>()
    );
    let error = mean_of_squares_batched_with(table.t(), &Options::default()).unwrap_err();
    assert_eq!(error, BatchError::Scattered { parameter: "xs" });
    let ns: Vec<usize> = (0..31).collect();
    for view in [table.view(), table.slice(s![.., ..;-2])] {
        let want: Vec<f64> = view.rows().into_iter().zip(&ns).map(|(row, n)| last_row(row, *n)).collect();
        assert_eq!(last_row_batched(view, &ns), want);
    }
}

#[test]
fn offsets_that_do_not_fit_are_errors() {
    let values = [1.0, 2.0, 3.0];
    for (offsets, wrong, says) in [
        (&[][..], BadOffsets::None, "the offsets of `xs`: there are none"),
        (&[-1, 3], BadOffsets::Start { first: -1 }, "they begin with -1"),
        (&[0, 2, 1, 3], BadOffsets::Descend { at: 1, offset: 2, next: 1 }, "offset 1 is 2 and the next is 1"),
        (&[0, 4], BadOffsets::End { last: 4, values: 3 }, "the last is 4, but there are 3 values"),
    ] {
        let ragged = Ragged::new(&values, offsets);
        let error = mean_of_squares_batched_with(ragged, &Options::default()).unwrap_err();
        assert_eq!(error, BatchError::Offsets { parameter: "xs", wrong });
        assert!(error.to_string().contains(says), "{error}");
    }
    let error = total_batched_with(Ragged::new(&values, &[0, 3]), &[1.0, 2.0], &Options::default());
    assert_eq!(
        error.unwrap_err(),
        BatchError::Length { first: "xs", expected: 1, parameter: "bound", found: 2 }
    );
}

#[test]
#[should_panic(expected = "the offsets of `xs`: the last is 7, but there are 1 values")]
fn offsets_that_do_not_fit_panic_without_options() {
    mean_of_squares_batched(Ragged::new(&[1.0], &[7]));
}

/// The part of the lanes that would be busy if each group of `lanes` neighbours waited for its longest.
fn waiting_for_the_longest(lengths: &[usize], lanes: usize) -> f64 {
    let offered: usize = lengths.chunks(lanes).map(|group| lanes * group.iter().max().unwrap()).sum();
    lengths.iter().sum::<usize>() as f64 / offered as f64
}

/// The block that ran most: the loop.
fn busiest(report: &Report) -> (u64, f64) {
    let block = report.blocks.iter().max_by_key(|block| block.active).unwrap();
    (block.executions, block.utilisation())
}

#[test]
fn short_sequences_do_not_wait_for_long_ones() {
    let members = 8192;
    let rows = sequences(members);
    let lengths = lengths(members);
    let (values, offsets) = flat(&rows);
    let lanes = 64;
    let gang = waiting_for_the_longest(&lengths, lanes);
    assert!(gang < 0.1, "the lengths differ so much that waiting leaves lanes idle: {gang}");
    let steps: usize = lengths.iter().sum();
    // Most lanes first: at least half of the lanes run the loop before the others' results are stored and
    // their places taken. (Earliest block first would finish the loop for all of them.)
    for (executor, least) in [(Executor::Masked, 0.8), (Executor::ProgramCounter, 0.6)] {
        let options = Options::default().executor(executor).lanes(lanes).threads(1).count_blocks(true);
        let outcome = mean_of_squares_batched_with(Ragged::new(&values, &offsets), &options).unwrap();
        let report = outcome.report();
        let how = format!("{executor:?}\n{report}");
        assert_eq!(
            report.refills as usize,
            members - lanes,
            "every member but the first {lanes} takes a place: {how}"
        );
        let (executions, utilisation) = busiest(report);
        assert!(utilisation > least, "{utilisation}: {how}");
        // The loop's own test at the end of each sequence is an execution too.
        let needed = (steps + members).div_ceil(lanes) as f64;
        assert!((needed..needed / least).contains(&(executions as f64)), "{needed} would do: {how}");
    }
}
