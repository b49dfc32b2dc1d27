//! Loops over shared lists whose elements are arrays, lists, or structures with arrays, in the ways in which users write them.

#![allow(clippy::needless_range_loop)] // written as users write

use std::ops::Index;
use std::sync::atomic::{AtomicUsize, Ordering};

use autobatch::autobatch;

use crate::common::{agree_at, column, executors};

const SIZES: &[usize] = &[1, 67, 300];

#[derive(Clone, Copy, Debug)]
struct Ball {
    centre: [f32; 3],
    axes: [[f32; 2]; 2],
    radius: f32,
}

#[autobatch(strict)]
fn by_reference(x: f32, y: f32, points: &[[f32; 2]]) -> (f32, u32) {
    let (mut best, mut hit) = (f32::INFINITY, 0);
    for (i, p) in points.iter().enumerate() {
        let (dx, dy) = (p[0] - x, p[1] - y);
        let d = dx * dx + dy * dy;
        if d < best {
            best = d;
            hit = i;
        }
    }
    (best, hit as u32)
}

#[autobatch(strict)]
fn by_value(x: f32, y: f32, points: &[[f32; 2]]) -> f32 {
    let mut sum = 0.0;
    for &p in points {
        sum = sum * 0.75 + (p[0] - x).abs() - (p[1] * y).max(0.25);
    }
    for i in 0..points.len() {
        let (p, q) = (points[i], &points[points.len() - 1 - i]);
        sum = sum * 0.5 + p[0] * q[1] * x - p[1] * q[0] * y;
    }
    for i in 0..points.len() {
        let p = points[i];
        sum = sum * 0.5 + p[0] * y - p[1] * x;
    }
    sum
}

#[autobatch(strict)]
fn by_pattern(x: f32, y: f32, points: &[[f32; 2]]) -> f32 {
    let mut best = f32::INFINITY;
    for [px, py] in points {
        best = best.min((px - x).abs() + (py - y).abs());
    }
    for (i, &[px, py]) in points.iter().enumerate() {
        best = best * 0.75 + px * x - py * y * i as f32;
    }
    for i in 0..points.len() {
        let [px, py] = points[i];
        best = best * 0.75 - px * y + py * x;
    }
    best
}

#[autobatch(strict)]
fn in_fields(x: f32, y: f32, balls: &[Ball]) -> f32 {
    let mut best = f32::INFINITY;
    for ball in balls {
        let c = ball.centre;
        let d = (c[0] - x) * (c[0] - x) + (ball.centre[1] - y) * (ball.centre[1] - y) + c[2] - ball.radius;
        if d < best {
            best = d;
        }
    }
    for i in 0..balls.len() {
        let axes = &balls[i].axes;
        best = best * 0.5 + axes[0][1] * x - axes[1][0] * y + balls[i].axes[0][0] * balls[i].centre[2];
    }
    best
}

fn distance(p: &[f32; 2], q: &[f32; 2]) -> f32 {
    let (dx, dy) = (p[0] - q[0], p[1] - q[1]);
    (dx * dx + dy * dy).sqrt()
}

/// Beside an array of the member's own: by helpers, indices, iterators and chains.
#[autobatch(strict)]
fn beside_arrays(p: [f32; 2], points: &[[f32; 2]]) -> f32 {
    let mut best = f32::INFINITY;
    for q in points {
        best = best.min(distance(&p, q));
        let mut d = 0.0;
        for j in 0..2 {
            d += (q[j] - p[j]) * (q[j] - p[j]);
        }
        for (a, b) in p.iter().zip(q) {
            d += (a + b) * (a - b);
        }
        let e: f32 = p.iter().zip(q.iter()).map(|(a, b)| (a - b).abs()).sum();
        best = best.min(d.abs() + e);
    }
    for i in 0..points.len() {
        let d: f32 = p.iter().zip(&points[i]).map(|(a, b)| (a - b) * (a - b)).sum();
        let e: f32 = points[i].iter().zip(p).map(|(a, b)| a * b).sum();
        best = best * 0.5 + d - e;
    }
    for &q in points {
        let e: f32 = q.iter().sum();
        best = best.max(p[0] * e);
    }
    best
}

