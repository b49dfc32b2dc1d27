//! Loops that members leave at different times: by `break`, by a `while` that counts; elements of a lane's own; short loops in loops that
//! are straight code, with helpers and states.

// Written as users write.
#![allow(
    clippy::needless_range_loop,
    clippy::manual_swap,
    clippy::while_let_loop,
    clippy::explicit_counter_loop
)]

use crate::common::{agree_at, column, executors};
use crate::lookups::{noise, same_outcomes};
use autobatch::{Isa, autobatch};

const SIZES: &[usize] = &[1, 70];

/// How far a list is gone through: a lane that has left skips what stands behind, also in loops in the loop.
#[autobatch(strict)]
fn gone_through(list: &[f64], others: &[f64], x: f64, low: f64) -> f64 {
    let (mut sum, mut passed, mut last) = (0.0, 0u32, -1.0);
    for i in 0..list.len() {
        if list[i] < low {
            continue;
        }
        sum += list[i] * x;
        if sum > 4.0 {
            last = list[i];
            if x > 0.5 {
                passed += 100;
                break;
            } else if x < -0.5 {
                break;
            }
        }
        passed += 1;
        for other in others {
            if *other > sum {
                passed += 10;
                break;
            }
            sum -= *other * 0.25;
        }
        sum += 0.125;
    }
    sum + f64::from(passed) * 64.0 + last
}

const LENGTH: usize = 9;

/// Neighbours are exchanged, by a `while` that counts in steps, by `swap`, in a helper.
#[autobatch(strict)]
fn sorted(mut a: [u32; LENGTH], from: u32) -> u32 {
    for round in 0..4 {
        let mut i = round % 2;
        while i + 1 < LENGTH {
            if a[i] > a[i + 1] {
                a.swap(i, i + 1);
            }
            i += 2;
        }
    }
    order(&mut a);
    let mut least = 0;
    for j in 1..LENGTH {
        if a[j] % 16 < a[least] % 16 {
            least = j;
        }
    }
    a.swap(least, 0);
    let mut sum = from;
    for j in 0..LENGTH {
        sum = sum.wrapping_mul(31) + a[j];
    }
    sum
}

/// Counts from where a member says, and looks ahead: beyond the last number for some.
#[autobatch(strict)]
fn climbed(first: usize, heights: &[i64; LENGTH]) -> i64 {
    let mut i = first;
    let mut sum = 0;
    while i + 2 < 9 {
        sum += (heights[i + 2] - heights[i]).max(0);
        i += 1;
    }
    sum
}

fn order(a: &mut [u32; LENGTH]) {
    for i in 0..LENGTH {
        for j in i + 1..LENGTH {
            if a[j] < a[i] {
                a.swap(i, j);
            }
        }
    }
}

