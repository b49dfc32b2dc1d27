//! Loops whose trip count is the same for every member, alone, nested, inside divergent loops, over shared
//! data, with arrays, and with members that fail in them.

#![allow(clippy::needless_range_loop, clippy::eq_op)] // written as users write

use crate::common::{agree_at, column, executors};
use autobatch::{autobatch, same};

/// Small, for debug builds: loops over lanes are slow there.
const SIZES: [usize; 4] = [0, 1, 97, 211];

fn spread(i: usize, low: f32, high: f32) -> f32 {
    low + (high - low) * ((i * 7919 % 10_007) as f32 / 10_007.0)
}

#[autobatch(strict)]
fn binomial(s: f32, x: f32, t: f32, r: f32, v: f32) -> f32 {
    let mut val = [0.0f32; 65];
    let dt = t / 64.0;
    let u = (v * dt.sqrt()).exp();
    let d = 1.0 / u;
    let disc = (r * dt).exp();
    let pu = (disc - d) / (u - d);
    let mut up = s * d.powf(64.0);
    for j in 0..=64 {
        val[j] = (x - up).max(0.0);
        up *= u * u;
    }
    for j in (1..=64).rev() {
        for k in 0..j {
            val[k] = ((1.0 - pu) * val[k] + pu * val[k + 1]) / disc;
        }
    }
    val[0]
}

#[test]
fn an_array_indexed_by_nested_counters() {
    let inputs: Vec<(f32, f32, f32, f32, f32)> = (0..97)
        .map(|i| {
            (
                spread(i, 80.0, 120.0),
                spread(i + 3, 80.0, 120.0),
                spread(i + 5, 0.2, 2.0),
                spread(i + 7, 0.01, 0.05),
                spread(i + 11, 0.1, 0.5),
            )
        })
        .collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(s, x, t, r, v)| binomial(s, x, t, r, v),
        |b, o| {
            let of = |pick: fn(&(f32, f32, f32, f32, f32)) -> f32| column(b, pick);
            binomial_batched_with(of(|i| i.0), of(|i| i.1), of(|i| i.2), of(|i| i.3), of(|i| i.4), o)
        },
    );
}

#[autobatch(strict)]
fn weighted(weights: &[f64], x: f64, y: f64) -> f64 {
    let mut acc = 0.0;
    let mut p = x;
    for w in 0..weights.len() {
        acc += weights[w] * p;
        p = p * y + 0.5;
    }
    for (i, w) in weights.iter().enumerate().rev() {
        acc -= w * (i as f64 + y);
    }
    let n = weights.len();
    let half = n / 2;
    for w in (0..n).step_by(3) {
        for k in w..half {
            acc = acc * 0.75 + weights[k];
        }
    }
    acc
}

#[test]
fn sums_over_shared_data() {
    let inputs: Vec<(f64, f64)> =
        (0..61).map(|i| (spread(i, -2.0, 2.0) as f64, spread(i + 9, 0.1, 0.9) as f64)).collect();
    for len in [0, 1, 2, 50] {
        let weights: Vec<f64> = (0..len).map(|i| 1.0 / (i as f64 + 1.0)).collect();
        agree_at(
            &SIZES,
            &inputs,
            |&(x, y)| weighted(&weights, x, y),
            |b, o| weighted_batched_with(&weights, column(b, |i| i.0), column(b, |i| i.1), o),
        );
    }
}

const COEFFICIENTS: [f64; 24] = {
    let mut c = [1.0; 24];
    let mut i = 1;
    while i < 24 {
        c[i] = c[i - 1] * -0.75 + 0.125;
        i += 1;
    }
    c
};

#[autobatch(strict)]
fn horner(x: f64) -> f64 {
    const DEGREE: usize = COEFFICIENTS.len() - 1;
    let mut y = COEFFICIENTS[DEGREE];
    for i in (0..DEGREE).rev() {
        y = y * x + COEFFICIENTS[i];
    }
    y
}

#[autobatch(strict)]
fn newton(a: f64) -> f64 {
    let mut x = a * 0.5 + 0.5;
    for _ in 0..40 {
        x = 0.5 * (x + a / x);
        if x < 0.75 {
            x += 0.001;
        }
    }
    x
}

