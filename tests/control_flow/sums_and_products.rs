//! Sums and products over recursive calls, of every type. A type's own `Sum` may stop asking for elements, or add them up in
//! its own way: the batched code calls no more than the scalar function does.

use std::iter::{Product, Sum};
use std::num::Wrapping;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{Bits, agree_at, column, executors};
use autobatch::{Executor, Options, autobatch};

const SIZES: [usize; 3] = [0, 1, 97];

/// A type that is no sum of its like.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Shift(f64);

impl<'a> Sum<&'a Shift> for Shift {
    fn sum<I: Iterator<Item = &'a Shift>>(all: I) -> Shift {
        Shift(all.fold(0.5, |sum, shift| sum * 0.75 + shift.0))
    }
}

impl Product<u32> for Shift {
    fn product<I: Iterator<Item = u32>>(all: I) -> Shift {
        Shift(all.fold(1.0, |product, x| product * 0.5 - f64::from(x)))
    }
}

#[autobatch]
fn shifts(all: &[Shift], n: usize, x: f64) -> f64 {
    if n == 0 {
        return x;
    }
    let some: Shift = all.iter().filter(|shift| shifts(all, n / 2, shift.0) > 0.3).sum();
    let two = (0..2).map(|i| shifts(all, n / 3, x + f64::from(i)) as u32).product::<Shift>();
    some.0 + two.0 * x
}

/// The sum of numbers behind references, and of `Option`s of them, up to the first `None`.
#[autobatch]
fn behind(all: &[f64], n: usize, calls: &mut u32) -> Option<f64> {
    *calls += 1;
    if n < 2 {
        return if n == 0 { None } else { Some(1.5) };
    }
    let kept: f64 = all.iter().filter(|x| **x > behind(all, n / 3, calls).unwrap_or(0.25)).sum();
    let all: Option<f64> = all.iter().map(|x| behind(all, n - 1 - *x as usize % 2, calls).map(|_| x)).sum();
    let product: Result<f64, f64> = (0..3).map(|k| behind(&[], n / (k + 2), calls).ok_or(kept)).product();
    Some(all? * 0.5 + product.unwrap_or_else(|e: f64| -e) + kept)
}

/// Asks for no more elements once it is full.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Full(u32);

fn fill(mut all: impl Iterator<Item = u32>, mut sum: u32) -> Full {
    while sum < 9
        && let Some(next) = all.next()
    {
        sum += next;
    }
    Full(sum)
}

