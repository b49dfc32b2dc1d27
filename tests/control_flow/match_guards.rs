//! Recursive calls in match guards, `let … else`, let chains, and breaks with values.

#![allow(clippy::question_mark)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

#[autobatch(strict)]
fn guarded(n: u32, calls: &mut u32) -> u32 {
    *calls += 1;
    match n {
        0 => 2,
        7 => guarded(5, calls) + 1,
        n if n > 20 && guarded(n / 4, calls) > 3 => n - 20,
        1..=3 if guarded(n - 1, calls) % 2 == 1 => 40,
        n if guarded(n - 1, calls) % 3 == 2 => n,
        n => n + guarded(n / 2, calls),
    }
}

/// Of a number that only its patterns show to be one.
#[autobatch(strict)]
fn of_a_part(n: u32) -> u32 {
    let Some(less) = n.checked_sub(1) else { return 3 };
    match less {
        c if of_a_part(c / 2) > c => c,
        2 | 5..=7 => 40,
        c => of_a_part(c / 3) + 1,
    }
}

struct Part {
    low: u32,
}

/// Of bits of a number, of a comparison, and of a value that the patterns before the calls only look at.
#[autobatch]
fn of_bits(n: u32) -> u32 {
    let part = Part { low: n / 2 };
    if n == 0 {
        return 3;
    }
    let bits = match u32::MAX ^ part.low {
        c if of_bits(n - 1) > c % 7 => c % 9,
        c => of_bits(part.low) + c % 5,
    };
    let less = match part.low < bits {
        c if of_bits(n / 3) % 2 == 1 => u32::from(c),
        c => u32::from(!c) * 2,
    };
    let name = match "n".repeat(n as usize % 4) {
        _ if of_bits(n / 2) % 4 == 1 => String::new(),
        name if name.len() == 2 => name + "!",
        name => name,
    };
    bits % 100 + less + name.len() as u32
}

#[derive(Debug)]
enum Expr {
    Number(i64),
    Sum(Box<Expr>, Box<Expr>),
    Negated(Box<Expr>),
}

#[autobatch(strict)]
fn sign(expr: &Expr, shift: i64) -> i64 {
    match expr {
        Expr::Number(n) => (n + shift).signum(),
        Expr::Sum(a, _) if sign(a, shift) < 0 && shift < 3 => -1,
        Expr::Sum(a, b) if matches!(sign(b, shift + 1), 1) => sign(a, shift - 1) + 1,
        Expr::Sum(_, b) => sign(b, -shift),
        Expr::Negated(e) => -sign(e, shift),
    }
}

#[autobatch(strict)]
fn pairs(a: i32, b: i32) -> (i32, bool) {
    let (sum, last) = match (a, b) {
        (0, b) | (b, 0) => (b, false),
        (a, b)
            if a > b
                && let (s, true) = pairs(b, a % b) =>
        {
            (s + a, b % 2 == 0)
        }
        (a, b) if pairs(a - 1, b / 2).0 > 4 => (a - b, true),
        (a, _) => (a, pairs(a / 2, b / 3).1),
    };
    (sum, !last)
}

#[autobatch(strict)]
fn chains(n: u32) -> Option<u32> {
    let Some(m) = n.checked_sub(1) else { return Some(1) };
    let Some(below) = chains(m / 2) else { return None };
    if n % 4 == 3
        && let Some(other) = chains(m / 3)
        && other > 1
        && let Some(third) = chains(other.min(m) / 2)
    {
        return Some(third + below);
    }
    let found = 'search: {
        for i in 0..n {
            let mut k = i;
            let hit = loop {
                if k * k > n {
                    break k;
                }
                if chains(k / 4).is_none() {
                    break 'search None;
                }
                k += 1;
            };
            if hit % 5 == 4 {
                break 'search Some(hit);
            }
        }
        Some(0)
    };
    Some(below + found?).filter(|x| *x != 13)
}

#[test]
fn calls_in_guards_choose_the_arm() {
    let ns: Vec<u32> = (0..30).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| {
            let mut calls = 0;
            guarded(*n, &mut calls) * 1000 + calls
        },
        |n, o| {
            let mut calls = vec![0; n.len()];
            let values = guarded_batched_with(n, &mut calls, o)?.into_values().unwrap();
            counted_batched_with(values, calls, o)
        },
    );
    let (a, b): (Vec<i32>, Vec<i32>) = (0..80).map(|i| (i % 9, i / 9)).unzip();
    let both: Vec<(i32, i32)> = a.into_iter().zip(b).collect();
    agree_at(
        &SIZES,
        &both,
        |(a, b)| pairs(*a, *b),
        |x, o| pairs_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
    agree_at(&SIZES, &ns, |n| of_a_part(*n), |n, o| of_a_part_batched_with(n, o));
    agree_at(&SIZES, &ns[..ns.len().min(12)], |n| of_bits(*n), |n, o| of_bits_batched_with(n, o));
    agree_at(&SIZES, &ns, |n| chains(*n), |n, o| chains_batched_with(n, o));
}

#[autobatch]
fn counted(value: u32, calls: u32) -> u32 {
    value * 1000 + calls
}

#[test]
fn calls_match_on_enumerations() {
    let number = |n| Box::new(Expr::Number(n));
    let sum = |a, b| Box::new(Expr::Sum(a, b));
    let expr =
        sum(sum(number(-3), number(1)), Box::new(Expr::Negated(sum(number(2), sum(number(0), number(-1))))));
    let shifts: Vec<i64> = (-5..6).collect();
    agree_at(&SIZES, &shifts, |s| sign(&expr, *s), |s, o| sign_batched_with(&expr, s, o));
}

/// A constant is not moved by matching it.
#[autobatch(strict)]
fn on_a_constant(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    match u64::MAX {
        c if (on_a_constant(n / 2) ^ c) & 1 == 0 => 2,
        2 => n,
        _ => 5 + on_a_constant(n - 1),
    }
}

#[test]
fn a_constant_is_matched_and_not_moved() {
    let ns: Vec<u64> = (0..12).collect();
    agree_at(&SIZES, &ns, |n| on_a_constant(*n), |n, o| on_a_constant_batched_with(n, o));
}

/// Arms behind one that takes all; what they mention borrows a parameter.
#[allow(unreachable_patterns)]
#[autobatch(strict)]
mod unreached {
    pub(super) fn entry(n: u32, pair: (bool, u32)) -> u32 {
        if n == 0 {
            return 1;
        }
        let found = pair.0.then_some(n).map(|c| below(c - 1, pair.1)).unwrap_or(7);
        let mut sum = 0;
        match &pair {
            (first, second) if *first => {
                let boxed: Box<u32> = match Some(found) {
                    any => Box::new(any.unwrap_or(3) + *second),
                    Some(_) if *first => Box::new(2),
                    _ => Box::new(5),
                };
                sum += *boxed;
            }
            _ => {}
        }
        sum + found
    }

    fn below(n: u32, x: u32) -> u32 {
        if n == 0 { x } else { below(n - 1, x) + 1 }
    }
}

#[test]
fn arms_that_are_never_reached() {
    let inputs: Vec<(u32, (bool, u32))> = (0..30).map(|i| (i % 5, (i % 3 > 0, i))).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| unreached::entry(i.0, i.1),
        |b, o| unreached::entry_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}
