//! Branches that few, many or no lanes take, in loops that run lane-interchanged, against the scalar function.

use autobatch::{Executor, Options, autobatch};

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 63, 64, 211];

/// Which of `share` members take a branch: none of them, one, a few, all but a few, all.
fn inputs() -> Vec<(f64, u32)> {
    let values = (0..211u32).map(|i| {
        let taken = match i / 64 {
            0 => false,
            1 => i % 64 == 5,
            2 => i % 9 == 0,
            _ => true,
        };
        (if taken { 1.0 + f64::from(i) * 0.25 } else { -1.0 - f64::from(i) * 0.125 }, i * 7 % 100)
    });
    values.collect()
}

/// A statement; a declaration with a value for those that don't take it, one with the heavy side first.
#[autobatch(strict)]
fn statements(x: f64, n: u32) -> f64 {
    let (mut sum, mut best, mut last) = (x, 1e30, 0u32);
    for k in 0..20 {
        let d = sum * x - f64::from(k);
        if d > 0.0 {
            let t = (x - d.sqrt()) / (d + 1.0);
            if t < best {
                best = t;
                last = k + n;
            }
        }
        let root = if d < 4.0 { 0.0 } else { d.sqrt() / (1.0 + x * x) };
        let (a, b) = if x > 0.0 { (root / x, x.sqrt()) } else { (-1.0, root) };
        sum += 0.01 * a - 0.001 * b;
    }
    sum + best + f64::from(last)
}

/// In rounds that not all members have, that they leave, and that they skip.
#[autobatch]
fn rounds(x: f64, n: u32, xs: &[f64]) -> f64 {
    let mut sum = x;
    for k in 0..n {
        let y = sum + f64::from(k);
        if y > 40.0 {
            sum -= (y * y + 1.0).sqrt() / y;
        }
        sum += 0.5;
    }
    for &v in xs {
        let y = v * x - sum;
        if y < 0.0 {
            continue;
        }
        sum += y.sqrt() / (1.0 + y);
        if sum > 90.0 {
            break;
        }
    }
    sum
}

/// Elements of the member's arrays and of shared lists, counters that may overflow, whole numbers that may be divided by zero.
#[autobatch]
fn elements(x: f64, n: u32, xs: &[f64]) -> f64 {
    let mut seen = [0.5; 12];
    let mut count = 250u8;
    let mut at = n as usize % 12;
    for k in 0..12 {
        seen[k] += xs[k];
        if seen[at] + x > 20.0 {
            seen[k] = (seen[at] + x).sqrt() / xs[at + k];
            count += 1;
            at = (at + (100 / (n as usize - 3)) % 7) % 12;
        }
    }
    seen.iter().sum::<f64>() + f64::from(count)
}

/// `f32`, beside integers.
#[autobatch(strict)]
fn narrow(x: f32, n: u32, xs: &[f32]) -> f32 {
    let (mut s, mut seed) = (x, n);
    for &v in xs {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        if seed >> 28 == 3 {
            let w = v / (1.0 + s * s);
            s = (w * w + 0.25).sqrt();
        }
        s += v;
    }
    s
}

#[autobatch(vector_math)]
fn elementary(x: f64, n: u32) -> f64 {
    let mut s = x;
    for k in 0..16 {
        let y = x - f64::from(k + n % 4);
        if y > 0.0 {
            s += (0.1 * y).exp() * y.sin();
        }
        s *= 0.75;
    }
    s
}

fn shared() -> Vec<f64> {
    (0..40).map(|i| f64::from(i * 11 % 17) - 3.0).collect()
}

#[test]
fn statements_and_declarations() {
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| statements(x, n),
        |b, o| statements_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}

#[test]
fn rounds_of_some_members() {
    let xs = &shared()[..];
    agree_at(
        SIZES,
        &inputs(),
        |&(x, n)| rounds(x, n, xs),
        |b, o| rounds_batched_with(column(b, |i| i.0), column(b, |i| i.1), xs, o),
    );
}

#[test]
fn numbers_of_32_bits() {
    let xs: &[f32] = &shared().iter().map(|&x| x as f32).collect::<Vec<_>>();
    let all: Vec<(f32, u32)> = inputs().iter().map(|&(x, n)| (x as f32, n)).collect();
    agree_at(
        SIZES,
        &all,
        |&(x, n)| narrow(x, n, xs),
        |b, o| narrow_batched_with(column(b, |i| i.0), column(b, |i| i.1), xs, o),
    );
}

#[test]
fn a_member_fails_in_a_branch_of_its_own() {
    let xs = &shared()[..];
    let is_fit = |&(x, n): &(f64, u32)| std::panic::catch_unwind(|| elements(x, n, xs)).is_ok();
    let fit: Vec<(f64, u32)> = inputs().into_iter().filter(is_fit).collect();
    agree_at(
        &[1, 64, fit.len()],
        &fit,
        |&(x, n)| elements(x, n, xs),
        |b, o| elements_batched_with(column(b, |i| i.0), column(b, |i| i.1), xs, o),
    );
    let all = inputs();
    let mut failed = 0;
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let options = Options::default().executor(executor).quiet(true);
        let outcome =
            elements_batched_with(column(&all, |i| i.0), column(&all, |i| i.1), xs, &options).unwrap();
        for (i, member) in all.iter().enumerate() {
            let scalar = is_fit(member).then(|| elements(member.0, member.1, xs).to_bits());
            assert_eq!(outcome.get(i).map(|y| y.to_bits()), scalar, "{i}");
            failed += usize::from(scalar.is_none());
        }
    }
    assert!(failed > 4 && failed < 300, "{failed}");
}

#[test]
fn elementary_functions_of_some_members() {
    let all = inputs();
    let (x, n) = (column(&all, |i| i.0), column(&all, |i| i.1));
    // What is batched has functions of its own: one member at a time is what all are compared with.
    let one = |i: usize| elementary_batched(&x[i..=i], &n[i..=i])[0].to_bits();
    let alone: Vec<u64> = (0..all.len()).map(one).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        let outcome = elementary_batched_with(&x, &n, &Options::default().executor(executor)).unwrap();
        let values: Vec<u64> = outcome.into_values().unwrap().iter().map(|y: &f64| y.to_bits()).collect();
        assert_eq!(values, alone, "{executor:?}");
    }
}
