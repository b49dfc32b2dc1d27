//! Arrays of a few numbers in the styles of users: by index, by iterators, made by closures, lent to helpers, in loops and in recursion.

use crate::common::{agree, agree_at, column, executors};
use autobatch::autobatch;

const D: usize = 3;

fn dot(a: &[f64; D], b: &[f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn scale(a: &mut [f64; D], by: f64) {
    for a in a.iter_mut() {
        *a *= by;
    }
}

fn slope(y: [f64; D]) -> [f64; D] {
    [y[1], y[2] - y[0], -0.5 * y[1]]
}

/// Steps until they are small: closures that make arrays, chains, loops that change elements.
#[autobatch(strict)]
fn descended(start: [f64; D], rate: f64) -> f64 {
    let mut x = start;
    let (mut step, mut rounds) = (rate, 0u32);
    while step > 1e-3 && rounds < 60 {
        let g: [f64; D] = std::array::from_fn(|i| 2.0 * x[i] + 0.3 * x[(i + 1) % D]);
        let y: [f64; D] = std::array::from_fn(|i| {
            let by = step * g[i];
            x[i] - by
        });
        let squares = y.map(|v| v * v);
        let here: f64 = x.iter().map(|v| v * v).sum();
        let there = squares.iter().sum::<f64>() + 0.01 * dot(&x, &y);
        let any = y.iter().any(|&v| v > 1.5);
        let all = y.iter().zip(&g).all(|(v, g)| v * g > -1.0);
        if there < here && !any {
            x = y;
            step *= 1.1;
        } else {
            for (k, (x, y)) in x.iter_mut().zip(y.iter()).enumerate() {
                *x += 0.01 * y * k as f64;
            }
            step *= if all { 0.5 } else { 0.25 };
        }
        if rounds % 7 == 3 {
            scale(&mut x, 0.875);
        }
        rounds += 1;
    }
    let last = x.iter().rev().fold(0.0, |sum, v| sum * 0.5 + v);
    last + f64::from(rounds) + x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// A loop of all members' rounds around helpers with arrays.
#[autobatch(strict)]
fn integrated(start: [f64; D], steps: &usize) -> f64 {
    let mut y = start;
    for _ in 0..*steps {
        let a = slope(y);
        let mut middle = [0.0; D];
        for i in 0..D {
            middle[i] = y[i] + 0.05 * a[i];
        }
        let b = slope(middle);
        for (y, b) in y.iter_mut().zip(&b) {
            *y += 0.1 * b;
        }
    }
    y[0] + y[1] * y[2]
}

/// Boxes are halved; one index is computed.
#[autobatch(strict)]
fn volume(low: [f64; D], high: [f64; D], depth: u32) -> f64 {
    let mid: [f64; D] = std::array::from_fn(|i| 0.5 * (low[i] + high[i]));
    let r: f64 = mid.iter().map(|m| m * m).sum();
    let size: f64 = low.iter().zip(&high).map(|(l, h)| h - l).product();
    if depth == 0 || r > 1.5 {
        return if r < 1.0 { size } else { 0.0 };
    }
    let (mut low_of, mut high_of) = (low, high);
    let axis = (depth % 3) as usize;
    low_of[axis] = mid[axis];
    high_of[axis] = mid[axis];
    volume(low, high_of, depth - 1) + volume(low_of, high, depth - 1)
}

/// Elements have one type, which the first assignment decides.
#[autobatch(strict)]
fn narrow(x: f32, n: u32) -> f64 {
    let mut p = [0.1; 4];
    let (q, mut i) = ([0.1, 0.7], 0);
    while i < n {
        p[0] = x * p[1] + p[2];
        p[3] += q[0] * p[0];
        i += 1;
    }
    f64::from(p[1]) + f64::from(p[3]) + q[1] as f64
}

/// References have methods of their own.
#[autobatch(strict)]
fn larger(a: [i64; 3], n: u32) -> i64 {
    let (mut sum, mut i) = (0i64, 0);
    while i < n {
        for x in a.iter() {
            sum += *x.max(&4) + x.abs();
        }
        sum += a.iter().map(|x| x.min(&2)).sum::<i64>();
        sum ^= a.iter().max().map_or(0, |m| *m) + a.iter().fold(&a[0], |m, x| if x > m { x } else { m });
        i += 1;
    }
    sum
}

/// Some members look behind the end.
#[allow(clippy::needless_range_loop)] // by index
#[autobatch(strict)]
fn behind(n: u32, a: [i64; 3]) -> i64 {
    let (mut sum, mut i) = (0, 0);
    while i < 3 {
        for k in 0..4 {
            if k < n as usize {
                sum += a[k] * k as i64;
            }
        }
        i += 1;
    }
    sum
}

/// A constant of the body, and rows of a table of its own.
#[autobatch(strict)]
fn hidden(x: f64, n: u32) -> f64 {
    const D: usize = 2;
    let mut p = [x; D];
    let m = [[x, 1.0], [0.5, x]];
    let mut i = 0;
    while i < n {
        for k in 0..D {
            p[k] = 0.5 * p[D - 1 - k] + k as f64;
        }
        for (p, row) in p.iter_mut().zip(&m) {
            *p += 0.125 * row[0] - 0.25 * row[1];
        }
        i += 1;
    }
    p[0] - p[1]
}

fn start(i: usize) -> [f64; D] {
    std::array::from_fn(|k| ((i * 29 + k * 13) % 64) as f64 / 24.0 - 1.2)
}

#[test]
fn in_loops() {
    let batch: Vec<_> = (0..257).map(|i| (start(i), 0.05 + 0.01 * (i % 17) as f64)).collect();
    agree(
        &batch,
        |(start, rate)| descended(*start, *rate),
        |batch, options| descended_batched_with(column(batch, |m| m.0), column(batch, |m| m.1), options),
    );
    let starts: Vec<_> = (0..257).map(start).collect();
    agree(
        &starts,
        |start| integrated(*start, &37),
        |starts, options| integrated_batched_with(starts, &37, options),
    );
    let batch: Vec<_> = (0..257).map(|i| (i as f32 / 99.0, i as u32 % 23)).collect();
    agree(
        &batch,
        |(x, n)| narrow(*x, *n),
        |batch, options| narrow_batched_with(column(batch, |m| m.0), column(batch, |m| m.1), options),
    );
    let batch: Vec<_> = (0..257).map(|i| (i as f64 / 99.0, i as u32 % 23)).collect();
    agree(
        &batch,
        |(x, n)| hidden(*x, *n),
        |batch, options| hidden_batched_with(column(batch, |m| m.0), column(batch, |m| m.1), options),
    );
}

#[test]
fn of_references() {
    let batch: Vec<_> = (0..97i64).map(|i| ([i % 9 - 4, i % 5, 3 - i % 7], i as u32 % 6)).collect();
    agree(
        &batch,
        |(a, n)| larger(*a, *n),
        |batch, options| larger_batched_with(column(batch, |m| m.0), column(batch, |m| m.1), options),
    );
}

#[test]
fn in_recursion() {
    let batch: Vec<_> = (0..97).map(|i| (start(i), start(i).map(|x| x + 1.25), i as u32 % 8)).collect();
    agree_at(
        &[1, 40, 300],
        &batch,
        |(low, high, depth)| volume(*low, *high, *depth),
        |batch, options| {
            let (low, high) = (column(batch, |m| m.0), column(batch, |m| m.1));
            volume_batched_with(&low, &high, column(batch, |m| m.2), options)
        },
    );
}

#[test]
fn behind_the_end() {
    let n: Vec<u32> = (0..200).map(|i| i % 5).collect();
    let a: Vec<[i64; 3]> = (0..200).map(|i| [i, i + 1, 2 * i]).collect();
    for (how, options) in executors() {
        let (values, faults, _) = behind_batched_with(&n, &a, &options).unwrap().into_parts();
        assert_eq!(faults.len(), 40, "{how}");
        for (member, value) in values.into_iter().enumerate() {
            let want = (n[member] < 4).then(|| behind(n[member], a[member]));
            assert_eq!(value, want, "{how}");
        }
    }
}

/// Elements that are chosen by what is computed: read, written, changed, shifted by another type, inside of an operand and of an index.
#[autobatch(strict)]
fn chosen(start: [i64; 3], n: u32) -> i64 {
    let mut a = start;
    let mut marks = [false; 2];
    let mut k = n as usize;
    let mut sum = 0;
    while k % 11 != 7 && sum < 1 << 40 {
        let by = a[k % 3] - 2 * a[(k + 1) % 3];
        a[k % 3] += by % 100;
        a[(k / 2) % 3] ^= a[k % 3] << (k % 5) as u32;
        a[a[0].rem_euclid(3) as usize] >>= 1u8;
        marks[k % 2] = marks[(k + 1) % 2] ^ (by > 0);
        sum += a[k % 3].wrapping_mul(3) + i64::from(marks[k % 2]);
        k += 1;
    }
    sum ^ a[k % 3]
}

/// The value is made before the index, which is behind the end for some members; the operand before is kept.
#[autobatch]
fn choosing(n: u32, tick: &mut [u32; 2]) -> u32 {
    let mut a = [1u32, 2, 3];
    let mut k = n as usize;
    while k > 4 {
        a[k % 3] = a[(k / 3) % 3] + a[k % 3] * 2;
        k -= 1;
    }
    a[k] = a[0] + 10 / (a[2] - 3 + n % 7);
    tick[0] += 1;
    tick[k % 2] += a[k];
    a[1] + a[k]
}

#[test]
fn chosen_by_what_is_computed() {
    let batch: Vec<_> = (0..211i64).map(|i| ([i, 3 - i, i * i % 17], i as u32)).collect();
    agree(
        &batch,
        |(a, n)| chosen(*a, *n),
        |batch, options| chosen_batched_with(column(batch, |m| m.0), column(batch, |m| m.1), options),
    );
    let n: Vec<u32> = (0..211).collect();
    for (how, options) in executors() {
        let mut ticks: Vec<[u32; 2]> = n.iter().map(|n| [*n, 1]).collect();
        let outcome = choosing_batched_with(&n, &mut ticks, &options.quiet(true)).unwrap();
        let mut failed = 0;
        for (n, (result, tick)) in n.iter().zip(outcome.into_results().into_iter().zip(ticks)) {
            let mut own = [*n, 1];
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| choosing(*n, &mut own))) {
                Ok(expected) => {
                    assert_eq!((result.ok(), tick), (Some(expected), own), "{how}: {n}");
                }
                Err(payload) => {
                    let expected = payload.downcast_ref::<String>().cloned();
                    let expected =
                        expected.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_string()));
                    assert_eq!(Some(result.expect_err("a fault").message), expected, "{how}: {n}");
                    failed += 1;
                }
            }
        }
        assert!(failed > 20, "{how}: {failed}");
    }
}