/// A loop that ends where all are, and then an array's place of the lane's own.
#[autobatch(strict)]
fn placed(list: &[u32], x: u32, n: &usize) -> u32 {
    let mut row = [0u32; 12];
    let mut filled = 0;
    for i in 0..list.len() {
        if i == *n {
            break;
        }
        if filled == row.len() || list[i] % 7 == 6 {
            break;
        }
        if list[i] % 3 == x % 3 {
            row[filled] = list[i] + x;
            filled += 1;
        }
    }
    let mut mixed = filled as u32;
    for i in 0..12 {
        mixed = mixed.wrapping_mul(31).wrapping_add(row[i]);
    }
    mixed
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Xorshift(u32);

impl Xorshift {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// The counter of a search is looked at behind it; each member has a generator of its own.
#[autobatch]
fn found(rng: &mut Xorshift, xs: &[u32], ys: &[u32], mask: u32) -> u64 {
    let mut all = 0u64;
    for _ in 0..6 {
        let key = rng.bits() & mask;
        let mut i = 0;
        while i < xs.len() {
            if xs[i] & mask == key || ys[i] % 11 == key {
                break;
            }
            i += 1;
        }
        if i == xs.len() {
            all += 1;
        }
        all = all * 37 + i as u64;
    }
    all
}

/// Members that find nothing look behind the end.
#[autobatch]
fn found_at(xs: &[u32], key: u32) -> u32 {
    let mut i = 1;
    while i <= xs.len() {
        if xs[i - 1] == key {
            break;
        }
        i += 1;
    }
    xs[i - 1]
}

/// Loops that count, whose counters are looked at behind them.
#[autobatch(strict)]
fn counted(#[each] list: &[u8], first: u8, n: u32) -> u64 {
    let mut sum = 0u64;
    let mut j = 0;
    while j < list.len() {
        sum = sum * 3 + u64::from(list[j] ^ first);
        j += 1;
    }
    let mut k = 5;
    while k < n {
        sum += u64::from(k * k);
        k += 1;
    }
    let mut l = 2;
    while l < 9 {
        sum ^= u64::from(l as u32) << l;
        l += 1;
    }
    sum * 1000 + (j as u64) * 100 + u64::from(k) + u64::from(l as u32)
}

/// Sorting by selection: the least number stands at an index of the lane's own.
#[autobatch(strict)]
fn selected(numbers: [f32; 12]) -> [f32; 12] {
    let mut a = numbers;
    for i in 0..12 {
        let mut least = i;
        for j in i + 1..12 {
            if a[j] < a[least] {
                least = j;
            }
        }
        let x = a[i];
        a[i] = a[least];
        a[least] = x;
    }
    a
}

/// Weights of a model behind a reference.
struct Model {
    change: [[f64; 3]; 4],
    bias: Vec<f64>,
}

#[autobatch(strict)]
fn weighted(x: f64, y: f64, model: &Model) -> f64 {
    let mut state = [x, y, x - y, 1.0, 0.5, x, y, 2.0, 1.0, x];
    for step in 0..9 {
        for i in 0..10 {
            state[i] = state[i] * model.change[step % 4][i % 3] + model.bias[step % 3];
        }
    }
    state[0] + state[5] - state[9]
}

const A: [[f64; 3]; 3] = [[0.5, 0.0, 0.0], [0.25, 0.75, 0.0], [0.125, 0.375, 0.5]];

fn rate(y: &[f64; 2], a: f64) -> [f64; 2] {
    [y[0] * (a - y[1]), y[1] * (y[0] - 1.0)]
}

/// A helper with loops in loops.
fn attempt(y: &[f64; 2], h: f64, a: f64) -> ([f64; 2], f64) {
    let mut k = [[0.0; 2]; 4];
    k[0] = rate(y, a);
    let mut new = *y;
    for stage in 0..3 {
        for i in 0..2 {
            let mut sum = 0.0;
            for j in 0..=stage {
                sum += A[stage][j] * k[j][i];
            }
            new[i] = y[i] + h * sum;
        }
        k[stage + 1] = rate(&new, a);
    }
    let mut error = 0.0f64;
    for i in 0..2 {
        error = error.max((h * (k[3][i] - k[1][i])).abs());
    }
    (new, error)
}

#[autobatch(strict)]
fn adaptive(y: &mut [f64; 2], a: f64) -> u32 {
    let (mut t, mut h, mut attempts) = (0.0, 0.25, 0);
    while t < 2.0 {
        let (new, error) = attempt(y, h, a);
        if error < 0.05 {
            t += h;
            *y = new;
            h *= 1.25;
        } else {
            h *= 0.5;
        }
        attempts += 1;
    }
    attempts
}

fn words(seed: u64, n: usize, below: u64) -> Vec<u32> {
    let mut noise = noise(seed);
    (0..n).map(|_| (noise() % below) as u32).collect()
}

#[test]
fn arrays_are_sorted() {
    let rows: Vec<([u32; LENGTH], u32)> = words(33, 700, 1_000)
        .chunks(LENGTH + 1)
        .map(|w| (std::array::from_fn(|i| w[i]), w[LENGTH]))
        .collect();
    agree_at(
        SIZES,
        &rows,
        |(a, from)| sorted(*a, *from),
        |rows, options| sorted_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), options),
    );
}

#[test]
fn lanes_that_have_left_change_nothing() {
    let numbers =
        |seed, n| -> Vec<f64> { words(seed, n, 97).iter().map(|n| f64::from(*n) / 48.0 - 0.5).collect() };
    let rows: Vec<(f64, f64)> = words(5, 70, 211)
        .chunks(2)
        .map(|w| (f64::from(w[0]) / 80.0 - 1.25, f64::from(w[1]) / 300.0 - 0.4))
        .collect();
    for (list, others) in [(numbers(3, 40), numbers(4, 7)), (numbers(6, 1), vec![]), (vec![], numbers(7, 3))]
    {
        agree_at(
            SIZES,
            &rows,
            |(x, low)| gone_through(&list, &others, *x, *low),
            |rows, options| {
                let (x, low) = (column(rows, |r| r.0), column(rows, |r| r.1));
                gone_through_batched_with(&list, &others, x, low, options)
            },
        );
    }
    let list = words(8, 60, 1000);
    for n in [0, 3, 60, 99] {
        agree_at(
            SIZES,
            &words(9, 70, 50),
            |x| placed(&list, *x, &n),
            |x, options| placed_batched_with(&list, x, &n, options),
        );
    }
}

