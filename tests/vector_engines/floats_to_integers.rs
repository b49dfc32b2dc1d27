//! Floats that become integers: as `as` makes them, of all floats, whatever the engine.

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: [usize; 3] = [1, 97, 211];

/// Floats about the ends of all integer types, both signs, and what is no number.
fn float(i: usize) -> f64 {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.99, -0.99, f64::MAX];
    let sign = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let near = [0.0, 1.0, -1.0, 0.5, -0.5][i % 5];
    match i % 9 {
        0 => special[i / 9 % special.len()],
        _ => sign * (2f64.powi((i * 31 % 70) as i32) + near),
    }
}

/// In a loop that all members run equally often.
#[autobatch]
fn folded(x: f64, y: f32) -> i64 {
    let mut sum = 0i64;
    for k in 0..12 {
        let (z, w) = (x * (1.0 + k as f64 * 0.125), y - k as f32);
        sum = sum.wrapping_mul(31).wrapping_add((z as i8 as i64) ^ (z as i16 as i64) ^ (z as i32 as i64));
        sum = sum.wrapping_mul(31).wrapping_add((z as u8 as i64) ^ (z as u16 as i64) ^ (z as u32 as i64));
        sum = sum.wrapping_mul(31).wrapping_add(z as i64 ^ z as isize as i64);
        sum = sum.wrapping_mul(31).wrapping_add((z as u64 ^ (z as usize as u64).rotate_left(7)) as i64);
        sum = sum.wrapping_mul(31).wrapping_add((w as i32 as i64) ^ (w as u32 as i64) ^ w as i64);
        sum = sum.wrapping_mul(31).wrapping_add((w as u64 as i64) ^ (w as i16 as i64) ^ (w as u8 as i64));
    }
    sum
}

/// In rounds of blocks, under conditions.
#[autobatch]
fn in_rounds(x: f64, y: f32) -> i64 {
    let (mut sum, mut z, mut left) = (0i64, x, 20);
    while left > (y as i32).rem_euclid(16) {
        if z < y.into() {
            sum ^= (z as i32 as i64) << 3;
        } else {
            sum = sum.rotate_left(5) ^ (z * 0.5) as i64;
        }
        sum = sum.wrapping_add((z as u64 & 255) as i64);
        z = -1.5 * z + 1.0;
        left -= 1;
    }
    sum
}

/// In recursion.
#[autobatch]
fn halved(x: f64, depth: u32) -> u64 {
    let whole = x as u32;
    if depth == 0 || whole < 3 {
        return (x * 7.0) as u64;
    }
    halved(x / 2.0, depth - 1).wrapping_add(halved(x / 3.0, depth - 1)) ^ u64::from(whole)
}

/// Into a table, from types that have other names, and where a constant is wanted.
type Index = usize;
static SQUARES: [f64; 16] = {
    let mut squares = [0.0; 2.5e0 as usize + 14];
    let mut i = 0;
    while i < 16 {
        squares[i] = (i * i) as f64;
        i += 1;
    }
    squares
};

#[autobatch]
fn between(x: f64, list: &[f32]) -> f64 {
    let mut sum = 0.0;
    for k in 0..9 {
        let at = (x + k as f64).clamp(0.0, 14.0);
        let (i, row) = (at as Index, [0.5; 1.9 as usize + 1]);
        sum += SQUARES[i] + (SQUARES[i + 1] - SQUARES[i]) * (at - i as f64) + row[1];
        sum += f64::from(list[list[(x as usize + k) % list.len()] as usize]);
    }
    sum
}

#[test]
fn integers_are_those_of_the_scalar_function() {
    let inputs: Vec<(f64, f32)> = (0..211).map(|i| (float(i), float(7 * i + 3) as f32)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y)| folded(x, y),
        |b, o| folded_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y)| in_rounds(x, y),
        |b, o| in_rounds_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    let inputs: Vec<(f64, u32)> = (0..211).map(|i| (float(i), i as u32 % 7)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, n)| halved(x, n),
        |b, o| halved_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

#[test]
fn indices_are_those_of_the_scalar_function() {
    let list: Vec<f32> = (0..40).map(|i| (i * 17 % 40) as f32 + 0.75).collect();
    let inputs: Vec<f64> = (0..211).map(|i| i as f64 * 0.1 - 2.0).collect();
    agree_at(&SIZES, &inputs, |&x| between(x, &list), |b, o| between_batched_with(b, &list, o));
}

/// More rounds than LLVM unrolls, of tables with narrow numbers: the rounds stand around the lanes.
#[autobatch]
fn octaves(x: f64, y: f64, table: &[u8]) -> f64 {
    let (mut sum, mut scale) = (0.0, 1.0);
    for _ in 0..4 {
        let (px, py) = (x * scale, y * scale);
        let (fx, fy) = (px.floor(), py.floor());
        let (ix, iy) = (fx as i32 as usize & 255, fy as i32 as usize & 255);
        let (left, right) = (table[ix] as usize, table[(ix + 1) & 255] as usize);
        let (a, b) = (f64::from(table[(left + iy) & 255]), f64::from(table[(right + iy) & 255]));
        let (c, d) = (f64::from(table[(left + iy + 1) & 255]), f64::from(table[(right + iy + 1) & 255]));
        let (low, high) = (a + (b - a) * (px - fx), c + (d - c) * (px - fx));
        sum += (low + (high - low) * (py - fy)) / scale;
        scale *= 2.0;
    }
    sum
}

#[test]
fn rounds_stand_around_the_lanes_where_they_come_to_much() {
    let table: Vec<u8> = (0..256).map(|i| (i * 37 + 11) as u8).collect();
    let inputs: Vec<(f64, f64)> = (0..211).map(|i| (i as f64 * 0.37 - 20.0, i as f64 * 0.11)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y)| octaves(x, y, &table),
        |b, o| octaves_batched_with(column(b, |i| i.0), column(b, |i| i.1), &table, o),
    );
    let program = octaves_batched::program().to_string();
    assert!(program.contains("once for all members, on vectors"), "{program}");
}

/// A table that is too short is a fault of the members that look behind it.
#[test]
fn elements_that_are_missing_are_faults() {
    let table: Vec<u8> = (0..200).map(|i| i as u8).collect();
    let options = autobatch::Options::default();
    let (x, y) = ([5.5, 130.5, 250.0, 7.0], [3.0, 2.5, 1.0, 0.0]);
    let outcome = octaves_batched_with(&x, &y, &table, &options).unwrap();
    let scalar = |i: usize| std::panic::catch_unwind(|| octaves(x[i], y[i], &table)).is_err();
    for i in 0..4 {
        assert_eq!(outcome.get(i).is_none(), scalar(i), "member {i}");
    }
}
