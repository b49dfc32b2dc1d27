//! Loops over arrays whose number of rounds differs between members: dynamic programming over members' own lists, with a row, two
//! rows and tables, ends that follow from counters, and rounds that would fault if another member made them.

// Written as users write.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_memcpy,
    clippy::manual_swap,
    clippy::explicit_counter_loop
)]

use crate::common::{agree_at, column};
use crate::lookups::{noise, same_outcomes};
use autobatch::{Engine, Executor, Isa, Options, autobatch};

const SIZES: &[usize] = &[1, 70];

/// Levenshtein's distance, in one row.
#[autobatch(strict)]
fn distance(#[each] a: &[u8], #[each] b: &[u8]) -> u32 {
    let mut row = [0u32; 13];
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

const LONGEST: usize = 12;

/// The length of the longest common subsequence, in a table.
#[autobatch(strict)]
fn common_length(#[each] a: &[u8], #[each] b: &[u8]) -> u16 {
    let mut table = [[0u16; LONGEST + 1]; LONGEST + 1];
    let mut longest = 0;
    for i in 0..a.len() {
        for j in 0..b.len() {
            if a[i] == b[j] {
                table[i + 1][j + 1] = table[i][j] + 1;
            } else {
                table[i + 1][j + 1] = table[i][j + 1].max(table[i + 1][j]);
            }
            longest = longest.max(table[i + 1][j + 1]);
        }
    }
    longest
}

/// Dynamic time warping in a band, in two rows.
#[autobatch(strict)]
fn warping(#[each] xs: &[f64], #[each] ys: &[f64], band: usize) -> f64 {
    let mut before = [f64::INFINITY; LONGEST + 1];
    before[0] = 0.0;
    for i in 1..=xs.len() {
        let mut row = [f64::INFINITY; LONGEST + 1];
        let x = xs[i - 1];
        for j in 1..=ys.len() {
            if j + band >= i && j <= i + band {
                let nearest = before[j].min(before[j - 1]).min(row[j - 1]);
                row[j] = (x - ys[j - 1]).abs() + nearest;
            }
        }
        before = row;
    }
    let mut last = 0.0;
    for j in 1..=ys.len() {
        last = before[j];
    }
    last
}

/// The local alignment of two sequences, with a table of scores that all members share.
#[autobatch(strict)]
fn alignment(#[each] a: &[u8], #[each] b: &[u8], scores: &[[i32; 4]; 4], gap: &i32) -> (i32, usize) {
    let mut row = [0i32; LONGEST + 1];
    let (mut best, mut cells) = (0, 0);
    for i in 0..a.len() {
        let mut diagonal = 0;
        for j in 0..b.len() {
            let met = diagonal + scores[a[i] as usize][b[j] as usize];
            diagonal = row[j + 1];
            let score = met.max(row[j + 1] - *gap).max(row[j] - *gap).max(0);
            row[j + 1] = score;
            if score > best {
                best = score;
            }
            cells += 1;
        }
    }
    (best, cells)
}

/// How far two sequences have the same letters at the same places, by loops that count, and one that only looks like it.
#[autobatch(strict)]
fn alike(#[each] a: &[u8], #[each] b: &[u8], most: usize) -> (u32, usize) {
    let mut same = [0u32; LONGEST + 3];
    let mut k = 0;
    while k <= a.len() {
        same[k] = k as u32;
        k += 1;
    }
    let mut i = 0;
    while i < a.len() {
        let mut j = 0;
        while j < b.len() {
            if a[i] == b[j] {
                same[j] += same[j + 1] % 7 + 1;
            }
            j += 1;
        }
        i += 1;
    }
    // The counter goes on where the first loop has ended, and is looked at.
    let mut n = 0;
    while n < most {
        same[n % LONGEST] += 1;
        n += 1;
    }
    (same.iter().fold(0, |sum, x| sum * 3 % 65_537 + x), k + n)
}

/// Sorts by exchange, then weighs by place.
#[autobatch(strict)]
fn sorted(#[each] xs: &[f32]) -> f32 {
    let mut v = [0.0f32; 12];
    for k in 0..xs.len() {
        v[k] = xs[k];
    }
    for i in 0..xs.len() {
        for j in 1..xs.len() - i {
            if v[j] < v[j - 1] {
                let smaller = v[j];
                v[j] = v[j - 1];
                v[j - 1] = smaller;
            }
        }
    }
    let mut sum = 0.0;
    for k in 0..xs.len() {
        sum += v[k] * k as f32;
    }
    sum
}

/// Divides by what is zero behind a member's last round.
#[autobatch(strict)]
fn shares(n: u32, rest: u32) -> u32 {
    let mut t = [0u32; 10];
    for k in 0..n {
        t[k as usize] = rest / (n - k);
    }
    let mut sum = 0;
    for k in 0..n {
        sum = sum * 3 + t[k as usize] % (k + 1);
    }
    sum
}

/// Counts to the last number that there is.
#[autobatch(strict)]
fn to_the_end(first: u8, last: u8) -> u64 {
    let mut seen = [0u64; 256];
    for k in 0..=last {
        seen[k as usize] += k as u64 ^ first as u64;
    }
    let mut sum = 0;
    for k in 0..256 {
        sum = sum % 1_000_003 * 5 + seen[k];
    }
    sum
}

/// The likeliest hidden states behind what was seen.
#[autobatch(strict)]
fn likeliest(#[each] seen: &[usize], moves: &[[f64; 3]; 3], shows: &[[f64; 4]; 3]) -> f64 {
    let mut chances = [0.0; 3];
    let mut history = [[0.0; 3]; 12];
    for t in 0..seen.len() {
        let mut next = [f64::NEG_INFINITY; 3];
        for to in 0..3 {
            for from in 0..3 {
                next[to] = next[to].max(chances[from] + moves[from][to]);
            }
            next[to] += shows[to][seen[t]];
        }
        chances = next;
        for to in 0..3 {
            history[t][to] = next[to];
        }
    }
    let mut sum = 0.0;
    for t in 0..seen.len() {
        sum += history[t][0].max(history[t][1]).max(history[t][2]);
    }
    sum
}

fn words(least: usize, more: usize, letters: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut next = noise(21);
    let mut word = || (0..least + next() as usize % more).map(|_| (next() % letters) as u8).collect();
    let mut words: Vec<(Vec<u8>, Vec<u8>)> = (0..90).map(|_| (word(), word())).collect();
    words.sort_by_key(|(a, b)| a.len() + b.len() / 2);
    words
}

#[test]
fn sequences_agree() {
    assert_eq!(distance(b"kitten", b"sitting"), 3);
    assert_eq!(common_length(b"XMJYAUZ", b"MZJAWXU"), 4);
    let scores = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 3 } else { -(i as i32) }));
    for words in [words(0, 13, 4), words(0, 3, 2), words(9, 4, 3)] {
        let unzip =
            |rows: &[(Vec<u8>, Vec<u8>)]| -> (Vec<Vec<u8>>, Vec<Vec<u8>>) { rows.iter().cloned().unzip() };
        agree_at(
            SIZES,
            &words,
            |(a, b)| distance(a, b),
            |rows, options| {
                let (a, b) = unzip(rows);
                distance_batched_with(&a, &b, options)
            },
        );
        agree_at(
            SIZES,
            &words,
            |(a, b)| common_length(a, b),
            |rows, options| {
                let (a, b) = unzip(rows);
                common_length_batched_with(&a, &b, options)
            },
        );
        agree_at(
            SIZES,
            &words,
            |(a, b)| alignment(a, b, &scores, &2),
            |rows, options| {
                let (a, b) = unzip(rows);
                alignment_batched_with(&a, &b, &scores, &2, options)
            },
        );
    }
}