struct Weights {
    rows: [[f64; 5]; 3],
    first: [f64; 5],
}

/// Arrays of the member's beside rows of what all share, which is looked up by what the member has.
#[autobatch]
fn beside_shared_rows(#[each] which: &[u8], weights: &Weights) -> f64 {
    let mut sums = weights.first;
    let mut t = 0;
    while t < which.len() {
        for (sum, weight) in sums.iter_mut().zip(&weights.rows[which[t] as usize]) {
            *sum = 0.5 * *sum + weight;
        }
        for ((k, sum), weight) in sums.iter_mut().enumerate().zip(weights.rows[t % 3].iter()) {
            *sum = sum.max(k as f64 * weight);
        }
        t += 1;
    }
    sums.iter().sum()
}

#[test]
fn rows_of_what_all_members_share() {
    let weights = Weights {
        rows: std::array::from_fn(|i| std::array::from_fn(|k| (i * 7 + k * 3) as f64 / 4.0 - 2.0)),
        first: std::array::from_fn(|k| k as f64),
    };
    let mut next = crate::lookups::noise(3);
    let rows: Vec<Vec<u8>> = (0..80)
        .map(|n| (0..n % 13).map(|_| if n % 9 == 5 { next() % 5 } else { next() % 3 } as u8).collect())
        .collect();
    crate::lookups::same_outcomes(
        &rows,
        |which| beside_shared_rows(which, &weights),
        |rows, options| beside_shared_rows_batched_with(rows, &weights, options),
    );
}
