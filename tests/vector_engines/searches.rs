//! Loops with the same rounds for all members, from which some return early: searches in lists, matrices that have no factors.

#![allow(clippy::needless_range_loop, clippy::manual_find)] // written as users write

use crate::common::{agree_at, column, executors};
use autobatch::autobatch;

const SIZES: [usize; 3] = [1, 67, 300];

#[autobatch(strict)]
fn first_pair(xs: &[i32], target: i32) -> u32 {
    for i in 0..xs.len() {
        for j in i + 1..xs.len() {
            if xs[i] + xs[j] == target {
                return (i * xs.len() + j) as u32;
            }
        }
    }
    u32::MAX
}

#[autobatch(strict)]
fn place(list: &[f64], x: f64, low: f64) -> Option<usize> {
    if x < low {
        return None;
    }
    let mut sum = 0.0;
    for (i, &next) in list.iter().enumerate() {
        sum += next;
        if sum < 0.0 {
            continue;
        }
        if sum > x {
            return Some(i);
        } else if next > 0.99 && sum * 1.5 > x {
            let far = i + 1000;
            return Some(far);
        }
        sum *= 0.99;
    }
    if sum > 1.0 { Some(list.len()) } else { None }
}

/// The logarithm of the determinant, if the matrix is positive definite.
#[autobatch(strict)]
fn determinant(a: [[f64; 5]; 5]) -> Result<f64, usize> {
    let mut l = [[0.0; 5]; 5];
    for i in 0..5 {
        for j in 0..=i {
            let mut s = a[i][j];
            for k in 0..j {
                s -= l[i][k] * l[j][k];
            }
            if i == j {
                if s <= 0.0 {
                    return Err(i);
                }
                l[i][j] = s.sqrt();
            } else {
                l[i][j] = s / l[j][j];
            }
        }
    }
    let mut d = 0.0;
    for i in 0..5 {
        d += l[i][i].ln();
    }
    Ok(2.0 * d)
}

/// A solution of linear equations, by Gauss's elimination with pivots.
#[autobatch(strict)]
fn solved(matrix: [[f64; 4]; 4], right: [f64; 4]) -> [f64; 4] {
    let mut a = matrix;
    let mut b = right;
    for col in 0..4 {
        for row in col + 1..4 {
            if a[col][col] == 0.0 {
                return [f64::NAN; 4];
            }
            let f = a[row][col] / a[col][col];
            for k in 0..4 {
                a[row][k] -= f * a[col][k];
            }
            b[row] -= f * b[col];
        }
    }
    for row in (0..4).rev() {
        for k in row + 1..4 {
            b[row] -= a[row][k] * b[k];
        }
        b[row] /= a[row][row];
    }
    b
}

/// What a member would do behind its return is a fault: it must not be its own.
#[autobatch]
fn stops_in_time(xs: &[u8], x: u8, at: usize) -> u32 {
    let mut sum = x;
    for i in 0..xs.len() {
        for k in 0..3 {
            if usize::from(x) == i * 3 + k {
                return u32::from(sum);
            }
            sum = sum / 2 + xs[i] / (12 - i as u8);
        }
        if i > at {
            return u32::from(xs[at + i]);
        }
    }
    u32::from(sum) + 1000
}

/// A result that owns something.
#[autobatch]
fn owned(xs: &[u32], x: u32) -> String {
    for i in 0..xs.len() {
        let y = xs[i].wrapping_mul(x).rotate_left(3) ^ (x >> 2);
        if y % 7 == 3 && y > xs[0] {
            return String::from("found");
        }
    }
    format!("nothing for {x}")
}

/// The state is as the scalar function leaves it.
#[autobatch]
fn counted(count: &mut u32, xs: &[u32], x: u32) -> (u32, bool) {
    *count += 1;
    let mut y = x;
    for i in 0..xs.len() {
        y = y.wrapping_mul(xs[i]).wrapping_add(x >> 3) ^ (y >> 7);
        if y & 15 == 3 {
            return (i as u32, true);
        }
    }
    *count += y;
    (y, false)
}

/// What is looked for is in one place for all but some members.
#[autobatch(vector_math)]
fn sines(list: &[f64], x: f64) -> f64 {
    let mut y = x;
    for w in list {
        y = autobatch::math::sin(y * w) + autobatch::math::exp(-y * y);
        if y > 1.9 - 0.01 * x {
            return y;
        }
        y = autobatch::math::cos(y) * 0.5;
    }
    -y
}

fn numbers() -> Vec<f64> {
    (0..97).map(|i| f64::from(i) * 0.043).collect()
}