/// Rows of any length: by loops in loops, by indices, by chains in loops and in chains.
#[autobatch(strict)]
fn of_rows(x: f32, rows: &[Vec<f32>], slices: &[&[f32]]) -> f32 {
    let mut best = 0.0;
    for row in rows {
        let mut sum = 0.0;
        for v in row {
            sum += v * x;
        }
        if sum > best {
            best = sum;
        }
    }
    for i in 0..slices.len() {
        for (j, v) in slices[i].iter().enumerate() {
            best = best * 0.5 + v * x * j as f32;
        }
    }
    for i in 0..rows.len() {
        let row = &rows[i];
        for j in 0..row.len() {
            best = best * 0.5 + row[j] * x;
        }
        for j in 0..slices[i].len() {
            best = best * 0.75 - slices[i][j] * x;
        }
    }
    for row in rows.iter() {
        let sum: f32 = row.iter().map(|v| v * x).sum();
        best = best.max(sum);
    }
    let low = rows.iter().map(|row| row.iter().map(|v| v * x).sum::<f32>()).fold(f32::INFINITY, f32::min);
    best - low
}

fn members() -> Vec<[f32; 2]> {
    let part = |k: u32, by: u32| (k.wrapping_mul(by) >> 16) as f32 / 16_384.0 - 2.0;
    (0..300).map(|k| [part(k, 2_654_435_769), part(k, 2_246_822_519)]).collect()
}

fn points() -> Vec<[f32; 2]> {
    members().iter().take(23).map(|p| [p[1], 0.75 * p[0]]).collect()
}

/// How many loops of a program run once for all members.
fn interchanged(program: &autobatch::Program) -> usize {
    program.to_string().matches("once for all members, on vectors across them").count()
}

#[test]
fn elements_of_arrays_agree() {
    let members = members();
    for points in [&points()[..], &[]] {
        let x = |b: &[[f32; 2]]| column(b, |p| p[0]);
        let y = |b: &[[f32; 2]]| column(b, |p| p[1]);
        let alike = |m: &[f32; 2]| by_reference(m[0], m[1], points);
        agree_at(SIZES, &members, alike, |b, o| by_reference_batched_with(x(b), y(b), points, o));
        let alike = |m: &[f32; 2]| by_value(m[0], m[1], points);
        agree_at(SIZES, &members, alike, |b, o| by_value_batched_with(x(b), y(b), points, o));
        let alike = |m: &[f32; 2]| by_pattern(m[0], m[1], points);
        agree_at(SIZES, &members, alike, |b, o| by_pattern_batched_with(x(b), y(b), points, o));
        let balls: Vec<Ball> = points
            .iter()
            .map(|p| Ball { centre: [p[0], p[1], 0.5], axes: [*p, [p[1], -p[0]]], radius: p[0].abs() })
            .collect();
        let alike = |m: &[f32; 2]| in_fields(m[0], m[1], &balls);
        agree_at(SIZES, &members, alike, |b, o| in_fields_batched_with(x(b), y(b), &balls, o));
        let alike = |m: &[f32; 2]| beside_arrays(*m, points);
        agree_at(SIZES, &members, alike, |b, o| beside_arrays_batched_with(b, points, o));
    }
    let programs = [
        (by_reference_batched::program(), 1),
        (by_value_batched::program(), 3),
        (by_pattern_batched::program(), 3),
        (in_fields_batched::program(), 2),
        (beside_arrays_batched::program(), 3),
    ];
    for (program, loops) in programs {
        assert_eq!(interchanged(program), loops, "{program}");
    }
}

#[test]
fn rows_of_any_length_agree() {
    let x = column(&members(), |p| p[0]);
    let all = [vec![0.5, -1.5, 2.0], vec![], vec![0.25; 40], vec![-3.0]];
    for all in [&all[..], &[]] {
        let slices: Vec<&[f32]> = all.iter().rev().map(|row| &row[..]).collect();
        agree_at(SIZES, &x, |x| of_rows(*x, all, &slices), |b, o| of_rows_batched_with(b, all, &slices, o));
    }
    let program = of_rows_batched::program();
    assert_eq!(interchanged(program), 10, "{program}");
}

