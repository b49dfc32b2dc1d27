//! Elements of arrays that are stored under a condition: by choice where the element is loaded anyway, else as they are.

#![allow(clippy::needless_range_loop, clippy::manual_swap)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [1, 67, 300];
const LENGTH: usize = 12;

/// Neighbours are exchanged; infinities and NaNs keep their bits.
#[autobatch(strict)]
fn exchanged(numbers: [f32; LENGTH]) -> u32 {
    let mut a = numbers;
    for round in 0..LENGTH {
        let mut i = round % 2;
        while i + 1 < LENGTH {
            if a[i] > a[i + 1] {
                let x = a[i];
                a[i] = a[i + 1];
                a[i + 1] = x;
            }
            i += 2;
        }
    }
    // Of their bits: which of two NaNs a sum has is the processor's choice, and LLVM's.
    let mut bits = 0;
    for i in 0..LENGTH {
        bits = u32::rotate_left(bits, 5) ^ a[i].to_bits();
    }
    bits
}

/// Neighbours are exchanged by one assignment, in a loop that counts to a literal.
#[autobatch(strict)]
fn median(readings: [f32; 9]) -> f32 {
    let mut a = readings;
    for round in 0..9 {
        let mut i = round % 2;
        while i + 1 < 9 {
            if a[i] > a[i + 1] {
                (a[i], a[i + 1]) = (a[i + 1], a[i]);
            }
            i += 2;
        }
    }
    a[4]
}

/// Both branches store, in whole numbers of eight bytes, and change a variable too.
#[autobatch(strict)]
fn balanced(start: i64, by: i64) -> i64 {
    let mut a = [0i64; LENGTH];
    let mut moved = 0;
    for i in 0..LENGTH {
        a[i] = start.wrapping_mul(i as i64 + 3) % 17;
    }
    for _ in 0..4 {
        for i in 1..LENGTH {
            if a[i - 1] < a[i] {
                a[i - 1] += by;
                a[i] -= by;
                moved += 1;
            } else {
                a[i] = a[i - 1] + 1;
            }
        }
    }
    let mut sum = moved;
    for i in 0..LENGTH {
        sum = sum * 3 + a[i];
    }
    sum
}

/// Small numbers, a condition in two parts of which the second loads, and one that is the same for all.
#[autobatch(strict)]
fn marked(numbers: [u8; LENGTH], limit: u8) -> u32 {
    let mut a = numbers;
    let mut seen = [false; LENGTH];
    for i in 0..LENGTH {
        if a[i] > limit && !seen[i] {
            seen[i] = true;
        }
        if i > 0 && a[i - 1] == a[i] {
            a[i] = a[i - 1] ^ 1;
        }
        if i % 3 == 0 {
            a[i] &= 0x7f;
        }
    }
    let mut sum = 0u32;
    for i in 0..LENGTH {
        sum = sum.wrapping_mul(7).wrapping_add(u32::from(a[i]) + u32::from(seen[i]));
    }
    sum
}

/// A branch that would fail for lanes that skip it: they divide by zero, or find no element.
#[autobatch(strict)]
fn guarded(numbers: [u32; LENGTH], at: usize) -> u32 {
    let mut a = numbers;
    for i in 1..LENGTH {
        if a[i] > a[i - 1] && a[i - 1] != 0 {
            a[i] /= a[i - 1];
        }
        if a[i] == 3 {
            a[i] = numbers[at] + i as u32;
        }
    }
    let mut sum = 0u32;
    for i in 0..LENGTH {
        sum = sum.wrapping_mul(5).wrapping_add(a[i]);
    }
    sum
}

/// A variable that some lanes keep, from piece to piece.
#[autobatch(strict)]
fn least_place(numbers: [f64; LENGTH]) -> f64 {
    let mut a = numbers;
    let mut kept = 0.0;
    for i in 0..LENGTH {
        let mut least = a[i];
        for j in 0..LENGTH {
            if a[j] < least {
                least = a[j];
            }
            if a[j] > kept {
                a[j] = a[j] * 0.5 - kept;
            }
        }
        if least < kept {
            kept = least;
        }
    }
    let mut sum = kept;
    for i in 0..LENGTH {
        sum = sum * 0.75 + a[i];
    }
    sum
}

fn numbers(member: u64) -> impl FnMut() -> u64 {
    let mut state = member.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 32
    }
}

fn arrays<T>(mut of: impl FnMut(u64) -> T) -> Vec<[T; LENGTH]> {
    (0..300)
        .map(|member| {
            let mut next = numbers(member);
            std::array::from_fn(|_| of(next()))
        })
        .collect()
}

#[test]
fn neighbours_are_exchanged() {
    let special = [f32::INFINITY, f32::NAN, -0.0, f32::MIN_POSITIVE, -f32::NAN];
    let inputs = arrays(|n| match n % 11 {
        0 => special[(n / 11 % 5) as usize],
        _ => n as f32 - 2e9,
    });
    agree_at(&SIZES, &inputs, |a| exchanged(*a), |b, o| exchanged_batched_with(b, o));
}

#[test]
fn neighbours_are_exchanged_at_once() {
    let inputs: Vec<[f32; 9]> = arrays(|n| n as f32).iter().map(|a| std::array::from_fn(|i| a[i])).collect();
    assert!(inputs.iter().all(|a| {
        let mut sorted = *a;
        sorted.sort_by(f32::total_cmp);
        median(*a) == sorted[4]
    }));
    agree_at(&SIZES, &inputs, |a| median(*a), |b, o| median_batched_with(b, o));
    let text = median_batched::program().to_string();
    assert_eq!(text.matches("once for all members, on vectors across them").count(), 2, "{text}");
}

#[test]
fn both_branches_store() {
    let inputs: Vec<(i64, i64)> = (0..300).map(|i| (i * 7 - 900, i % 5 - 2)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |m| balanced(m.0, m.1),
        |b, o| balanced_batched_with(column(b, |m| m.0), column(b, |m| m.1), o),
    );
}

#[test]
fn conditions_in_two_parts() {
    let inputs: Vec<([u8; LENGTH], u8)> = arrays(|n| n as u8 % 8).into_iter().zip((0..6).cycle()).collect();
    agree_at(
        &SIZES,
        &inputs,
        |m| marked(m.0, m.1),
        |b, o| marked_batched_with(column(b, |m| m.0), column(b, |m| m.1), o),
    );
}

#[test]
fn what_may_fail_stays_a_branch() {
    let inputs: Vec<([u32; LENGTH], usize)> =
        arrays(|n| n as u32 % 7).into_iter().zip((0..LENGTH).cycle()).collect();
    agree_at(
        &SIZES,
        &inputs,
        |m| guarded(m.0, m.1),
        |b, o| guarded_batched_with(column(b, |m| m.0), column(b, |m| m.1), o),
    );
}

#[test]
fn variables_that_some_lanes_keep() {
    let inputs = arrays(|n| n as f64 / 1e9 - 2.0);
    agree_at(&SIZES, &inputs, |a| least_place(*a), |b, o| least_place_batched_with(b, o));
}
