//! Real functions against their batched programs: rustc runs the function, the interpreter runs what
//! the front end and the passes made of its source.

use proc_macro2::TokenStream;

use crate::ir::interp::machine::{self, Schedule};
use crate::ir::interp::{Value, run as scalar};
use crate::ir::testing::{functions, lowered};
use crate::passes::{BlockOrder, PassOptions, run};

/// Lowers the item and compares all ways to run it, under all options, with the expected results.
fn agree(item: TokenStream, batch: &[Vec<i64>], expected: &[i64]) {
    let functions = functions(item);
    let batch: Vec<Vec<Value>> =
        batch.iter().map(|args| args.iter().copied().map(Value::Int).collect()).collect();
    let expected: Vec<_> = expected.iter().map(|n| Ok(Value::Int(*n))).collect();
    for fuse in [true, false] {
        let lowered = lowered(&functions, 0, fuse);
        assert!(lowered.program.notes.is_empty(), "everything is batched");
        for (pop_push, order) in [(true, BlockOrder::Shape), (false, BlockOrder::Source)] {
            let mut program = lowered.program.clone();
            for (args, expected) in batch.iter().zip(&expected) {
                assert_eq!(&scalar(&program, args), expected, "lowered, {args:?}\n{program}");
            }
            let analyses =
                run(&mut program, &PassOptions { fuse, pop_push, order, ..PassOptions::default() });
            for schedule in [Schedule::EarliestBlock, Schedule::MostLanes, Schedule::Masked] {
                let out = machine::run(&program, &analyses, &batch, schedule);
                assert_eq!(out.results, expected, "{schedule:?}, fuse {fuse}\n{program}");
            }
        }
    }
}

/// Defines the functions and a test that compares them; the first is the entry.
macro_rules! case {
    ($(#[$attr:meta])* $test:ident: $entry:ident($($arg:ident),*) on $batch:expr; $($items:item)*) => {
        #[test]
        $(#[$attr])*
        fn $test() {
            #[allow(clippy::all, unused, unreachable_pub)]
            mod program {
                $($items)*
            }
            let batch: Vec<Vec<i64>> = $batch.into_iter().map(|args| args.to_vec()).collect();
            let expected: Vec<i64> = batch
                .iter()
                .map(|args| {
                    let [$($arg),*] = args[..] else { panic!("one argument per parameter") };
                    program::$entry($($arg),*)
                })
                .collect();
            agree(quote::quote!(mod program { $($items)* }), &batch, &expected);
        }
    };
}

case! { ackermann: ack(m, n) on [[0, 3], [1, 5], [2, 3], [2, 0]];
    pub fn ack(m: i64, n: i64) -> i64 {
        if m == 0 { n + 1 } else if n == 0 { ack(m - 1, 1) } else { ack(m - 1, ack(m, n - 1)) }
    }
}

case! { takeuchi: tak(x, y, z) on [[6, 4, 2], [3, 2, 1], [1, 2, 3], [5, 1, 3]];
    pub fn tak(x: i64, y: i64, z: i64) -> i64 {
        if y >= x { z } else { tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) }
    }
}

case! { hofstadter: female(n) on [[0], [1], [7], [12]];
    pub fn female(n: i64) -> i64 { if n == 0 { 1 } else { n - male(female(n - 1)) } }
    pub fn male(n: i64) -> i64 { if n == 0 { 0 } else { n - female(male(n - 1)) } }
}

case! { several_returns: f(x) on [[12], [-13], [14], [0], [5]];
    pub fn f(x: i64) -> i64 {
        let mut sum = 0;
        let mut i = x;
        while i != 0 {
            if i > 10 { sum += f(i - 4); i -= 1; continue; }
            if i < -12 { return sum - f(3); }
            let step = match i % 3 { 0 => { if sum > 40 { return sum; } 1 } 1 => f(i / 3), _ => 2 };
            sum += step;
            i -= if i > 0 { 1 } else { -1 };
        }
        sum
    }
}

case! {
    break_with_value: f(n) on [[3], [9], [1], [20], [-4]];
    pub fn f(n: i64) -> i64 {
        let v = if n > 2 {
            let mut k = n;
            loop {
                if k % 5 == 0 { break k; }
                k += 1;
                if g(k) > 40 { break 7 }
            }
        } else {
            1
        };
        let w = 'outer: {
            for i in 0..n {
                for j in 0..4 {
                    if i * j == 6 { break 'outer i + g(j); }
                    if j > i { break; }
                }
            }
            3
        };
        v * 100 + w
    }
    fn g(k: i64) -> i64 { let mut s = 0; let mut i = 0; while i < k { i += 1; s += i; } s }
}

case! { statement_calls_and_joins: f(n, s) on [[4, 1], [0, 2], [3, 3], [2, -2]];
    pub fn f(n: i64, s: i64) -> i64 {
        let x;
        if n > 2 { x = n * 2; } else { x = s; }
        let y = if s > 0 { if n > 0 { f(n - 1, s + 1) } else { 0 } } else { s };
        if n > 1 { f(n - 2, x); }
        for i in 0..n { f(n - 2 - i, i); }
        let z = n > 3 && f(n - 1, y) > 2 || s == 2;
        let (a, b) = (if n > 2 { f(1, y) } else { 2 }, x);
        a + b + y + z as i64
    }
}

case! { labels: f(n, k) on [[4, 2], [0, 0], [7, 3], [5, 9], [9, 1]];
    pub fn f(n: i64, k: i64) -> i64 {
        let mut total = 0;
        let mut i = 0;
        'rows: while i < n {
            i += 1;
            let mut j = 0;
            loop {
                j += 1;
                if j > k { continue 'rows; }
                if i * j == 12 { break 'rows; }
                if i + j == 15 { return -total; }
                let part = if j % 2 == 0 { f(i - 2, j - 1) } else { i };
                if part == 3 { continue; }
                total += part;
                if total > 90 { break; }
            }
            total -= 1;
        }
        total
    }
}

case! { patterns: f(n, a) on [[6, 1], [3, 9], [0, 4], [5, 5], [8, 2]];
    pub fn f(n: i64, mut a: i64) -> i64 {
        let Some((n, half)) = (if n > 0 { Some((n - 1, n / 2)) } else { None }) else { return a };
        let r = match (f(half, a), n % 3) {
            (x, 0) if x > 5 => { a += x; f(n - 1, x % 7) }
            (x, 1 | 2) => x + g((n, a)),
            (_, m) => { let a = m + 1; f(n - 2, a) }
        };
        if let Some(b) = (if r > a { Some(r - a) } else { None }) && b % 2 == 0 && g((b % 5, a)) > 3 { a -= b; }
        (r + a) % 1000
    }
    pub fn g((n, acc): (i64, i64)) -> i64 { if n <= 0 { acc } else { g((n - 1, acc + n)) } }
}

case! { loops_of_calls: f(n, m) on [[3, 2], [4, 5], [0, 7], [5, 1], [2, 2]];
    pub fn f(n: i64, m: i64) -> i64 {
        let mut sum = m;
        for i in 0..n {
            sum += f(i, sum % 5);
            for j in i..=n { if j == 3 { break; } sum += walk(j, m); }
        }
        while sum > 1000 { sum = walk(sum, 2) % 500; }
        sum
    }
    pub fn walk(n: i64, m: i64) -> i64 { if n < m { n } else { walk(n - m, m + 1) } }
}
