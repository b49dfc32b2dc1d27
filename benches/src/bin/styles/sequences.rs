//! Dynamic programming over sequences of the members' own: edit distance, alignment, the likeliest path. The styles differ in what they
//! keep, and in what their loops go through.

#![allow(clippy::needless_range_loop)] // written as users write

use autobatch::autobatch;
use autobatch_bench::Agreement;
use autobatch_bench::inputs::Numbers;
use autobatch_bench::ispc::counterpart;

use crate::peer::{Rows, stateless_against};
use crate::style::{AnyStyle, stateless};

const MEMBERS: usize = 8_192;

/// The longest sequence.
const LONGEST: usize = 64;

/// Levenshtein's distance in one row, by indices.
#[autobatch]
fn distance_in_a_row(#[each] a: &[u8], #[each] b: &[u8]) -> u32 {
    let mut row = [0u32; LONGEST + 1];
    for j in 0..=b.len() {
        row[j] = j as u32;
    }
    for i in 1..=a.len() {
        let mut diagonal = row[0];
        row[0] = i as u32;
        for j in 1..=b.len() {
            let cost = if a[i - 1] == b[j - 1] { 0 } else { 1 };
            let next = (row[j] + 1).min(row[j - 1] + 1).min(diagonal + cost);
            diagonal = row[j];
            row[j] = next;
        }
    }
    row[b.len()]
}

/// The same, through the lists.
#[autobatch]
fn distance_through_lists(#[each] a: &[u8], #[each] b: &[u8]) -> u32 {
    let mut row = [0u32; LONGEST + 1];
    for j in 0..=b.len() {
        row[j] = j as u32;
    }
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        for (j, y) in b.iter().enumerate() {
            let next = if x == y { diagonal } else { diagonal.min(row[j]).min(row[j + 1]) + 1 };
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

/// The same in two rows of `usize`, which are exchanged.
#[autobatch]
fn distance_in_two_rows(#[each] a: &[u8], #[each] b: &[u8]) -> usize {
    let mut before = [0usize; LONGEST + 1];
    let mut row = [0usize; LONGEST + 1];
    for j in 0..=b.len() {
        before[j] = j;
    }
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (before[j] + 1).min(row[j - 1] + 1).min(before[j - 1] + cost);
        }
        std::mem::swap(&mut before, &mut row);
    }
    before[b.len()]
}

/// The same with rows on the heap.
#[autobatch]
fn distance_on_the_heap(#[each] a: &[u8], #[each] b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut diagonal = row[0];
        row[0] = i;
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let next = (row[j] + 1).min(row[j - 1] + 1).min(diagonal + cost);
            diagonal = row[j];
            row[j] = next;
        }
    }
    row[b.len()]
}

/// The same by `while` loops.
#[autobatch]
fn distance_by_while(#[each] a: &[u8], #[each] b: &[u8]) -> u32 {
    let mut row = [0u32; LONGEST + 1];
    let mut j = 0;
    while j <= b.len() {
        row[j] = j as u32;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        let mut diagonal = row[0];
        row[0] = i as u32 + 1;
        let mut j = 0;
        while j < b.len() {
            let next = if a[i] == b[j] { diagonal } else { diagonal.min(row[j]).min(row[j + 1]) + 1 };
            diagonal = row[j + 1];
            row[j + 1] = next;
            j += 1;
        }
        i += 1;
    }
    row[b.len()]
}

/// The length of the longest common subsequence, in a table.
#[autobatch]
fn common_length(#[each] a: &[u8], #[each] b: &[u8]) -> u16 {
    let mut table = [[0u16; LONGEST + 1]; LONGEST + 1];
    for i in 0..a.len() {
        for j in 0..b.len() {
            if a[i] == b[j] {
                table[i + 1][j + 1] = table[i][j] + 1;
            } else {
                table[i + 1][j + 1] = table[i][j + 1].max(table[i + 1][j]);
            }
        }
    }
    table[a.len()][b.len()]
}

/// Smith and Waterman's local alignment with affine gaps; letters are compared.
#[autobatch]
fn alignment(#[each] a: &[u8], #[each] b: &[u8]) -> i32 {
    let mut scores = [0i32; LONGEST + 1];
    let mut gaps = [0i32; LONGEST + 1];
    let mut best = 0;
    for i in 0..a.len() {
        let (mut diagonal, mut gap) = (0, 0);
        for j in 0..b.len() {
            let met = diagonal + if a[i] == b[j] { 5 } else { -3 };
            gaps[j + 1] = (gaps[j + 1] - 1).max(scores[j + 1] - 4);
            gap = (gap - 1).max(scores[j] - 4);
            diagonal = scores[j + 1];
            let score = met.max(gaps[j + 1]).max(gap).max(0);
            scores[j + 1] = score;
            best = best.max(score);
        }
    }
    best
}

