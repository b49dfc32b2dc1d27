//! Loops, branches and returns: the cases of ISPC's conformance tests with their known answers, and more.
//! Member p has a = p + 1, b = 5.

#![allow(clippy::needless_late_init, clippy::single_match, clippy::if_same_then_else, unreachable_pub)] // written as users write

use crate::common::{agree, column};
use autobatch::autobatch;

fn a(members: usize) -> Vec<f32> {
    (0..members).map(|p| p as f32 + 1.0).collect()
}

#[autobatch(strict)]
fn sum_down(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { x + sum_down(x - 1.0) }
}

#[autobatch(strict)]
fn halving(a: f32) -> i32 {
    let mut v = a;
    let mut n = 0;
    while v > 0.0 {
        v -= 0.125;
        n += 1;
    }
    n
}

#[autobatch(strict)]
fn up_to_64(mut a: f32) -> f32 {
    while a < 64.0 {
        a += 1.0;
    }
    a
}

#[autobatch(strict)]
fn own_bound(a: f32, #[shared] b: f32) -> f32 {
    let mut sum = 0.0;
    let mut i = 0.0;
    while i < a {
        sum += b;
        i += 1.0;
    }
    sum
}

#[autobatch(strict)]
fn sum_of_bounds(a: f32, #[shared] b: f32) -> f32 {
    let mut sum = 0.0;
    for _ in 0..(a + b) as i32 {
        sum += b;
    }
    sum
}

#[autobatch(strict)]
fn every_path_returns(a: f32) -> f32 {
    if a > 3.0 {
        return 0.0;
    } else if a > 1.0 {
        return 0.0;
    }
    0.0
}

#[autobatch(strict)]
fn do_while(a: f32) -> i32 {
    let mut sum = 0;
    let mut rounds = 0;
    loop {
        sum += 4;
        rounds += 1;
        if rounds as f32 >= a {
            break;
        }
    }
    sum
}

#[autobatch(strict)]
fn do_while_continue(a: f32) -> i32 {
    // The trailing test runs after a `continue` as well: a labelled block holds the body.
    let mut sum = 0;
    let mut i = 0;
    loop {
        'body: {
            i += 1;
            if a > 100.0 || i % 2 == 0 {
                break 'body;
            }
            sum += 3;
        }
        if i >= 10 {
            break;
        }
    }
    sum
}

#[autobatch(strict)]
fn do_while_break(a: f32) -> i32 {
    let mut sum = 0;
    let mut i = 0;
    loop {
        i += 1;
        sum += 1;
        if i > 10 && a > 0.0 {
            break;
        }
        if i > 1000 {
            break;
        }
    }
    sum
}

#[autobatch(strict)]
fn left_early(a: f32) -> i32 {
    let mut sum = 0;
    for i in 0..99_999 {
        if i as f32 >= a {
            break;
        }
        sum += 2;
    }
    sum
}

#[autobatch(strict)]
fn inner_continue(a: f32) -> i32 {
    let mut count = 0;
    let mut i = 0;
    while (i as f32) < a {
        for j in 0..5 {
            if j % 2 == 0 {
                continue;
            }
            if i > 1_000_000 {
                count += 1000;
            }
        }
        count += 1;
        i += 1;
    }
    count
}

#[autobatch(strict)]
fn one_arm_returns(a: i32) -> i32 {
    match a {
        3 => return 1,
        _ => {}
    }
    0
}