#[test]
fn searches_in_lists() {
    let list: Vec<i32> = (0..20).map(|i| (i * 37) % 101).collect();
    let targets: Vec<i32> = (0..230).collect();
    for list in [&list[..], &list[..1], &[]] {
        agree_at(&SIZES, &targets, |&t| first_pair(list, t), |m, o| first_pair_batched_with(list, m, o));
    }
    let list: Vec<f64> = (0..25).map(|i| (f64::from(i) * 0.7).sin()).collect();
    for low in [-1.0, 1.0] {
        agree_at(
            &SIZES,
            &numbers(),
            |&x| place(&list, x, low),
            |m, o| place_batched_with(&list, m, autobatch::same(low), o),
        );
    }
    agree_at(&SIZES, &numbers(), |&x| sines(&list, x), |m, o| sines_batched_with(&list, m, o));
    let words: Vec<u32> = (0..12).map(|i| 77 + i * 13).collect();
    let seeds: Vec<u32> = (0..90).map(|i| i * 7_919).collect();
    agree_at(&SIZES, &seeds, |&x| owned(&words, x), |m, o| owned_batched_with(&words, m, o));
}

#[test]
fn matrices() {
    let matrices: Vec<[[f64; 5]; 5]> = (0..90u32)
        .map(|n| {
            let b: [[f64; 5]; 5] = std::array::from_fn(|i| {
                std::array::from_fn(|k| f64::from((n * 7 + i as u32 * 5 + k as u32 * 3) % 11) * 0.2 - 1.0)
            });
            let squared = |i: usize, k: usize| (0..5).map(|j| b[i][j] * b[k][j]).sum::<f64>();
            // Every third is not positive definite.
            let shift = if n % 3 == 0 { -0.5 } else { 0.3 };
            std::array::from_fn(|i| std::array::from_fn(|k| squared(i, k) + if i == k { shift } else { 0.0 }))
        })
        .collect();
    assert!(matrices.iter().any(|m| determinant(*m).is_err()));
    assert!(matrices.iter().any(|m| determinant(*m).is_ok()));
    agree_at(&SIZES, &matrices, |&m| determinant(m), |m, o| determinant_batched_with(m, o));
    let equations: Vec<([[f64; 4]; 4], [f64; 4])> = (0..90u32)
        .map(|n| {
            let a = std::array::from_fn(|i| {
                std::array::from_fn(|k| f64::from((n * 5 + i as u32 * 7 + k as u32 * k as u32) % 7) - 2.0)
            });
            (a, std::array::from_fn(|i| f64::from(n + i as u32)))
        })
        .collect();
    let bits = |x: [f64; 4]| x.map(|x| if x.is_nan() { 0 } else { x.to_bits() });
    for (name, options) in executors() {
        let (a, b) = (column(&equations, |e| e.0), column(&equations, |e| e.1));
        let all = solved_batched_with(&a, &b, &options).expect("a batch").into_values().expect("no faults");
        for (nth, (a, b)) in equations.iter().enumerate() {
            assert_eq!(bits(all[nth]), bits(solved(*a, *b)), "{name}: {nth}");
        }
    }
}

#[test]
fn nobody_fails_behind_its_return() {
    let xs: Vec<u8> = (0..13).map(|i| 40 + i).collect();
    let members: Vec<(u8, usize)> =
        (0..200).map(|i| ((i * 7 % 50) as u8, [3, 9, 11, 20][i as usize % 4])).collect();
    let mut faults = 0;
    for (name, options) in executors() {
        let (x, at) = (column(&members, |m| m.0), column(&members, |m| m.1));
        let results =
            stops_in_time_batched_with(&xs, &x, &at, &options.quiet(true)).expect("a batch").into_results();
        for (&(x, at), result) in members.iter().zip(results) {
            let scalar = std::panic::catch_unwind(|| stops_in_time(&xs, x, at)).ok();
            faults += usize::from(scalar.is_none());
            assert_eq!(result.ok(), scalar, "{name}: {x}, {at}");
        }
    }
    assert!(faults > 0);
}

#[test]
fn states() {
    let words: Vec<u32> = (0..9).map(|i| 0x9e37_79b9u32.rotate_left(i) | 1).collect();
    let seeds: Vec<u32> = (0..120).map(|i| i * 7_919).collect();
    for (name, options) in executors() {
        let mut counts: Vec<u32> = seeds.iter().map(|x| x % 5).collect();
        let results = counted_batched_with(&mut counts, &words, &seeds, &options)
            .expect("a batch")
            .into_values()
            .expect("no faults");
        for (nth, &x) in seeds.iter().enumerate() {
            let mut count = x % 5;
            assert_eq!(results[nth], counted(&mut count, &words, x), "{name}: {x}");
            assert_eq!(counts[nth], count, "{name}: {x}");
        }
    }
}