#[test]
fn polynomials_and_newton_steps() {
    let inputs: Vec<f64> = (0..61).map(|i| spread(i, 0.1, 3.0) as f64).collect();
    agree_at(&SIZES, &inputs, |&x| horner(x), |b, o| horner_batched_with(b, o));
    agree_at(&SIZES, &inputs, |&x| newton(x), |b, o| newton_batched_with(b, o));
}

#[autobatch(strict)]
fn inside_a_divergent_loop(a: f32, n: i32) -> (f32, f32) {
    let mut x = a;
    let mut kept = [1.0f32; 3];
    let mut i = 0;
    while i < n {
        let mut s = 0.0f32;
        for k in 0..24 {
            s = s * 0.5 + x / (1.0 + k as f32);
            kept[1] = if s > kept[0] { s } else { kept[1] * 0.5 };
        }
        x = s * 0.3 + kept[1];
        kept[0] += 0.125;
        i += 1;
    }
    (x, kept[0] + kept[1] + kept[2])
}

#[test]
fn a_uniform_loop_inside_a_divergent_one() {
    let inputs: Vec<(f32, i32)> = (0..61).map(|i| (spread(i, -1.0, 2.0), (i * 31 % 17) as i32 - 2)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(a, n)| inside_a_divergent_loop(a, n),
        |b, o| inside_a_divergent_loop_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

#[autobatch(strict)]
fn lorenz(a: f64, b: f64, c: f64, #[shared] steps: usize) -> [f64; 3] {
    let h = 0.01;
    let mut s = [a, b, c];
    for _ in 0..steps {
        let k1 = [10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3.0 * s[2]];
        let m = [s[0] + 0.5 * h * k1[0], s[1] + 0.5 * h * k1[1], s[2] + 0.5 * h * k1[2]];
        let k2 = [10.0 * (m[1] - m[0]), m[0] * (28.0 - m[2]) - m[1], m[0] * m[1] - 8.0 / 3.0 * m[2]];
        let m = [s[0] + 0.5 * h * k2[0], s[1] + 0.5 * h * k2[1], s[2] + 0.5 * h * k2[2]];
        let k3 = [10.0 * (m[1] - m[0]), m[0] * (28.0 - m[2]) - m[1], m[0] * m[1] - 8.0 / 3.0 * m[2]];
        let m = [s[0] + h * k3[0], s[1] + h * k3[1], s[2] + h * k3[2]];
        let k4 = [10.0 * (m[1] - m[0]), m[0] * (28.0 - m[2]) - m[1], m[0] * m[1] - 8.0 / 3.0 * m[2]];
        for d in 0..3 {
            s[d] += h / 6.0 * (k1[d] + 2.0 * k2[d] + 2.0 * k3[d] + k4[d]);
        }
    }
    s
}

#[test]
fn states_that_are_small_arrays() {
    let inputs: Vec<(f64, f64, f64)> = (0..61)
        .map(|i| {
            (spread(i, -1.0, 2.0) as f64, spread(i + 5, -1.0, 2.0) as f64, spread(i + 9, 1.0, 2.0) as f64)
        })
        .collect();
    for steps in [0, 1, 37] {
        agree_at(
            &SIZES,
            &inputs,
            |&(a, b, c)| lorenz(a, b, c, steps),
            |m, o| lorenz_batched_with(column(m, |i| i.0), column(m, |i| i.1), column(m, |i| i.2), steps, o),
        );
    }
}

#[autobatch(strict)]
fn checked(x: u32, table: &[u32], #[shared] far: usize) -> u32 {
    let mut sum = 0u32;
    let mut seen = [0u32; 20];
    for i in 0..16 {
        sum += table[i] / (x - 3);
        seen[i + far] = sum;
        for k in 0..i {
            sum = sum.wrapping_add(seen[k]) ^ table[(x as usize + k) % 40];
        }
    }
    sum & 0xffff
}

#[test]
fn a_member_that_fails_in_a_uniform_loop_ends_alone() {
    let table: Vec<u32> = (0..32).map(|i| i * 3 + 1).collect();
    let x: Vec<u32> = (0..200)
        .map(|i| {
            if i % 67 == 30 {
                3
            } else if i == 50 {
                30
            } else {
                4 + i % 6
            }
        })
        .collect();
    for (how, options) in executors() {
        for threads in [1, 2] {
            let outcome = checked_batched_with(&x, &table, 0, &options.clone().threads(threads)).unwrap();
            let mut faults: Vec<_> = outcome.faults().iter().map(|f| (f.member, f.message.clone())).collect();
            faults.sort();
            assert_eq!(faults.iter().map(|f| f.0).collect::<Vec<_>>(), [30, 50, 97, 164], "{how}");
            assert!(faults[0].1.contains("divide by zero"), "{how}: {}", faults[0].1);
            assert!(faults[1].1.contains("index is 32"), "{how}: {}", faults[1].1);
            for (member, result) in outcome.into_results().into_iter().enumerate() {
                if let Ok(value) = result {
                    assert_eq!(value, checked(x[member], &table, 0), "{how}, member {member}");
                }
            }
            // A uniform index out of bounds: every member fails, with the same message.
            let outcome = checked_batched_with(&x, &table, 5, &options.clone().threads(threads)).unwrap();
            assert_eq!(outcome.faults().len(), x.len(), "{how}");
            let first = outcome.faults().iter().find(|f| f.member == 0).expect("a fault");
            assert!(first.message.contains("the len is 20 but the index is 20"), "{how}: {}", first.message);
        }
    }
    let none = checked_batched_with(same(5), &table, 0, &executors()[0].1);
    assert!(none.is_err(), "nothing to batch over");
}

/// LLVM 22 takes the remainder from the first lane, if it is told that it may make vectors of this. (In optimised builds only; that
/// it is not told, the compiler's tests show.)
#[autobatch(strict)]
fn shared_remainder(fuel: u32, mut x: i64, #[shared] at: usize, table: &[i64]) -> bool {
    if fuel == 0 {
        return x <= 4;
    }
    shared_remainder(fuel - 1, -x, at, table);
    x ^= if table.is_empty() {
        if x < 0 {
            x *= x;
            7
        } else {
            match x {
                0 => 4,
                _ if at == 3 => x,
                y => y,
            }
        }
    } else {
        table[at % table.len()]
    };
    x < 5
}

#[test]
fn conditional_divisions_of_shared_values() {
    let inputs: Vec<(u32, i64)> = (0..61).map(|i| (i * 7 % 5, i64::from(i * 13 % 17) - 5)).collect();
    for table in [&[][..], &[9, 686, 7, 4]] {
        agree_at(
            &SIZES,
            &inputs,
            |&(fuel, x)| shared_remainder(fuel, x, 8, table),
            |b, o| shared_remainder_batched_with(column(b, |i| i.0), column(b, |i| i.1), 8, table, o),
        );
    }
}

/// The same in functions that the macro does not see: one that says where, one that looks.
fn slot(at: usize, table: &[i64]) -> usize {
    at % table.len()
}

fn entry(at: usize, table: &[i64]) -> i64 {
    table[at % table.len()]
}

#[autobatch(strict)]
fn shared_slot(fuel: u32, x: i64, #[shared] at: usize, table: &[i64]) -> i64 {
    if fuel == 0 {
        return x;
    }
    shared_slot(fuel - 1, -x, at, table);
    x ^ if table.is_empty() { x.max(3) } else { table[slot(at, table)] }
}

#[autobatch(strict)]
fn shared_entry(fuel: u32, x: i64, #[shared] at: usize, table: &[i64]) -> i64 {
    if fuel == 0 {
        return x;
    }
    shared_entry(fuel - 1, -x, at, table);
    x ^ if table.is_empty() { x.max(3) } else { entry(at, table) }
}

#[test]
fn conditional_divisions_in_other_functions() {
    let inputs: Vec<(u32, i64)> = (0..61).map(|i| (i * 7 % 5, i64::from(i * 13 % 17) - 5)).collect();
    for table in [&[][..], &[9, 686, 7, 4]] {
        agree_at(
            &SIZES,
            &inputs,
            |&(fuel, x)| shared_slot(fuel, x, 8, table),
            |b, o| shared_slot_batched_with(column(b, |i| i.0), column(b, |i| i.1), 8, table, o),
        );
        agree_at(
            &SIZES,
            &inputs,
            |&(fuel, x)| shared_entry(fuel, x, 8, table),
            |b, o| shared_entry_batched_with(column(b, |i| i.0), column(b, |i| i.1), 8, table, o),
        );
    }
}
