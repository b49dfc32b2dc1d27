//! Variables of eight bytes that a loop over narrow numbers only sets: in vector code they are two words.

#![allow(clippy::needless_range_loop)] // written as users write

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 67, 300];
const FAR: u64 = 0xfedc_ba98_7654_3210;

/// A place beside a letter and a byte; given by a counter and by literals.
#[autobatch(strict)]
fn nearest(x: f32, y: f32, points: &[[f32; 2]]) -> (usize, u32) {
    let (mut best, mut at) = (f32::INFINITY, usize::MAX);
    let (mut kind, mut letter) = (0u8, 'a');
    for (i, p) in points.iter().enumerate() {
        let (dx, dy) = (p[0] - x, p[1] - y);
        let d = dx * dx + dy * dy;
        if d < best {
            best = d;
            at = i;
            if dx < dy {
                letter = 'z';
            }
        } else if d > 3.0 {
            kind = 3;
        }
    }
    (at, u32::from(kind) ^ letter as u32)
}

/// Floats and numbers of both signs; given by names around, constants and literals.
#[autobatch(strict)]
fn outside(x: f32, y: f32, n: u32, points: &[[f32; 2]], scale: &f64) -> (i64, f64, u64) {
    let (mut from, mut weight, mut far) = (i64::MIN + i64::from(n), -0.0, 7);
    let (low, high): (f32, f32) = (-0.5, 0.75);
    let by = *scale;
    for p in points {
        let (dx, dy): (f32, f32) = (p[0] - x, p[1] - y);
        if dx < low {
            weight = by;
            from = 1 << 40;
        }
        if dy < low {
            weight = f64::NAN;
        } else if dy > high {
            from = -0x7777_7777_7777;
            far = FAR;
        }
    }
    (from, weight, far)
}

/// In loops in loops, set in the inner and in the outer one, and read behind the inner one.
#[autobatch(strict)]
fn largest(x: f32, table: &[[f32; 5]; 4]) -> u32 {
    let (mut best, mut row, mut col, mut last) = (f32::NEG_INFINITY, 0, 0, 0);
    let mut sum = 0;
    for i in 0..4 {
        for j in 0..5 {
            let value = (table[i][j] - x).abs();
            if value > best {
                best = value;
                row = i;
                col = j;
                last = j;
            }
        }
        sum += last;
        last = 4;
    }
    (100 * row + 10 * col + sum) as u32
}

/// In a loop that members leave at different times, by `break` and by `return`, and in a loop of rounds of the member's own.
#[autobatch(strict)]
fn first(x: f32, n: u32, list: &[f32]) -> f32 {
    let (mut found, mut other) = (usize::MAX, 0usize);
    for (i, v) in list.iter().enumerate() {
        if v * x > 1.5 {
            return v - x;
        }
        if v * x > 1.0 {
            found = i;
            break;
        }
        if v + x < 0.0 {
            other = i;
        }
    }
    let mut longest = 0usize;
    for k in 0..n as usize % 9 {
        if list[k] < x {
            longest = k;
        }
    }
    if found == usize::MAX { other as f32 + 0.5 * longest as f32 } else { list[found] }
}

/// An `Option` of a distance and a place, and one that the loop also reads.
#[autobatch]
fn options(x: f32, y: f32, points: &[[f32; 2]]) -> f32 {
    let mut best: Option<(f32, usize)> = None;
    let mut near: Option<usize> = None;
    for (i, p) in points.iter().enumerate() {
        let d = (p[0] - x).abs() + (p[1] - y).abs();
        match best {
            Some((b, _)) if b <= d => {}
            _ => best = Some((d, i)),
        }
        if d < 0.5 && near.is_none() {
            near = Some(i);
        }
    }
    match (best, near) {
        (Some((d, i)), Some(j)) => d + i as f32 - 0.25 * j as f32,
        (Some((d, i)), None) => d - i as f32,
        _ => -1.0,
    }
}

/// With heavy branches, and recursion around the loop.
#[autobatch(strict)]
fn bounces(x: f32, dx: f32, left: u32, balls: &[[f32; 2]]) -> f32 {
    if left == 0 {
        return x;
    }
    let (mut near, mut hit) = (9.0, usize::MAX);
    for (i, ball) in balls.iter().enumerate() {
        let square = ball[1] * ball[1] - (ball[0] - x) * (ball[0] - x) * 0.1;
        if square > 0.0 {
            let t = square.sqrt() / (0.1 + dx.abs()) + (1.0 + square).sqrt();
            if t < near {
                near = t;
                hit = i;
            }
        }
    }
    if hit == usize::MAX { x - dx } else { bounces(balls[hit][0] - 0.5 * x, near * 0.3, left - 1, balls) }
}

type Row = (f32, f32, u32);

fn rows() -> Vec<Row> {
    let part = |k: u32, by: u32| (k.wrapping_mul(by) >> 16) as f32 / 16_384.0 - 2.0;
    (0..300).map(|k| (part(k, 2_654_435_769), part(k, 2_246_822_519), k)).collect()
}

fn points() -> Vec<[f32; 2]> {
    rows().iter().take(23).map(|(x, y, _)| [*y, 0.7 * x]).collect()
}

#[test]
fn wide_values_are_set() {
    let rows = rows();
    for points in [&points()[..], &[]] {
        agree_at(
            SIZES,
            &rows,
            |r| nearest(r.0, r.1, points),
            |batch, with| nearest_batched_with(column(batch, |r| r.0), column(batch, |r| r.1), points, with),
        );
        agree_at(
            SIZES,
            &rows,
            |r| outside(r.0, r.1, r.2, points, &1e300),
            |batch, with| {
                let (x, y, n) = (column(batch, |r| r.0), column(batch, |r| r.1), column(batch, |r| r.2));
                outside_batched_with(&x, &y, &n, points, &1e300, with)
            },
        );
    }
}

#[test]
fn loops_in_loops_set_them() {
    let rows = rows();
    let table: [[f32; 5]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| rows[7 * i + 3 * j].1));
    agree_at(
        SIZES,
        &rows,
        |r| largest(r.0, &table),
        |batch, options| largest_batched_with(column(batch, |r| r.0), &table, options),
    );
}

#[test]
fn loops_that_members_leave_set_them() {
    let rows = rows();
    let list: Vec<f32> = rows.iter().skip(40).take(30).map(|r| r.1).collect();
    agree_at(
        SIZES,
        &rows,
        |r| first(r.0, r.2, &list),
        |batch, options| first_batched_with(column(batch, |r| r.0), column(batch, |r| r.2), &list, options),
    );
}

#[test]
fn options_of_places_are_set() {
    let (rows, points) = (rows(), points());
    agree_at(
        SIZES,
        &rows,
        |r| options(r.0, r.1, &points),
        |batch, with| options_batched_with(column(batch, |r| r.0), column(batch, |r| r.1), &points, with),
    );
}

#[test]
fn recursion_around_such_loops_agrees() {
    let (rows, balls) = (rows(), points());
    agree_at(
        SIZES,
        &rows,
        |r| bounces(r.0, r.1, r.2 % 6, &balls),
        |batch, with| {
            let left = column(batch, |r| r.2 % 6);
            bounces_batched_with(column(batch, |r| r.0), column(batch, |r| r.1), &left, &balls, with)
        },
    );
}
