//! Functions that stand in the body of another: recursive ones are part of the program, small ones are helpers, and names mean what they mean
//! there.

#![allow(clippy::manual_is_multiple_of)] // written as users write

use autobatch::{Engine, Options, Program, autobatch};

use crate::common::{agree, column, executors};

const SCALE: f64 = 2.0;

fn half(x: f64) -> f64 {
    x * 0.5
}

/// Recursion behind a wrapper, which counts in a local.
#[autobatch(strict)]
fn partitions(n: u32) -> u32 {
    /// Ways to write a number.
    fn split(found: &mut u32, left: u32, most: u32) {
        if left == 0 {
            *found += 1;
            return;
        }
        let mut part = most.min(left);
        while part > 0 {
            split(found, left - part, part);
            part -= 1;
        }
    }
    let mut found = 0;
    split(&mut found, n % 14, n % 5 + 2);
    found
}

/// Helpers, one of which calls the other, and a function of the file.
#[autobatch(strict)]
fn root(low: f64, high: f64) -> f64 {
    fn value(x: f64) -> f64 {
        x * x * x - SCALE * x - 5.0
    }
    #[inline]
    fn slope(x: f64) -> f64 {
        (value(x + 0.001) - value(x)) / half(0.002)
    }
    let (mut lo, mut hi) = (low, high);
    let mut x = half(lo + hi);
    while hi - lo > 1e-6 {
        let next = x - value(x) / slope(x);
        x = if next > lo && next < hi { next } else { half(lo + hi) };
        if value(lo) * value(x) <= 0.0 {
            hi = x;
        } else {
            lo = x;
        }
        if value(x).abs() < 1e-9 {
            break;
        }
    }
    x
}

/// Two that call each other.
#[autobatch(strict)]
fn collatz_by_turns(n: u64) -> u64 {
    fn even(n: u64, steps: u64) -> u64 {
        let n = n / 2;
        if n % 2 == 0 { even(n, steps + 1) } else { odd(n, steps + 1) }
    }
    fn odd(n: u64, steps: u64) -> u64 {
        if n == 1 { steps } else { even(3 * n + 1, steps + 1) }
    }
    if n % 2 == 0 { even(n, 0) } else { odd(n, 0) }
}

/// The inner `half` and `SCALE` are not those of the file; a variable has the name of another function.
#[autobatch]
fn names(n: u64) -> f64 {
    const SCALE: f64 = 0.25;
    fn half(x: f64) -> f64 {
        x * 0.375
    }
    fn scaled(x: f64) -> f64 {
        x * SCALE
    }
    fn once(x: f64) -> f64 {
        x + 1.0
    }
    let mut x = (n % 50) as f64;
    let mut rounds = 0;
    while x > 0.1 && rounds < 40 {
        let once = once(half(x));
        x = half(scaled(once)) + super_half(x);
        rounds += 1;
    }
    x + f64::from(rounds)
}

fn super_half(x: f64) -> f64 {
    half(x)
}

/// What can't be moved: a `static`, a type parameter, what stands in an inner block, a macro's argument.
#[autobatch]
fn kept(n: u64) -> u64 {
    static OFFSET: u64 = 3;
    fn offset(x: u64) -> u64 {
        static OWN: u64 = 5;
        x + OWN
    }
    fn same<T: Copy>(x: T) -> T {
        x
    }
    fn small(x: u64) -> bool {
        x < 1000
    }
    let mut x = n % 90;
    while x < 400 {
        let more = {
            fn more(x: u64) -> u64 {
                x / 3 + 1
            }
            more(x)
        };
        assert!(small(x), "{x} is large");
        x = same(offset(x)) + more + OFFSET;
    }
    x
}

/// In functions of a module.
#[autobatch]
mod module {
    pub(super) fn depth(n: u64) -> u64 {
        fn deeper(n: u64, limit: u64) -> u64 {
            if n >= limit { 0 } else { 1 + deeper(n + 3, limit) }
        }
        deeper(n % 7, 20 + n % 11) + other(n)
    }

    fn other(n: u64) -> u64 {
        // Another one of the same name.
        fn deeper(n: u64) -> u64 {
            if n < 2 { n } else { deeper(n / 2) + deeper(n / 3) }
        }
        deeper(n)
    }
}

/// Deep, and not in tail position.
#[autobatch(strict)]
fn deep(n: u64) -> u64 {
    fn sum(n: u64) -> u64 {
        if n == 0 { 0 } else { n ^ sum(n - 1) }
    }
    sum(n)
}

#[test]
fn they_mean_what_they_mean_there() {
    let n: Vec<u64> = (0..97).collect();
    agree(&n, |n| names(*n), |n, options| names_batched_with(n, options));
    agree(&n, |n| kept(*n), |n, options| kept_batched_with(n, options));
    agree(&n, |n| module::depth(*n), |n, options| module::depth_batched_with(n, options));
    let positive: Vec<u64> = (1..98).collect();
    agree(&positive, |n| collatz_by_turns(*n), |n, options| collatz_by_turns_batched_with(n, options));
    let small: Vec<u32> = (0..97).collect();
    agree(&small, |n| partitions(*n), |n, options| partitions_batched_with(n, options));
    let ends: Vec<(f64, f64)> = (0..97).map(|i| (f64::from(i) * 0.02, 2.2 + f64::from(i) * 0.05)).collect();
    agree(
        &ends,
        |(low, high)| root(*low, *high),
        |batch, options| root_batched_with(column(batch, |b| b.0), column(batch, |b| b.1), options),
    );
}

#[test]
fn their_depth_is_data() {
    let n: Vec<u64> = (0..40).map(|i| i * 5_000).collect();
    let expected: Vec<u64> = n.iter().map(|n| (1..=*n).fold(0, |sum, n| sum ^ n)).collect();
    for (how, options) in executors() {
        assert_eq!(deep_batched_with(&n, &options).unwrap().into_values().unwrap(), expected, "{how}");
    }
    let outcome = deep_batched_with(&n, &Options::default().max_depth(100_000).quiet(true)).unwrap();
    assert_eq!(outcome.faults().len(), n.iter().filter(|n| **n > 100_000).count());
}

#[test]
fn they_run_on_vectors() {
    let programs: [&Program; 4] = [
        partitions_batched::program(),
        root_batched::program(),
        module::depth_batched::program(),
        deep_batched::program(),
    ];
    for program in programs {
        let on_vectors = [Engine::VectorFrames, Engine::TaskBlocks];
        assert!(program.engines.iter().any(|engine| on_vectors.contains(engine)), "{program}");
    }
    assert!(partitions_batched::program().to_string().contains("fn partitions::split("));
}
