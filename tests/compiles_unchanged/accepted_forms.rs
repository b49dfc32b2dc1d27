//! Forms of functions, attributes and visibility that are accepted, without a warning.

#![deny(warnings)]
#![forbid(unsafe_code)]
#![allow(clippy::needless_lifetimes)] // named on purpose

use crate::common::executors;
use autobatch::{Executor, Options, autobatch};

/// The crate under another path.
mod renamed {
    pub(crate) mod batch {
        pub(crate) use autobatch::*;
    }
}

#[autobatch(name = "all_squares", crate = renamed::batch, lanes = 8, executor = Masked)]
fn square(x: i64) -> i64 {
    x * x
}

/// The longest word, borrowed from what is shared.
#[autobatch(strict)]
fn longest<'w>(words: &'w [String], from: usize) -> &'w str {
    let mut best = "";
    let mut i = from;
    while i < words.len() {
        if words[i].len() > best.len() {
            best = &words[i];
        }
        i += 1;
    }
    best
}

#[autobatch(strict)]
fn first_after(words: &[String], mut at: usize) -> Option<&String> {
    while at < words.len() && words[at].is_empty() {
        at += 1;
    }
    words.get(at)
}

#[autobatch(strict)]
const fn bits(mut n: u32) -> u32 {
    const MASK: u32 = 1;
    const fn low(n: u32) -> u32 {
        n & MASK
    }
    let mut count = 0;
    while n > 0 {
        count += low(n);
        n >>= 1;
    }
    count
}

#[autobatch(strict)]
fn captured(n: u32) -> String {
    let mut text = String::new();
    let x = n;
    for i in 0..n {
        let x = x * i;
        text = format!("{text}{x:02},");
    }
    format!("{text}{x}")
}

#[autobatch(strict)]
fn destructured((a, b): (i32, i32), [c, ..]: [i32; 3], mut total: i32) -> i32 {
    while total < a * b {
        total += c;
    }
    total
}

/// A parameter hides the function.
#[autobatch]
fn power(power: f64, mut n: u32) -> f64 {
    let mut product = 1.0;
    while n > 0 {
        product *= power;
        n -= 1;
    }
    product
}

/// A parameter has the name that stands in the documentation for a pattern.
#[autobatch]
fn weighted((a, b): (f64, f64), parameter_1: f64) -> f64 {
    if parameter_1 > 0.5 { a + b } else { parameter_1 * a }
}

struct Grid<T> {
    cells: Vec<T>,
}

#[derive(Clone, Debug, PartialEq)]
struct Walker {
    at: usize,
    steps: u32,
}

#[autobatch(strict)]
impl<T> Grid<T>
where
    T: Copy + PartialOrd,
{
    /// Climbs to the right while it goes up.
    #[must_use]
    pub(crate) fn climb(&self, from: usize) -> usize {
        match self.cells.get(from + 1) {
            Some(next) if *next > self.cells[from] => self.climb(from + 1),
            _ => from,
        }
    }
}

#[autobatch(strict)]
impl Walker {
    pub(crate) fn walk(&mut self, until: u32) -> usize {
        while self.steps < until {
            self.steps += 1;
            self.at += self.steps as usize % 3;
        }
        self.at
    }

    pub(crate) fn double(self, times: u32) -> Walker {
        if times == 0 {
            return self;
        }
        Self::double(Walker { at: self.at * 2, steps: self.steps + 1 }, times - 1)
    }
}

#[autobatch(strict)]
pub(crate) mod visible {
    /// Reached through `count`.
    fn helper(n: u32, by: u32) -> u32 {
        if n < by { n } else { helper(n - by, by) }
    }

    pub(super) fn count(n: u32) -> u32 {
        helper(n, 3) + helper(n, 5)
    }
}

#[autobatch(strict)]
fn unit(n: u32, seen: &mut Vec<u32>) {
    for i in 0..n {
        seen.push(i);
    }
}

#[test]
fn every_accepted_form_agrees() {
    assert_eq!(all_squares(&[1, 2, 3]), [1, 4, 9]);
    let outcome = all_squares_with(&[1, 2, 3], &Options::default()).unwrap();
    assert_eq!(outcome.report().executor, Executor::Masked);
    assert_eq!(all_squares::program().name, "square");

    let words: Vec<String> = ["", "one", "three", "", "seven!", "x"].map(String::from).to_vec();
    let from = [0, 2, 4, 5, 6];
    for (how, options) in executors() {
        let outcome = longest_batched_with(&words, &from, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), from.map(|i| longest(&words, i)), "{how}");
        let outcome = first_after_batched_with(&words, &from, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), from.map(|i| first_after(&words, i)), "{how}");
        let n = [0, 1, 7, 255, 1 << 20];
        let outcome = bits_batched_with(&n, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), n.map(bits), "{how}");
        let n = [0, 3, 5];
        let outcome = captured_batched_with(&n, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), n.map(captured), "{how}");
        let outcome =
            destructured_batched_with(&[(3, 4), (1, 1)], &[[5, 0, 0], [1, 2, 3]], &[0, 9], &options);
        assert_eq!(outcome.unwrap().into_values().unwrap(), [15, 9], "{how}");

        let (x, n) = ([1.5, -0.1, 3.0], [7, 0, 300]);
        let outcome = power_batched_with(&x, &n, &options).unwrap();
        let expected: Vec<f64> = x.iter().zip(n).map(|(x, n)| power(*x, n)).collect();
        assert_eq!(outcome.into_values().unwrap(), expected, "{how}");
        let pairs = [(0.25, 1.5), (1e9, -0.0), (-1.0, 3.0)];
        let outcome = weighted_batched_with(&pairs, &x, &options).unwrap();
        let expected: Vec<f64> = pairs.iter().zip(x).map(|(pair, x)| weighted(*pair, x)).collect();
        assert_eq!(outcome.into_values().unwrap(), expected, "{how}");

        let grid = Grid { cells: vec![1.0, 2.0, 3.0, 0.5, 0.75] };
        let outcome = grid.climb_batched_with(&[0, 1, 2, 3, 4], &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), [2, 2, 2, 4, 4], "{how}");
        let mut walkers = vec![Walker { at: 0, steps: 0 }, Walker { at: 5, steps: 9 }];
        let mut alone = walkers.clone();
        let outcome = Walker::walk_batched_with(&mut walkers, &[4, 12], &options).unwrap();
        let expected = [alone[0].walk(4), alone[1].walk(12)];
        assert_eq!(outcome.into_values().unwrap(), expected, "{how}");
        assert_eq!(walkers, alone, "{how}");
        let outcome = Walker::double_batched_with(walkers.clone(), &[0, 5], &options).unwrap();
        let doubled = [walkers[0].clone().double(0), walkers[1].clone().double(5)];
        assert_eq!(outcome.into_values().unwrap(), doubled, "{how}");

        let n = [0, 4, 17, 100];
        let outcome = visible::count_batched_with(&n, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), n.map(visible::count), "{how}");
        let mut seen = vec![vec![], vec![9]];
        unit_batched_with(&[2, 3], &mut seen, &options).unwrap().into_values().unwrap();
        assert_eq!(seen, [vec![0, 1], vec![9, 0, 1, 2]], "{how}");
    }
}

#[test]
fn the_program_is_printed_and_drawn() {
    let text = visible::count_batched::program().to_string();
    for part in ["fn count(n) -> u32", "fn helper(n, by) -> u32", "register", "become helper"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let dot = visible::count_batched::program().to_dot();
    assert!(dot.starts_with("digraph") && dot.trim_end().ends_with('}'), "{dot}");
}