/// The same by a table of what letters score.
#[autobatch]
fn alignment_by_table(#[each] a: &[u8], #[each] b: &[u8], table: &[[i32; 4]; 4]) -> i32 {
    let mut scores = [0i32; LONGEST + 1];
    let mut gaps = [0i32; LONGEST + 1];
    let mut best = 0;
    for i in 0..a.len() {
        let (mut diagonal, mut gap) = (0, 0);
        for j in 0..b.len() {
            let met = diagonal + table[(a[i] & 3) as usize][(b[j] & 3) as usize];
            gaps[j + 1] = (gaps[j + 1] - 1).max(scores[j + 1] - 4);
            gap = (gap - 1).max(scores[j] - 4);
            diagonal = scores[j + 1];
            let score = met.max(gaps[j + 1]).max(gap).max(0);
            scores[j + 1] = score;
            best = best.max(score);
        }
    }
    best
}

struct Words {
    a: Vec<Vec<u8>>,
    b: Vec<Vec<u8>>,
}

fn words(members: usize) -> Words {
    let mut numbers = Numbers::new(31);
    let half = LONGEST as u64 / 2;
    let mut word =
        || -> Vec<u8> { (0..half + numbers.below(half + 1)).map(|_| numbers.below(4) as u8).collect() };
    Words { a: (0..members).map(|_| word()).collect(), b: (0..members).map(|_| word()).collect() }
}

/// Words, and the same as ISPC takes them.
fn words_in_rows(members: usize) -> (Words, Rows, Rows) {
    let words = words(members);
    let (a, b) = (Rows::of(&words.a), Rows::of(&words.b));
    (words, a, b)
}

counterpart! {
    fn ispc_distance(
        columns(a_starts: u32, a_lengths: u32, b_starts: u32, b_lengths: u32), shared(a: u8, b: u8)
    ) -> u32
}

counterpart! {
    fn ispc_alignment(
        columns(a_starts: u32, a_lengths: u32, b_starts: u32, b_lengths: u32), shared(a: u8, b: u8)
    ) -> i32
}

/// A style of two words with a counterpart.
macro_rules! against {
    ($name:literal, $members:expr, $scalar:ident, $batched:ident, $peer:ident) => {
        stateless_against(
            $name,
            words_in_rows($members),
            $members,
            |(w, ..), i, ()| $scalar(&w.a[i], &w.b[i]),
            |(w, ..), _, options| $batched(&w.a, &w.b, options),
            Agreement::Exact,
            |(_, a, b), target, first, out| {
                let (x, y) = (&a.elements, &b.elements);
                $peer(target, first, &a.starts, &a.lengths, &b.starts, &b.lengths, out, x, y);
            },
        )
    };
}

pub(crate) fn distances(members: Option<usize>) -> Vec<AnyStyle> {
    let n = members.unwrap_or(MEMBERS);
    vec![
        against!("distance/row", n, distance_in_a_row, distance_in_a_row_batched_with, ispc_distance),
        stateless(
            "distance/lists",
            words(n),
            n,
            |w, i, ()| distance_through_lists(&w.a[i], &w.b[i]),
            |w, _, options| distance_through_lists_batched_with(&w.a, &w.b, options),
        ),
        stateless(
            "distance/rows",
            words(n),
            n,
            |w, i, ()| distance_in_two_rows(&w.a[i], &w.b[i]),
            |w, _, options| distance_in_two_rows_batched_with(&w.a, &w.b, options),
        ),
        stateless(
            "distance/while",
            words(n),
            n,
            |w, i, ()| distance_by_while(&w.a[i], &w.b[i]),
            |w, _, options| distance_by_while_batched_with(&w.a, &w.b, options),
        ),
        stateless(
            "distance/heap",
            words(n),
            n,
            |w, i, ()| distance_on_the_heap(&w.a[i], &w.b[i]),
            |w, _, options| distance_on_the_heap_batched_with(&w.a, &w.b, options),
        ),
    ]
}

pub(crate) fn alignments(members: Option<usize>) -> Vec<AnyStyle> {
    const TABLE: [[i32; 4]; 4] = [[5, -3, -3, -3], [-3, 5, -3, -3], [-3, -3, 5, -3], [-3, -3, -3, 5]];
    let n = members.unwrap_or(MEMBERS);
    vec![
        stateless(
            "common/table",
            words(n),
            n,
            |w, i, ()| common_length(&w.a[i], &w.b[i]),
            |w, _, options| common_length_batched_with(&w.a, &w.b, options),
        ),
        against!("alignment/compared", n, alignment, alignment_batched_with, ispc_alignment),
        stateless(
            "alignment/table",
            words(n),
            n,
            |w, i, ()| alignment_by_table(&w.a[i], &w.b[i], &TABLE),
            |w, _, options| alignment_by_table_batched_with(&w.a, &w.b, &TABLE, options),
        ),
    ]
}