#[test]
fn series_agree() {
    let rows: Vec<(Vec<f64>, Vec<f64>, usize)> = words(1, 12, 9)
        .into_iter()
        .enumerate()
        .map(|(n, (a, b))| {
            let floats = |v: Vec<u8>| v.into_iter().map(|x| f64::from(x) / 3.0).collect();
            (floats(a), floats(b), n % 15)
        })
        .collect();
    agree_at(
        SIZES,
        &rows,
        |(xs, ys, band)| warping(xs, ys, *band),
        |rows, options| {
            warping_batched_with(
                &column(rows, |row| row.0.clone()),
                &column(rows, |row| row.1.clone()),
                column(rows, |row| row.2),
                options,
            )
        },
    );
    let lists: Vec<Vec<f32>> =
        rows.iter().map(|row| row.0.iter().take(12).map(|x| *x as f32).collect()).collect();
    agree_at(SIZES, &lists, |xs| sorted(xs), |lists, options| sorted_batched_with(lists, options));
    let moves = [[-0.5, -1.0, -3.0], [-2.0, -0.25, -1.5], [-1.0, -1.0, -0.75]];
    let shows = [[-0.1, -3.0, -2.5, -4.0], [-1.0, -1.5, -2.0, -1.0], [-3.0, -0.5, -2.0, -0.75]];
    let seen: Vec<Vec<usize>> = lists.iter().map(|xs| xs.iter().map(|x| *x as usize % 4).collect()).collect();
    agree_at(
        SIZES,
        &seen,
        |seen| likeliest(seen, &moves, &shows),
        |seen, options| likeliest_batched_with(seen, &moves, &shows, options),
    );
}

#[test]
fn rounds_of_other_members_show_nowhere() {
    let rows: Vec<(u32, u32)> = (0..90).map(|n| (n % 11, n * 37 % 1000)).collect();
    agree_at(
        SIZES,
        &rows,
        |(n, rest)| shares(*n, *rest),
        |rows, options| shares_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), options),
    );
    let rows: Vec<_> = words(0, 13, 3).into_iter().zip(0..90usize).collect();
    agree_at(
        SIZES,
        &rows,
        |((a, b), most)| alike(a, b, *most),
        |rows, options| {
            let (a, b): (Vec<_>, Vec<_>) = rows.iter().map(|row| row.0.clone()).unzip();
            alike_batched_with(&a, &b, column(rows, |row| row.1), options)
        },
    );
    let rows: Vec<(u8, u8)> = (0..69).map(|n| (n as u8, (n * 7) as u8)).chain([(3, 255)]).collect();
    agree_at(
        SIZES,
        &rows,
        |(first, last)| to_the_end(*first, *last),
        |rows, options| to_the_end_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), options),
    );
}

#[test]
fn members_fault_alone() {
    let mut rows = words(4, 9, 4);
    rows[7].1 = vec![1; 30];
    rows[50].0 = vec![2; 3];
    rows[60].1 = vec![3; 14];
    same_outcomes(
        &rows,
        |(a, b)| distance(a, b),
        |rows, options| {
            let (a, b): (Vec<_>, Vec<_>) = rows.iter().cloned().unzip();
            distance_batched_with(&a, &b, options)
        },
    );
}

#[test]
fn they_run_in_vector_frames() {
    let (a, b): (Vec<_>, Vec<_>) = words(0, 13, 4).into_iter().unzip();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor).isa(Isa::Avx2).report(true);
        let outcome = distance_batched_with(&a, &b, &options).expect("a batch");
        if cfg!(target_arch = "x86_64") {
            assert_eq!(outcome.report().engine, Engine::VectorFrames, "{executor:?}");
        }
    }
}