#[test]
fn counters_are_the_same_behind_loops() {
    let (xs, ys) = (words(11, 30, 4000), words(12, 30, 4000));
    let masks: Vec<u32> = words(13, 70, 10).iter().map(|n| (1 << (n + 1)) - 1).collect();
    let seeds = words(14, 70, 1 << 31);
    let mut expected = Vec::new();
    let mut left: Vec<Xorshift> = seeds.iter().map(|seed| Xorshift(*seed | 1)).collect();
    for (rng, mask) in left.iter_mut().zip(&masks) {
        expected.push(found(rng, &xs, &ys, *mask));
    }
    for (name, options) in executors() {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let mut states: Vec<Xorshift> = seeds.iter().map(|seed| Xorshift(*seed | 1)).collect();
            let outcome = found_batched_with(&mut states, &xs, &ys, &masks, &options.clone().isa(isa));
            assert_eq!(outcome.expect("a batch").into_values().expect("no faults"), expected, "{name}");
            assert_eq!(states, left, "{name}");
        }
    }
    let keys: Vec<u32> = xs.iter().copied().chain([4001]).collect();
    same_outcomes(
        &keys,
        |key| found_at(&xs, *key),
        |keys, options| found_at_batched_with(&xs, keys, options),
    );
    let rows: Vec<(Vec<u8>, u8, u32)> = (0..70)
        .map(|n| {
            (words(n + 1, n as usize % 9, 256).iter().map(|w| *w as u8).collect(), n as u8, n as u32 % 13)
        })
        .collect();
    agree_at(
        SIZES,
        &rows,
        |(list, first, n)| counted(list, *first, *n),
        |rows, options| {
            let lists = column(rows, |row| row.0.clone());
            counted_batched_with(&lists, column(rows, |row| row.1), column(rows, |row| row.2), options)
        },
    );
}

#[test]
fn counting_ahead_overflows_where_it_does_in_the_scalar_function() {
    let heights = [3, 5, 1, 8, 8, -4, 0, 9, 2];
    let mut firsts: Vec<usize> = (0..70).collect();
    (firsts[11], firsts[40], firsts[41]) = (usize::MAX, usize::MAX - 1, usize::MAX - 2);
    same_outcomes(
        &firsts,
        |first| climbed(*first, &heights),
        |firsts, options| climbed_batched_with(firsts, &heights, options),
    );
}

#[test]
fn lanes_have_elements_of_their_own() {
    let rows: Vec<[f32; 12]> =
        (0..70).map(|n| std::array::from_fn(|i| words(n * 12 + i as u64 + 1, 1, 50)[0] as f32)).collect();
    agree_at(SIZES, &rows, |row| selected(*row), |rows, options| selected_batched_with(rows, options));
    let model = Model {
        change: [[0.5, -0.25, 1.0], [1.5, 0.75, -1.0], [0.125, 2.0, 0.5], [1.0, 1.0, -0.5]],
        bias: vec![0.25, -1.0, 3.0],
    };
    let rows: Vec<(f64, f64)> =
        words(21, 140, 90).chunks(2).map(|w| (f64::from(w[0]) / 9.0, f64::from(w[1]) / 7.0)).collect();
    agree_at(
        SIZES,
        &rows,
        |(x, y)| weighted(*x, *y, &model),
        |rows, options| weighted_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), &model, options),
    );
}

#[test]
fn short_loops_in_loops_are_straight_code() {
    let growths: Vec<f64> = words(31, 70, 100).iter().map(|n| 0.5 + f64::from(*n) / 100.0).collect();
    let starts: Vec<[f64; 2]> = words(32, 140, 100)
        .chunks(2)
        .map(|w| [0.5 + f64::from(w[0]) / 80.0, 0.5 + f64::from(w[1]) / 90.0])
        .collect();
    let mut left = starts.clone();
    let expected: Vec<u32> = left.iter_mut().zip(&growths).map(|(y, a)| adaptive(y, *a)).collect();
    for (name, options) in executors() {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let mut states = starts.clone();
            let outcome = adaptive_batched_with(&mut states, &growths, &options.clone().isa(isa));
            assert_eq!(outcome.expect("a batch").into_values().expect("no faults"), expected, "{name}");
            let bits = |states: &[[f64; 2]]| -> Vec<[u64; 2]> {
                states.iter().map(|y| y.map(f64::to_bits)).collect()
            };
            assert_eq!(bits(&states), bits(&left), "{name}");
        }
    }
}
