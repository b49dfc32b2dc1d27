//! A program says of each call how it is batched, and of each loop whether a library call keeps it from being vectors.

use crate::common::{agree_at, column};
use autobatch::program::{Batching, Rounds};
use autobatch::{Program, autobatch};

const SIZES: [usize; 3] = [1, 7, 100];

fn square(x: f64) -> f64 {
    x * x
}

fn other(x: f64) -> f64 {
    let mut y = x;
    while y > 10.0 {
        y -= y.ln();
    }
    y
}

/// Every way of a call, but for kernels.
#[autobatch]
fn several(n: u32, x: f64) -> f64 {
    if n == 0 {
        return x;
    }
    if n % 3 == 1 {
        return several(n - 1, x + 1.0);
    }
    let mut sum = several(n / 2, x) + other(x).sqrt();
    for i in 0..20 {
        sum += square(x + f64::from(i)) * 1e-3;
        sum *= 0.9;
        sum -= x;
    }
    sum + x.cos()
}

#[autobatch(vector_math)]
fn with_vector_math(x: f64) -> f64 {
    let (mut y, mut sum) = (x, 0.0);
    while y > 1.0 {
        y = y.ln();
        sum += y;
    }
    sum
}

#[autobatch]
fn without(x: f64) -> f64 {
    let (mut y, mut sum) = (x, 0.0);
    while y > 1.0 {
        y = y.ln();
        sum += y;
    }
    while sum > 0.5 {
        sum -= 0.25;
    }
    sum
}

#[cfg_attr(not(miri), autobatch)]
fn under_a_condition(x: f64) -> f64 {
    let mut sum = x;
    for i in 0..20 {
        sum += square(sum + f64::from(i)) * 1e-3;
        sum *= 0.9;
        sum -= x;
    }
    sum
}

/// The calls of a function as they are batched, in alphabetical order.
fn calls(program: &Program) -> Vec<(&str, Batching)> {
    let mut calls: Vec<_> = program.call_sites.iter().map(|site| (site.callee, site.batching)).collect();
    calls.sort_unstable();
    calls.dedup();
    calls
}

#[test]
fn each_call_is_explained() {
    let program = several_batched::program();
    let all = [
        ("cos", Batching::Library),
        ("other", Batching::Lanes),
        ("several", Batching::Program),
        ("several", Batching::Jump),
        ("square", Batching::Copied),
    ];
    assert_eq!(calls(program), all);
    let text = program.to_string();
    for site in program.call_sites {
        assert!(text.contains(&format!(": {}: {}\n", site.callee, site.batching)), "{text}");
        let line = include_str!("calls.rs").lines().nth(site.line as usize - 1).expect("a line of this file");
        assert!(line.contains(site.callee), "{site:?} is in {line:?}");
    }
    assert_eq!(calls(with_vector_math_batched::program()), [("ln", Batching::VectorMath)]);
}

#[test]
fn a_library_call_is_what_stops_its_loop() {
    let [first, second] = without_batched::program().loops else { panic!("two loops") };
    assert_eq!((first.rounds, second.rounds), (Rounds::Blocks, Rounds::Blocks));
    let obstacle = first.obstacle.as_ref().expect("a library call");
    assert!(obstacle.why.starts_with("`ln` is a library call"), "{}", obstacle.why);
    assert!(first.to_string().contains("in blocks, which may be no vectors: line"), "{first}");
    assert!(second.obstacle.is_none());
    let [only] = with_vector_math_batched::program().loops else { panic!("one loop") };
    assert!(only.obstacle.is_none());
}

/// The file is read, wherever the attribute stands.
#[test]
fn helpers_are_known_where_the_attribute_has_a_condition() {
    assert_eq!(calls(under_a_condition_batched::program()), [("square", Batching::Copied)]);
}

#[test]
fn they_agree() {
    let inputs: Vec<(u32, f64)> = (0..50).map(|i| (i % 23, f64::from(i) * 1.7)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |i| under_a_condition(i.1),
        |b, o| under_a_condition_batched_with(column(b, |i| i.1), o),
    );
    agree_at(
        &SIZES,
        &inputs,
        |i| several(i.0, i.1),
        |b, o| several_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
    agree_at(&SIZES, &inputs, |i| without(i.1), |b, o| without_batched_with(column(b, |i| i.1), o));
}

#[autobatch]
fn with_a_wide_remainder(mut n: u64) -> u64 {
    let mut sum = 0;
    while n > 3 {
        sum += match n % 5 {
            0 => 1,
            1 => n,
            _ => 2,
        };
        n -= 1;
    }
    sum
}

#[autobatch]
fn with_narrow_ones(mut n: u32, k: u64) -> u64 {
    let mut sum = 0;
    while n > 3 {
        sum += u64::from(n % 5) + k % 8;
        n -= 1;
    }
    sum
}

#[test]
fn divisions_of_wide_integers_stop_no_loop() {
    let [only] = with_a_wide_remainder_batched::program().loops else { panic!("one loop") };
    assert!(only.obstacle.is_none());
    let [only] = with_narrow_ones_batched::program().loops else { panic!("one loop") };
    assert!(only.obstacle.is_none());
    assert_eq!(with_a_wide_remainder_batched(&[3, 90]), [0, with_a_wide_remainder(90)]);
    assert_eq!(
        with_narrow_ones_batched(&[9, 90], &[7, 8]),
        [with_narrow_ones(9, 7), with_narrow_ones(90, 8)]
    );
}