#[test]
fn ispc_conformance_rows_have_the_known_answers() {
    let n = 16;
    let all = a(n);
    let p: Vec<i32> = (0..n as i32).collect();
    let modulo: Vec<f32> = all.iter().map(|a| a % 16.0).collect();
    assert_eq!(sum_down_batched(&modulo)[..5], [1.0, 3.0, 6.0, 10.0, 15.0]);
    assert_eq!(sum_down_batched(&modulo)[15], 0.0);
    assert_eq!(halving_batched(&all), column(&p, |p| 8 + 8 * p));
    assert_eq!(up_to_64_batched(&all), [64.0; 16]);
    assert_eq!(own_bound_batched(&all, 5.0), column(&p, |p| 5.0 + 5.0 * *p as f32));
    assert_eq!(sum_of_bounds_batched(&all, 5.0), column(&p, |p| 30.0 + 5.0 * *p as f32));
    assert_eq!(every_path_returns_batched(&all), [0.0; 16]);
    assert_eq!(do_while_batched(&all), column(&p, |p| 4 * (p + 1)));
    assert_eq!(do_while_continue_batched(&all), [15; 16]);
    assert_eq!(do_while_break_batched(&all), [11; 16]);
    assert_eq!(left_early_batched(&all), column(&p, |p| 2 + 2 * p));
    assert_eq!(inner_continue_batched(&all), column(&p, |p| 1 + p));
    assert_eq!(one_arm_returns_batched(&[1, 2, 3, 4]), [0, 0, 1, 0]);

    agree(&modulo, |x| sum_down(*x), |x, o| sum_down_batched_with(x, o));
    agree(&all, |x| halving(*x), |x, o| halving_batched_with(x, o));
    agree(&all, |x| up_to_64(*x), |x, o| up_to_64_batched_with(x, o));
    agree(&all, |x| own_bound(*x, 5.0), |x, o| own_bound_batched_with(x, 5.0, o));
    agree(&all, |x| sum_of_bounds(*x, 5.0), |x, o| sum_of_bounds_batched_with(x, 5.0, o));
    agree(&all, |x| every_path_returns(*x), |x, o| every_path_returns_batched_with(x, o));
    agree(&all, |x| do_while(*x), |x, o| do_while_batched_with(x, o));
    agree(&all, |x| do_while_continue(*x), |x, o| do_while_continue_batched_with(x, o));
    agree(&all, |x| do_while_break(*x), |x, o| do_while_break_batched_with(x, o));
    agree(&all, |x| left_early(*x), |x, o| left_early_batched_with(x, o));
    agree(&all, |x| inner_continue(*x), |x, o| inner_continue_batched_with(x, o));
    agree(&[1, 2, 3, 4], |x| one_arm_returns(*x), |x, o| one_arm_returns_batched_with(x, o));
}

#[autobatch(strict)]
fn guarded_division(n: i32, d: i32) -> i32 {
    let mut total = 0;
    let mut i = 0;
    while i < n {
        if d != 0 {
            total += 100 / d;
        }
        i += 1;
    }
    total
}

#[autobatch(strict)]
fn guarded_index(i: usize, xs: &[i32]) -> i32 {
    if i < xs.len() {
        let mut j = i;
        while j > 0 && xs[j] > 3 {
            j -= 1;
        }
        xs[j]
    } else {
        -1
    }
}

#[autobatch(strict)]
fn deciding_left(i: usize, xs: &[i32]) -> bool {
    let mut k = 0;
    while k < 3 {
        if i < xs.len() && xs[i] > 2 || i >= xs.len() || xs[i] / (xs[i] - 1) > 5 {
            return true;
        }
        k += 1;
    }
    false
}

#[test]
fn inactive_members_execute_nothing() {
    let pairs = [(3, 0), (4, 7), (0, 0), (9, 1)];
    agree(
        &pairs,
        |(n, d)| guarded_division(*n, *d),
        |x, o| guarded_division_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
    let xs = [9, 5, 2, 7, 8, 3];
    let indices = [0, 3, 4, 5, 6, usize::MAX];
    agree(&indices, |i| guarded_index(*i, &xs), |i, o| guarded_index_batched_with(i, &xs, o));
    agree(&indices, |i| deciding_left(*i, &xs), |i, o| deciding_left_batched_with(i, &xs, o));
}

#[autobatch(strict)]
fn nested_masks(x: f64) -> f64 {
    let mut y = x;
    if x > 0.5 {
        while y < 100.0 {
            if y > x * 2.0 {
                y *= 1.5;
            } else {
                y += 0.75;
            }
        }
        y -= 1.0;
    }
    y
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Circle(f64),
    Square(f64),
    Steps(u32),
}

fn circle(r: f64) -> f64 {
    3.0 * r * r
}

fn square(s: f64) -> f64 {
    s * s
}

#[autobatch(strict)]
fn dispatch(shape: Shape, x: f64) -> f64 {
    match shape {
        Shape::Circle(r) if r < 0.0 => -1.0,
        Shape::Circle(r) => circle(r) + x,
        Shape::Square(s) => square(s) - x,
        Shape::Steps(n) => {
            let mut y = x;
            for i in 0..n {
                y = y * 0.5 + f64::from(i);
            }
            y
        }
    }
}

#[autobatch(strict)]
fn return_from_nested_loops(n: u32, target: u32) -> u32 {
    for i in 0..n {
        let mut j = 0;
        while j < n {
            if i * j == target {
                return 1000 * i + j;
            }
            j += 1;
        }
    }
    u32::MAX
}

#[autobatch(strict)]
fn labelled_breaks(n: u32) -> u32 {
    let mut rounds = 0;
    let found = 'outer: loop {
        rounds += 1;
        let mut k = 0;
        let inner = 'inner: loop {
            k += 1;
            if k * rounds > n {
                break 'outer k * 100 + rounds;
            }
            if k > rounds {
                break 'inner k;
            }
            if k % 3 == 2 {
                continue;
            }
        };
        if inner > 7 {
            continue 'outer;
        }
        let block = 'value: {
            if inner % 2 == 0 {
                break 'value inner;
            }
            inner + 1
        };
        rounds += block / 4;
    };
    found + rounds
}