/// Looks behind the end of rows that are too short for a member.
#[autobatch(strict)]
fn behind(x: f32, rows: &[Vec<f32>]) -> f32 {
    let mut sum = x;
    for row in rows {
        if sum < 1.5 {
            sum += row[2] * 0.5;
        }
        sum *= 1.25;
    }
    sum
}

#[test]
fn what_a_row_does_not_have_is_a_fault_of_those_who_look() {
    let rows = [vec![0.5, 1.0, 0.25], vec![1.0, 2.0], vec![1.5; 4]];
    let x: Vec<f32> = (0..200).map(|i| if i % 67 == 5 { -9.0 } else { 2.0 + i as f32 / 50.0 }).collect();
    for (how, options) in executors() {
        let outcome = behind_batched_with(&x, &rows, &options).unwrap();
        let mut faults: Vec<_> = outcome.faults().iter().map(|f| (f.member, f.message.clone())).collect();
        faults.sort();
        assert_eq!(faults.iter().map(|f| f.0).collect::<Vec<_>>(), [5, 72, 139], "{how}");
        assert!(faults.iter().all(|f| f.1.contains("the len is 2 but the index is 2")), "{how}: {faults:?}");
        for (member, result) in outcome.into_results().into_iter().enumerate().filter(|(m, _)| m % 67 != 5) {
            assert_eq!(result.unwrap().to_bits(), behind(x[member], &rows).to_bits(), "{how}, {member}");
        }
    }
}

/// What has an `Index`, a length and iterators of its own, which count.
struct Counted([f32; 4]);
static LOOKS: AtomicUsize = AtomicUsize::new(0);

impl Counted {
    fn len(&self) -> usize {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        3
    }
    fn iter(&self) -> std::slice::Iter<'_, f32> {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        self.0.iter()
    }
}

impl Index<usize> for Counted {
    type Output = f32;
    fn index(&self, at: usize) -> &f32 {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        &self.0[at]
    }
}

impl<'c> IntoIterator for &'c Counted {
    type Item = &'c f32;
    type IntoIter = std::slice::Iter<'c, f32>;
    fn into_iter(self) -> std::slice::Iter<'c, f32> {
        self.iter()
    }
}

struct Holder {
    inner: Counted,
}

#[autobatch(strict)]
fn counted(x: f32, all: &[Counted], holders: &[Holder]) -> f32 {
    let mut sum = x;
    for c in all {
        sum = sum * 0.5 + c[0] * x - c[1];
        for v in c {
            sum = sum * 0.5 + v * x;
        }
        for v in c.iter() {
            sum = sum * 0.5 - v * x;
        }
        for i in 0..c.len() {
            sum = sum * 0.5 - c[i] * x;
        }
    }
    for i in 0..all.len() {
        sum = sum * 0.5 + all[i][2] * x;
    }
    for h in holders {
        sum = sum * 0.5 + h.inner[2] * x;
    }
    sum
}

#[test]
fn what_only_looks_like_an_array_keeps_its_effects() {
    let all = [[0.5, 1.0, -1.5, 0.25], [2.0, -0.125, 3.0, 0.75]].map(Counted);
    let holders = [Holder { inner: Counted([1.0; 4]) }, Holder { inner: Counted([-2.0; 4]) }];
    let x = column(&members(), |p| p[0]);
    for (how, options) in executors() {
        LOOKS.store(0, Ordering::Relaxed);
        let got = counted_batched_with(&x, &all, &holders, &options).unwrap();
        assert_eq!(LOOKS.load(Ordering::Relaxed), x.len() * (2 * (2 + 1 + 1 + 1 + 3) + 2 + 2), "{how}");
        let want: Vec<f32> = x.iter().map(|x| counted(*x, &all, &holders)).collect();
        assert_eq!(got.into_values().unwrap(), want, "{how}");
    }
}
