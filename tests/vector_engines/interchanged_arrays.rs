//! Arrays of arrays, whole arrays and helpers with arrays in interchanged loops.

#![allow(clippy::needless_range_loop, clippy::manual_memcpy, clippy::assign_op_pattern)] // written as users write

use crate::common::{agree_at, column, executors};
use autobatch::autobatch;

const SIZES: [usize; 3] = [1, 67, 300];

type Matrix = [[f64; 4]; 4];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

fn transposed(a: &Matrix) -> Matrix {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            c[i][j] = a[j][i];
        }
    }
    c
}

/// A Kalman filter of a position in a plane.
#[autobatch(strict)]
fn filter(q: f64, r: f64, seen: &[f64]) -> f64 {
    let dt = 0.1;
    let f: Matrix = [[1.0, 0.0, dt, 0.0], [0.0, 1.0, 0.0, dt], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let mut x = [0.0; 4];
    let mut p: Matrix = [[0.0; 4]; 4];
    for i in 0..4 {
        p[i][i] = 1.0;
    }
    for &z in seen {
        let mut moved = [0.0; 4];
        for i in 0..4 {
            for j in 0..4 {
                moved[i] += f[i][j] * x[j];
            }
        }
        p = product(&product(&f, &p), &transposed(&f));
        for i in 0..4 {
            p[i][i] += q;
        }
        let s = p[0][0] + r;
        let gain = [p[0][0] / s, p[1][0] / s, p[2][0] / s, p[3][0] / s];
        for i in 0..4 {
            x[i] = moved[i] + gain[i] * (z - moved[0]);
        }
        let row = p[0];
        for i in 0..4 {
            for j in 0..4 {
                p[i][j] -= gain[i] * row[j];
            }
        }
    }
    x[0] + p[0][0] + p[3][1]
}

/// Heat in a rod, in two arrays that are exchanged.
#[autobatch(strict)]
fn heat(left: f64, right: f64, rounds: &u32) -> f64 {
    let mut now = [0.0; 20];
    let mut next = [1.0; 20];
    now[0] = left;
    now[19] = right;
    for _ in 0..*rounds {
        next[0] = now[0];
        next[19] = now[19];
        for i in 1..19 {
            next[i] = now[i] + 0.2 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
        std::mem::swap(&mut now, &mut next);
    }
    let mut sum = 0.0;
    for i in 0..20 {
        sum = sum * 0.5 + now[i] - next[i] * 0.25;
    }
    sum
}

#[test]
fn arrays_that_are_exchanged() {
    let ends: Vec<(f64, f64)> = (0..300).map(|i| (i as f64 / 7.0, (i * i % 31) as f64)).collect();
    for rounds in [0, 1, 8] {
        agree_at(
            &SIZES,
            &ends,
            |(left, right)| heat(*left, *right, &rounds),
            |ends, options| heat_batched_with(column(ends, |e| e.0), column(ends, |e| e.1), &rounds, options),
        );
    }
}

/// Bodies that attract each other.
#[autobatch(strict)]
fn bodies(start: [[f64; 3]; 4]) -> [f64; 3] {
    let mut p = start;
    let mut v = [[0.0; 3]; 4];
    for _ in 0..4 {
        for i in 0..4 {
            let mut a = [0.0; 3];
            for j in 0..4 {
                if i == j {
                    continue;
                }
                let d = [p[j][0] - p[i][0], p[j][1] - p[i][1], p[j][2] - p[i][2]];
                let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
                if r2 > 1.5 {
                    continue;
                }
                let s = 1.0 / (r2 * r2.sqrt());
                for k in 0..3 {
                    a[k] += s * d[k];
                }
            }
            for k in 0..3 {
                v[i][k] += 0.01 * a[k];
            }
        }
        for i in 0..4 {
            for k in 0..3 {
                p[i][k] += 0.01 * v[i][k];
            }
        }
    }
    p[3]
}

/// Two rounds of SHA-256's schedule and compression.
#[autobatch(strict)]
fn digest(block: [u32; 16]) -> u32 {
    let mut w = [0u32; 64];
    w[..16].copy_from_slice(&block);
    for i in 16..64 {
        let s0 = w[i - 15].rotate_right(7) ^ (w[i - 15] >> 3);
        let s1 = w[i - 2].rotate_right(17) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
    }
    w[4..=6].copy_from_slice(&block[13..]);
    let mut h: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];
    let [mut a, mut b, mut c, mut d] = h;
    for i in 0..64 {
        let t = d.wrapping_add((a & b) ^ (!a & c)).wrapping_add(w[i]);
        d = c;
        c = b;
        b = a.rotate_right(6);
        a = t;
    }
    for (h, v) in h.iter_mut().zip([a, b, c, d]) {
        *h = h.wrapping_add(v);
    }
    h[0] ^ h[3]
}

/// The types of arrays are those that are written, not those that rustc would take without.
#[autobatch(strict)]
fn written_types(x: f64) -> (f64, f64, u64) {
    let mut narrow: [f32; 16] = [0.1; 16];
    let mut bytes: [u8; 16] = [200; 16];
    let mut table: [[f32; 2]; 3] = [[0.1; 2]; 3];
    for i in 1..16 {
        narrow[i] = narrow[i - 1] * 0.3 + 0.7;
        bytes[i] = bytes[i - 1].wrapping_mul(3);
    }
    for _ in 0..100 {
        for i in 1..3 {
            for j in 0..2 {
                table[i][j] = table[i - 1][j] * 0.3 + 0.7;
            }
        }
        let next: [[f32; 2]; 3] = table;
        table = [next[2], next[0], next[1]];
    }
    (f64::from(narrow[15]) + x, f64::from(table[2][1]), u64::from(bytes[15]))
}

/// Whole arrays and rows are copied, also where the old value is still looked at.
#[autobatch(strict)]
fn copies(x: f64, steps: &usize) -> f64 {
    let mut a = [[x, 1.0, 0.5], [0.25, x * x, 2.0]];
    let mut b = [[0.5; 3]; 2];
    let mut long = [1.0; 12];
    for step in 0..*steps {
        let old = a;
        for i in 0..2 {
            for k in 0..3 {
                a[i][k] = 0.5 * b[1 - i][k] + 0.25 * old[i][2 - k];
            }
        }
        b = old;
        a[0] = a[1];
        a[1] = [b[0][1], a[0][0], step as f64];
        a = [a[1], [b[1][2], 0.5, a[0][1]]];
        let before = long;
        let mut next = [0.0; 12];
        for i in 0..12 {
            if i == 3 || i == 7 {
                continue;
            }
            next[i] = before[11 - i] + a[0][i % 3];
        }
        long = next;
        long[7] = before[0] * 0.125;
        let head = [long[0], long[1], long[2]];
        b[1] = if head[0] > head[1] { head } else { a[1] };
    }
    let sum: f64 = long.iter().sum();
    sum + a[0][0] - b[1][2]
}

/// A round that is cut short in front of the copy leaves the array as it was.
#[autobatch(strict)]
fn skipped_copies(x: f64) -> f64 {
    let mut p = [x; 12];
    for r in 0..10 {
        let mut c = [0.5; 12];
        for i in 0..12 {
            c[i] += x * (r + i) as f64;
        }
        if r % 2 == 1 {
            continue;
        }
        p = c;
    }
    p[3] + 0.25 * p[11]
}

const ROWS: usize = 3;

/// Lengths that are constants, and those that are the function's.
#[autobatch(strict)]
fn lengths<const N: usize>(x: [[f32; N]; ROWS]) -> f32 {
    let mut y = [[1.0f32; N]; ROWS];
    let mut sums = [0.0; N];
    for _ in 0..20 {
        for r in 0..ROWS {
            for c in 0..N {
                y[r][c] = 0.5 * y[r][c] + x[r][c];
                sums[c] = sums[c] + y[(r + 1) % ROWS][c];
            }
        }
    }
    sums[N - 1] + y[1][0]
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point(f64, f64);

/// Arrays of anything but numbers are those of ordinary lane code.
#[autobatch]
fn points(start: [[Point; 2]; 2]) -> f64 {
    let mut all = start;
    let mut sum = 0.0;
    for _ in 0..30 {
        for i in 0..2 {
            for j in 0..2 {
                all[i][j] = Point(all[j][i].1 * 0.5, all[i][j].0 + 0.25);
                sum += all[i][j].0;
            }
        }
    }
    sum
}

/// An index that is out of bounds, and an overflow, are the member's.
#[autobatch]
fn faulty(x: u8, at: usize) -> u32 {
    let mut rows = [[x; 3]; 4];
    let mut sum = 0u32;
    for i in 0..12 {
        for j in 0..3 {
            rows[i % 4][j] = rows[(i + 1) % 4][(j + 1) % 3] / 2 + (x / 3) * 2;
            sum += u32::from(rows[i % 4][j]);
        }
    }
    sum + u32::from(rows[at][0])
}

fn numbers() -> Vec<f64> {
    (0..71).map(|i| 0.1 + f64::from(i) * 0.029).collect()
}

#[test]
fn matrices_and_helpers() {
    let seen: Vec<f64> = (0..4).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let noise: Vec<(f64, f64)> = numbers().into_iter().map(|x| (x * 0.1, 1.0 + x)).collect();
    agree_at(
        &SIZES,
        &noise,
        |&(q, r)| filter(q, r, &seen),
        |m, o| filter_batched_with(column(m, |i| i.0), column(m, |i| i.1), &seen, o),
    );
    let starts: Vec<[[f64; 3]; 4]> = (0..67)
        .map(|n| {
            std::array::from_fn(|i| {
                std::array::from_fn(|k| f64::from((n * 7 + i as i32 * 5 + k as i32 * 3) % 11) * 0.1)
            })
        })
        .collect();
    agree_at(&SIZES, &starts, |&s| bodies(s), |m, o| bodies_batched_with(m, o));
}

#[test]
fn words() {
    let blocks: Vec<[u32; 16]> = (0..67u32)
        .map(|n| std::array::from_fn(|i| (n + 1).wrapping_mul(0x9e37_79b9).rotate_left(i as u32)))
        .collect();
    agree_at(&SIZES, &blocks, |&b| digest(b), |m, o| digest_batched_with(m, o));
}

#[test]
fn types_copies_and_lengths() {
    agree_at(&SIZES, &numbers(), |&x| written_types(x), |m, o| written_types_batched_with(m, o));
    agree_at(&SIZES, &numbers(), |&x| skipped_copies(x), |m, o| skipped_copies_batched_with(m, o));
    for steps in [0, 1, 4] {
        agree_at(&SIZES, &numbers(), |&x| copies(x, &steps), |m, o| copies_batched_with(m, &steps, o));
    }
    let rows: Vec<[[f32; 5]; ROWS]> = (0..70u8)
        .map(|n| std::array::from_fn(|r| std::array::from_fn(|c| f32::from(n) * 0.1 + (r * c) as f32)))
        .collect();
    agree_at(&SIZES, &rows, |&x| lengths(x), |m, o| lengths_batched_with(m, o));
    let squares: Vec<[[Point; 2]; 2]> =
        numbers().into_iter().map(|x| [[Point(x, 1.0); 2], [Point(0.5, x); 2]]).collect();
    agree_at(&SIZES, &squares, |&s| points(s), |m, o| points_batched_with(m, o));
}

#[test]
fn faults_stay_with_their_members() {
    let members: Vec<(u8, usize)> =
        (0..200).map(|i| (i as u8, usize::from(i % 9 == 0) * 4 + i % 4)).collect();
    for (name, options) in executors() {
        let (xs, at) = (column(&members, |m| m.0), column(&members, |m| m.1));
        let results = faulty_batched_with(&xs, &at, &options.quiet(true)).expect("a batch").into_results();
        for (&(x, at), result) in members.iter().zip(results) {
            let scalar = (at < 4).then(|| std::panic::catch_unwind(|| faulty(x, at)).ok()).flatten();
            assert_eq!(result.ok(), scalar, "{name}: {x}, {at}");
        }
    }
}
