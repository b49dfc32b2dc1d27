//! Loops over arrays that members leave when they have to: sorts, searches, stacks of the members' own. Lanes run as long as one of them is
//! in the loop, and those that have left change nothing.

// Written as users write.
#![allow(clippy::needless_range_loop)]

use crate::common::{agree_at, cancelled_with_results, column, executors, overdue_with_results};
use crate::lookups::{noise, same_outcomes};
use autobatch::program::Rounds;
use autobatch::{Engine, Executor, FaultKind, Options, autobatch};

const SIZES: &[usize] = &[1, 70];
const LENGTH: usize = 13;

fn weighed(a: &[f32; LENGTH]) -> f32 {
    let mut sum = 0.0;
    for i in 0..LENGTH {
        sum += a[i] * (i as f32 + 0.5);
    }
    sum
}

/// A counter that all lanes in the loop share, and that is looked at behind it.
#[autobatch(strict)]
fn insertion(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    for i in 1..LENGTH {
        let x = a[i];
        let mut j = i;
        while j > 0 && a[j - 1] > x {
            a[j] = a[j - 1];
            j -= 1;
        }
        a[j] = x;
    }
    weighed(&a)
}

#[autobatch(strict)]
fn insertion_by_swaps(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    for i in 1..LENGTH {
        let mut j = i;
        while j > 0 && a[j - 1] > a[j] {
            a.swap(j - 1, j);
            j -= 1;
        }
    }
    weighed(&a)
}

/// Loops that all leave together, around one in which each has counters of its own.
#[autobatch(strict)]
fn merging(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    let mut width = 1;
    while width < LENGTH {
        let mut b = [0.0; LENGTH];
        let mut start = 0;
        while start < LENGTH {
            let (middle, end) = ((start + width).min(LENGTH), (start + 2 * width).min(LENGTH));
            let (mut i, mut j) = (start, middle);
            for k in start..end {
                if i < middle && (j >= end || a[i] <= a[j]) {
                    b[k] = a[i];
                    i += 1;
                } else {
                    b[k] = a[j];
                    j += 1;
                }
            }
            start = end;
        }
        a = b;
        width *= 2;
    }
    weighed(&a)
}

/// A stack of each member's own.
#[autobatch(strict)]
fn partitioning(numbers: [f32; LENGTH]) -> f32 {
    let mut a = numbers;
    let mut stack = [(0usize, 0usize); LENGTH + 2];
    stack[0] = (0, LENGTH);
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let (low, high) = stack[top];
        if high - low < 2 {
            continue;
        }
        let pivot = a[high - 1];
        let mut store = low;
        for i in low..high - 1 {
            if a[i] < pivot {
                a.swap(i, store);
                store += 1;
            }
        }
        a.swap(store, high - 1);
        stack[top] = (low, store);
        stack[top + 1] = (store + 1, high);
        top += 2;
    }
    weighed(&a)
}

/// Two counters, one of which changes in the middle of a round and twice.
#[autobatch(strict)]
fn two_counters(numbers: [f32; LENGTH], limit: f32) -> (usize, i32, f32) {
    let a = numbers;
    let (mut i, mut down) = (0, 30i32);
    let mut sum = 0.0;
    loop {
        if i >= LENGTH {
            break;
        }
        sum += a[i];
        i += 1;
        if sum > limit || i == LENGTH {
            break;
        }
        sum -= a[i] * 0.25;
        down -= 3;
        i += 1;
        sum += down as f32 * 0.001;
    }
    (i, down, sum)
}