#[autobatch(strict)]
fn shadowed(n: u32) -> u32 {
    let x = n;
    let mut total = 0;
    while total < 50 {
        let x = x + total;
        total += x + 1;
        {
            let x = x * 2;
            total += x % 3;
        }
        total += x % 2;
    }
    total + x
}

#[autobatch(strict)]
fn options(n: u32, xs: &[u32]) -> Option<u32> {
    let first = xs.first()?;
    let mut at = n as usize;
    let mut sum = *first;
    while sum < 200 {
        let Some(x) = xs.get(at) else {
            return Some(sum);
        };
        sum += x.checked_sub(1)?;
        at += 1;
        if let Some(y) = xs.get(at)
            && *y > 4
        {
            sum += 1;
        }
    }
    None
}

#[derive(Debug, PartialEq)]
struct Wrapped(String);

impl From<std::num::ParseIntError> for Wrapped {
    fn from(error: std::num::ParseIntError) -> Self {
        Wrapped(error.to_string())
    }
}

impl crate::common::Bits for Wrapped {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

#[autobatch(strict)]
fn results(n: u32, words: &[&str]) -> Result<u32, Wrapped> {
    let mut sum = 0;
    for i in 0..n {
        let number: u32 = words[i as usize % words.len()].parse()?;
        sum += number;
    }
    Ok(sum)
}

#[autobatch(strict)]
fn local_stack(n: u32) -> u32 {
    let mut stack = vec![n];
    let mut visited = 0;
    while let Some(x) = stack.pop() {
        visited += 1;
        if x > 2 {
            stack.push(x / 2);
            stack.push(x / 3);
        }
    }
    visited
}

#[autobatch(strict)]
fn deferred(n: u32) -> u32 {
    let x;
    let mut i = 0;
    while i < n {
        i += 3;
    }
    if i > 10 {
        x = i;
    } else {
        x = i * 2;
    }
    let double = |k: u32| k * 2 + x;
    double(x) + i
}

#[test]
fn nested_loops_matches_and_early_returns() {
    let xs = [0.3, 0.6, 1.0, 77.0, 250.0, f64::NAN];
    agree(&xs, |x| nested_masks(*x), |x, o| nested_masks_batched_with(x, o));
    let shapes: Vec<(Shape, f64)> =
        [Shape::Circle(2.0), Shape::Circle(-2.0), Shape::Square(3.0), Shape::Steps(0), Shape::Steps(9)]
            .into_iter()
            .zip([0.1, 0.2, 0.3, 0.4, 0.5])
            .collect();
    agree(
        &shapes,
        |(s, x)| dispatch(*s, *x),
        |x, o| dispatch_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
    let pairs = [(5, 12), (9, 63), (3, 100), (0, 0), (1, 0), (20, 361)];
    agree(
        &pairs,
        |(n, t)| return_from_nested_loops(*n, *t),
        |x, o| return_from_nested_loops_batched_with(column(x, |x| x.0), column(x, |x| x.1), o),
    );
    let ns: Vec<u32> = (0..40).collect();
    agree(&ns, |n| labelled_breaks(*n), |n, o| labelled_breaks_batched_with(n, o));
    agree(&ns, |n| shadowed(*n), |n, o| shadowed_batched_with(n, o));
    let xs = [1, 4, 9, 0, 6, 5, 80, 90, 3];
    agree(&ns, |n| options(*n, &xs), |n, o| options_batched_with(n, &xs, o));
    agree(&ns, |n| options(*n, &[]), |n, o| options_batched_with(n, &[], o));
    let words = ["4", "17", "3", "x"];
    agree(&ns, |n| results(*n, &words), |n, o| results_batched_with(n, &words, o));
    agree(&ns, |n| local_stack(*n), |n, o| local_stack_batched_with(n, o));
    agree(&ns, |n| deferred(*n), |n, o| deferred_batched_with(n, o));
}