impl Bits for Full {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Sum for Full {
    fn sum<I: Iterator<Item = Full>>(all: I) -> Full {
        fill(all.map(|full| full.0), 0)
    }
}

impl Sum<u32> for Full {
    fn sum<I: Iterator<Item = u32>>(all: I) -> Full {
        fill(all, 0)
    }
}

impl Product<u32> for Full {
    fn product<I: Iterator<Item = u32>>(all: I) -> Full {
        fill(all, 1)
    }
}

/// Members fail behind the stop of some totals, and before that of others.
#[autobatch]
fn to_the_brim(n: u32, value: u32, calls: &mut u32) -> u32 {
    if n == 0 {
        return value;
    }
    *calls += 1;
    let fail = |k: u32| assert!(k != 1 || n % 4 != 1 || value > 60, "{n} asks for element {k}");
    let like: Full = (0..n)
        .rev()
        .map(|k| {
            fail(k);
            Full(to_the_brim(k / 2, value + k, calls) % 7)
        })
        .sum();
    let of_numbers =
        (0..n).rev().inspect(|k| fail(*k)).map(|k| to_the_brim(k / 3, value, calls) % 8).sum::<Full>();
    let product = (0..n).rev().inspect(|k| fail(*k)).map(|k| to_the_brim(k / 4, value, calls) % 9).product();
    let Full(product) = Full::clone(&product);
    let optional: Option<Full> = (0..n).rev().map(|k| Some(Full(to_the_brim(k / 3, k, calls)))).sum();
    like.0 * 1000 + of_numbers.0 * 100 + product + optional.map_or(0, |full| full.0)
}

/// Sums with a correction that it does not keep.
#[derive(Clone, Copy)]
struct Corrected(f64);

impl Sum for Corrected {
    fn sum<I: Iterator<Item = Corrected>>(all: I) -> Corrected {
        let (mut sum, mut correction) = (0.0, 0.0);
        for Corrected(next) in all {
            let next = next - correction;
            let total: f64 = sum + next;
            correction = (total - sum) - next;
            sum = total;
        }
        Corrected(sum)
    }
}

#[autobatch]
fn corrected(n: u32, x: f64) -> f64 {
    if n == 0 {
        return x;
    }
    let part = |k| if k == 0 { 1e16 } else { 1.0 };
    (0..n).map(|k| Corrected(corrected(k / 2, x * 0.5 + 1.0) * part(k))).sum::<Corrected>().0
}

type Real = f64;

/// Types under other names, and numbers that wrap.
#[autobatch]
fn renamed(n: u32, x: f64) -> f64 {
    if n == 0 {
        return x;
    }
    let sum: Real = (0..n).map(|k| renamed(k / 2, x) * 0.5).sum();
    let wrapped: Wrapping<u8> = (0..n).map(|k| Wrapping(renamed(k / 2, x) as u8)).product();
    let inferred = (0..n).map(|k| renamed(k / 3, -x)).sum();
    sum + f64::from(wrapped.0) + f64::max(inferred, x)
}

/// For numbers it is batched, for other types not.
#[autobatch]
fn generic<T: Copy + Sum>(n: u32, x: T) -> T {
    if n == 0 { x } else { (0..n).map(|k| generic(k, x)).sum() }
}

#[derive(Clone)]
struct Token(u32);

impl Drop for Token {
    fn drop(&mut self) {
        self.0 = 0;
    }
}

/// What the chain runs over is moved, one way or the other.
#[autobatch]
fn moving(n: u32, tokens: Vec<Token>) -> u32 {
    if n == 0 {
        return tokens.len() as u32;
    }
    let name = format!("{n}");
    let all: Full =
        tokens.into_iter().map(|token| moving(n - 1, vec![Token(1), token]) + name.len() as u32).sum();
    all.0 + name.len() as u32
}

#[test]
fn nothing_is_called_behind_the_stop() {
    let inputs: Vec<(u32, u32)> = (0..150).map(|i| (i % 13, i / 13 * 9)).collect();
    let expected: Vec<Result<(u32, u32), String>> = inputs
        .iter()
        .map(|(n, value)| {
            let mut calls = 0;
            catch_unwind(AssertUnwindSafe(|| to_the_brim(*n, *value, &mut calls)))
                .map(|result| (result, calls))
                .map_err(|payload| *payload.downcast().expect("a formatted message"))
        })
        .collect();
    let faults = expected.iter().filter(|result| result.is_err()).count();
    assert!((1..100).contains(&faults), "{faults}");
    for (how, options) in executors() {
        let mut calls = vec![0; inputs.len()];
        let (n, value) = (column(&inputs, |i| i.0), column(&inputs, |i| i.1));
        let outcome = to_the_brim_batched_with(n, value, &mut calls, &options).unwrap();
        for (member, (result, want)) in outcome.into_results().into_iter().zip(&expected).enumerate() {
            let got = result.map(|result| (result, calls[member])).map_err(|fault| fault.message);
            assert_eq!(&got, want, "{how}, {:?}", inputs[member]);
        }
    }
    let program = to_the_brim_batched::program().to_string();
    assert_eq!(program.matches("may stop early").count(), 4, "{program}");
}

#[test]
fn sums_of_any_type() {
    let ns: Vec<u32> = (0..8).collect();
    let x = |n: u32| f64::from(n) * 0.75 + 0.1;
    agree_at(
        &SIZES,
        &ns,
        |n| corrected(*n, x(*n)),
        |n, o| corrected_batched_with(n, column(n, |n| x(*n)), o),
    );
    agree_at(&SIZES, &ns, |n| renamed(*n, x(*n)), |n, o| renamed_batched_with(n, column(n, |n| x(*n)), o));
    agree_at(&SIZES, &ns, |n| generic(*n, x(*n)), |n, o| generic_batched_with(n, column(n, |n| x(*n)), o));
    agree_at(
        &SIZES,
        &ns,
        |n| generic(*n, Full(*n)),
        |n, o| generic_batched_with(n, column(n, |n| Full(*n)), o),
    );
    let tokens = |n: &u32| vec![Token(*n), Token(7)];
    agree_at(&SIZES, &ns, |n| moving(*n, tokens(n)), |n, o| moving_batched_with(n, column(n, tokens), o));
}

/// The depth in the report is that of the batch: scalar code has none.
#[test]
fn generic_totals_of_numbers_are_batched() {
    let depth = |options: &Options| {
        let numbers = generic_batched_with(&[5, 6], &[0.5_f32, 1.5], options).unwrap().report().depth;
        let others = generic_batched_with(&[5, 6], &[Full(1), Full(2)], options).unwrap().report().depth;
        (numbers, others)
    };
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        let (numbers, others) = depth(&Options::default().executor(executor).count_blocks(true));
        assert!(numbers > 5 && others < 3, "{executor:?}: {numbers} {others}");
    }
}

#[test]
fn totals_that_never_stop() {
    let shifts_: Vec<Shift> = [0.25, -1.5, 3.0].map(Shift).to_vec();
    let members: Vec<(usize, f64)> = (0..8).map(|i| (i, i as f64 * 0.75 - 2.0)).collect();
    agree_at(
        &SIZES,
        &members,
        |(n, x)| shifts(&shifts_, *n, *x),
        |b, o| shifts_batched_with(&shifts_, column(b, |b| b.0), column(b, |b| b.1), o),
    );
    let all = [-0.0, 1.0, 0.5];
    let ns: Vec<usize> = (0..9).collect();
    agree_at(
        &SIZES,
        &ns,
        |n| behind(&all, *n, &mut 0),
        |ns, o| {
            let mut calls = vec![0; ns.len()];
            let out = behind_batched_with(&all, ns, &mut calls, o);
            for (n, calls) in ns.iter().zip(calls) {
                let mut expected = 0;
                behind(&all, *n, &mut expected);
                assert_eq!(calls, expected, "calls of {n}");
            }
            out
        },
    );
}