/// Each round is its member's own: from both ends towards a number that is not there.
#[autobatch(strict)]
fn halving(numbers: [f32; LENGTH], x: f32) -> (usize, u32) {
    let mut a = numbers;
    for i in 1..LENGTH {
        a[i] = a[i - 1] + a[i].abs();
    }
    let (mut low, mut high, mut rounds) = (0, LENGTH, 0);
    while low < high {
        let middle = (low + high) / 2;
        rounds += 1;
        if a[middle] < x {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low, rounds)
}

/// A counter that a loop goes on with where it was left before, and one that is set anew.
#[autobatch(strict)]
fn resumed(numbers: [f32; LENGTH], step: f32) -> (usize, usize) {
    let a = numbers;
    let (mut k, mut all) = (0, 0);
    let mut from = 2;
    for round in 0..5 {
        while k < LENGTH && a[k] < step * round as f32 {
            k += 1;
        }
        while from < LENGTH && a[from] > step {
            from += 2;
            all += from;
        }
        from = round;
    }
    (k, all)
}

/// Elements of each member's own, looked at again behind what may have changed them: an assignment, an exchange, a short loop.
#[autobatch(strict)]
fn looked_at_again(numbers: [f32; LENGTH], limit: f32) -> f32 {
    let mut a = numbers;
    let (mut i, mut j) = (0, LENGTH - 1);
    let mut sum = 0.0;
    while i < j && sum < limit * 3.0 + 60.0 {
        if a[i] < a[j] {
            a.swap(i, j);
            sum += a[i] - a[j] * 0.5;
            i += 1;
        } else {
            a[j] = a[i] * 0.25;
            for k in 0..3 {
                a[j] += k as f32 * a[k];
                if a[k] < 0.0 {
                    j -= usize::from(j > 0);
                }
            }
            sum += a[j] + a[i];
            j -= usize::from(j > 0);
        }
        sum += 1.0;
    }
    sum + a[i]
}

/// Rounds that end early, in a loop that members leave.
#[autobatch(strict)]
fn skipping(numbers: [f32; LENGTH], limit: f32) -> f32 {
    let a = numbers;
    let mut i = 0;
    let mut sum = 0.0;
    while i < LENGTH && sum < limit {
        i += 1;
        if a[i - 1] < 0.0 {
            continue;
        }
        sum += a[i - 1];
    }
    sum + i as f32
}

/// Loops over ranges that have other ends, forwards and backwards, left early.
#[autobatch(strict)]
fn there_and_back(#[each] xs: &[u32], limit: u32) -> (u32, u32) {
    let mut seen = [0u32; 16];
    let mut sum = 0;
    for i in 0..xs.len() {
        seen[i] = sum;
        sum += xs[i];
        if sum > limit {
            break;
        }
    }
    let mut hash = 7u32;
    for i in (1..xs.len()).rev() {
        hash = hash.wrapping_mul(31) ^ seen[i] ^ seen[i - 1];
    }
    for i in (0..=xs.len() / 2).rev() {
        if seen[i] == 3 {
            break;
        }
        hash = hash.rotate_left(3) ^ seen[i] ^ i as u32;
    }
    (hash, sum)
}

struct Signs {
    first: [f32; STATES],
    moves: [[f32; STATES]; STATES],
    shows: [[f32; STATES]; 4],
}

const STATES: usize = 6;

/// A loop over all but the first of a list, which some members lack: much to do with each. The array is what a field is.
#[autobatch]
fn behind_the_first(#[each] seen: &[u8], signs: &Signs) -> f32 {
    let mut best = signs.first;
    for s in 0..STATES {
        best[s] += signs.shows[seen[0] as usize][s];
    }
    for symbol in &seen[1..] {
        let mut next = [f32::NEG_INFINITY; STATES];
        for s in 0..STATES {
            for p in 0..STATES {
                next[s] = next[s].max(best[p] + signs.moves[p][s]);
            }
            next[s] += signs.shows[*symbol as usize][s];
        }
        best = next;
    }
    best[0].max(best[1]).max(best[5])
}

/// The same of two, with nothing before that would find the list too short; and little to do.
#[autobatch]
fn behind_the_second(#[each] xs: &[f64], x: f64) -> f64 {
    let mut sum = x;
    for y in xs[2..].iter() {
        sum = sum * 0.5 + y;
    }
    sum
}

/// A sentinel that some members lack: they come to an element that is not there.
#[autobatch]
fn sentinel(numbers: [f32; LENGTH], x: f32) -> usize {
    let a = numbers;
    let mut i = 0;
    while a[i] != x {
        i += 1;
    }
    i
}

/// Steps that differ between members, so that each has its own index.
#[autobatch]
fn leaps(numbers: [u32; LENGTH], first: usize) -> u32 {
    let mut a = numbers;
    let (mut at, mut made) = (first, 0);
    while a[at] != 0 {
        let next = at + a[at] as usize;
        a[at] = 0;
        at = next;
        made += 1;
    }
    made
}

fn rows() -> Vec<[f32; LENGTH]> {
    let mut next = noise(77);
    let number = |bits: u64| (bits % 2001) as f32 / 100.0 - 10.0;
    let mut rows: Vec<[f32; LENGTH]> = (0..88).map(|_| std::array::from_fn(|_| number(next()))).collect();
    rows[3] = [1.0; LENGTH];
    rows[4] = std::array::from_fn(|i| i as f32);
    rows[5] = std::array::from_fn(|i| -(i as f32));
    rows[6][2] = f32::NAN;
    rows
}

#[test]
fn sorts_agree() {
    let rows = rows();
    agree_at(SIZES, &rows, |a| insertion(*a), |rows, options| insertion_batched_with(rows, options));
    agree_at(
        SIZES,
        &rows,
        |a| insertion_by_swaps(*a),
        |rows, options| insertion_by_swaps_batched_with(rows, options),
    );
    agree_at(SIZES, &rows, |a| merging(*a), |rows, options| merging_batched_with(rows, options));
    agree_at(SIZES, &rows, |a| partitioning(*a), |rows, options| partitioning_batched_with(rows, options));
}

#[test]
fn searches_agree() {
    let rows: Vec<([f32; LENGTH], f32)> =
        rows().into_iter().enumerate().map(|(n, row)| (row, n as f32 - 20.0)).collect();
    let numbers = |rows: &[([f32; LENGTH], f32)]| column(rows, |row| row.0);
    let limits = |rows: &[([f32; LENGTH], f32)]| column(rows, |row| row.1);
    agree_at(
        SIZES,
        &rows,
        |(a, x)| two_counters(*a, *x),
        |rows, options| two_counters_batched_with(numbers(rows), limits(rows), options),
    );
    agree_at(
        SIZES,
        &rows,
        |(a, x)| halving(*a, *x),
        |rows, options| halving_batched_with(numbers(rows), limits(rows), options),
    );
    agree_at(
        SIZES,
        &rows,
        |(a, x)| looked_at_again(*a, *x),
        |rows, options| looked_at_again_batched_with(numbers(rows), limits(rows), options),
    );
    agree_at(
        SIZES,
        &rows,
        |(a, x)| resumed(*a, *x),
        |rows, options| resumed_batched_with(numbers(rows), limits(rows), options),
    );
    agree_at(
        SIZES,
        &rows,
        |(a, x)| skipping(*a, *x),
        |rows, options| skipping_batched_with(numbers(rows), limits(rows), options),
    );
}

#[test]
fn ranges_with_other_ends_agree() {
    let mut next = noise(5);
    let rows: Vec<(Vec<u32>, u32)> =
        (0..90u32).map(|n| ((0..n % 15).map(|_| (next() % 4) as u32).collect(), n % 23)).collect();
    agree_at(
        SIZES,
        &rows,
        |(xs, limit)| there_and_back(xs, *limit),
        |rows, options| {
            there_and_back_batched_with(
                &column(rows, |row| row.0.clone()),
                column(rows, |row| row.1),
                options,
            )
        },
    );
}

#[test]
fn lists_that_are_too_short_fault_alone() {
    let number = |n: usize| (n * 37 % 100) as f32 / -25.0;
    let signs = Signs {
        first: std::array::from_fn(number),
        moves: std::array::from_fn(|p| std::array::from_fn(|s| number(p * 6 + s))),
        shows: std::array::from_fn(|p| std::array::from_fn(|s| number(p * 11 + s + 3))),
    };
    let mut next = noise(15);
    let rows: Vec<Vec<u8>> =
        (0..90).map(|n| (0..(n * 7) % 19).map(|_| (next() % 4) as u8).collect()).collect();
    same_outcomes(
        &rows,
        |seen| behind_the_first(seen, &signs),
        |rows, options| behind_the_first_batched_with(rows, &signs, options),
    );
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect();
    same_outcomes(
        &rows,
        |xs| behind_the_second(xs, 0.75),
        |rows, options| behind_the_second_batched_with(rows, vec![0.75; rows.len()], options),
    );
}

#[test]
fn members_fault_alone() {
    let rows: Vec<([f32; LENGTH], f32)> = rows()
        .into_iter()
        .enumerate()
        .map(|(n, row)| (row, if n % 9 == 4 { 1000.0 } else { row[n * 7 % LENGTH] }))
        .filter(|(row, x)| !row.iter().any(|y| y.is_nan()) && !x.is_nan())
        .collect();
    same_outcomes(
        &rows,
        |(a, x)| sentinel(*a, *x),
        |rows, options| sentinel_batched_with(column(rows, |row| row.0), column(rows, |row| row.1), options),
    );
    let mut next = noise(8);
    let rows: Vec<([u32; LENGTH], usize)> =
        (0..90).map(|n| (std::array::from_fn(|_| (next() % 4) as u32), n % 3)).collect();
    same_outcomes(
        &rows,
        |(a, first)| leaps(*a, *first),
        |rows, options| leaps_batched_with(column(rows, |row| row.0), column(rows, |row| row.1), options),
    );
}

/// Goes round in its numbers. Some members never leave.
#[autobatch]
fn circling(numbers: [u32; LENGTH], first: u32) -> u32 {
    let a = numbers;
    let (mut at, mut made) = (first, 0u32);
    while a[at as usize] != at {
        at = a[at as usize];
        made = made.wrapping_add(1);
    }
    made
}

/// Where each member goes; every seventh goes round for ever.
fn circles(members: usize) -> Vec<[u32; LENGTH]> {
    let to = |member: usize, at: usize| match (member % 7, at + 1 < LENGTH) {
        (0, true) | (_, true) => at as u32 + 1,
        (0, false) => 0,
        (_, false) => at as u32,
    };
    (0..members).map(|member| std::array::from_fn(|at| to(member, at))).collect()
}

#[test]
fn endless_members_end_alone() {
    let rows = circles(300);
    let firsts: Vec<u32> = (0..300).map(|n| n % 11).collect();
    let is_right = |how: &str, outcome: autobatch::Outcome<u32>, kind: FaultKind| {
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            match result {
                Ok(made) => {
                    assert_eq!((member % 7 > 0, made), (true, 12 - firsts[member]), "{how}: {member}")
                }
                Err(fault) => assert_eq!((member % 7, fault.kind), (0, kind), "{how}: {member}"),
            }
        }
    };
    for (name, options) in executors() {
        let steps = options.clone().max_steps(1000);
        if let Ok(outcome) = circling_batched_with(&rows, firsts.clone(), &steps) {
            is_right(name, outcome, FaultKind::StepsExceeded);
        }
        let results = rows.len() - rows.len().div_ceil(7);
        let run = |o: &Options| circling_batched_with(&rows, firsts.clone(), o).expect("a batch");
        is_right(name, cancelled_with_results(results, &options, run), FaultKind::Cancelled);
        is_right(name, overdue_with_results(results, &options, run), FaultKind::DeadlineExceeded);
    }
}

#[test]
fn they_run_in_vector_frames() {
    let rows = rows();
    let options = Options::default().executor(Executor::Masked).report(true);
    let engines = [
        insertion_batched_with(&rows, &options).expect("a batch").report().engine,
        merging_batched_with(&rows, &options).expect("a batch").report().engine,
    ];
    if cfg!(target_arch = "x86_64") {
        assert_eq!(engines, [Engine::VectorFrames; 2]);
    }
    let over_signs = behind_the_first_batched::program().loops.iter().map(|one| one.rounds);
    assert!(
        over_signs.clone().any(|rounds| rounds == Rounds::Predicated),
        "{:?}",
        over_signs.collect::<Vec<_>>()
    );
    let loops = insertion_batched::program().loops;
    let rounds: Vec<_> = loops.iter().map(|one| (one.rounds, one.obstacle.is_none())).collect();
    let sums = (Rounds::Interchanged, true);
    assert_eq!(rounds, [(Rounds::Interchanged, true), (Rounds::Predicated, true), sums]);
    let lines: Vec<u32> = loops.iter().map(|one| one.line).collect();
    assert_eq!(lines[1], lines[0] + 3, "the `while` stands three lines behind the `for`");
}
