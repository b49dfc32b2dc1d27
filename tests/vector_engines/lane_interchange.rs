//! Uniform loops with the lanes innermost: programs that may run so and programs that must not, arrays that cross blocks,
//! types that are not primitive, values that are dropped, absent members.

#![allow(clippy::needless_range_loop, clippy::too_many_arguments)] // written as users write

use std::ops::{Add, Mul};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{agree_at, column, executors};
use autobatch::{Executor, Options, autobatch};

const SIZES: [usize; 4] = [0, 1, 97, 211];

/// An array parameter that is longer than its in-place limit, changed, used on both sides of a divergent
/// loop, and returned.
#[autobatch(strict)]
fn smooth(mut a: [f32; 12], n: u32, #[shared] rounds: usize) -> [f32; 12] {
    let mut i = 0;
    while i < n {
        for r in 0..rounds {
            for k in 1..a.len() - 1 {
                a[k] = 0.25 * a[k - 1] + 0.5 * a[k] + 0.25 * a[k + 1];
            }
            a[0] = a[11] * 0.5 + r as f32;
        }
        i += 1;
    }
    for r in 0..rounds {
        for k in 0..a.len() {
            a[k] += (r + k) as f32 * 0.125;
        }
    }
    a
}

#[test]
fn arrays_that_cross_blocks() {
    let inputs: Vec<([f32; 12], u32)> =
        (0..301u32).map(|i| (std::array::from_fn(|k| (i * 7 + k as u32) as f32 * 0.3), i % 5)).collect();
    for rounds in [0, 1, 9] {
        agree_at(
            &SIZES,
            &inputs,
            |&(a, n)| smooth(a, n, rounds),
            |b, o| smooth_batched_with(column(b, |i| i.0), column(b, |i| i.1), rounds, o),
        );
    }
}

/// Counts its multiplications.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted(f64);
static PRODUCTS: AtomicUsize = AtomicUsize::new(0);
impl Mul<f64> for Counted {
    type Output = Counted;
    fn mul(self, k: f64) -> Counted {
        PRODUCTS.fetch_add(1, Ordering::Relaxed);
        Counted(self.0 * k)
    }
}
impl Add for Counted {
    type Output = Counted;
    fn add(self, o: Counted) -> Counted {
        Counted(self.0 + o.0)
    }
}
const UNIT: Counted = Counted(0.5);

#[autobatch(strict)]
fn counted(x: Counted, y: f64, weights: &[Counted], #[shared] steps: usize) -> f64 {
    let mut sum = x;
    for i in 0..steps {
        sum = sum * 0.5 + x * i as f64;
        sum = sum + weights[i] * y + UNIT * y;
    }
    sum.0
}

#[autobatch(strict)]
fn counted_constant(x: f64, #[shared] steps: usize) -> f64 {
    let mut sum = x;
    for i in 0..steps {
        sum = sum * 0.5 + (UNIT * sum).0 + i as f64;
    }
    sum
}

#[test]
fn operators_with_effects_run_once_for_each_member() {
    let x: Vec<Counted> = (0..131).map(|i| Counted(i as f64)).collect();
    let y: Vec<f64> = (0..131).map(|i| i as f64 * 0.5).collect();
    let weights = [Counted(0.25); 40];
    for (how, options) in executors() {
        PRODUCTS.store(0, Ordering::Relaxed);
        let got = counted_batched_with(&x, &y, &weights, 40, &options).unwrap().into_values().unwrap();
        assert_eq!(PRODUCTS.load(Ordering::Relaxed), 131 * 40 * 4, "{how}");
        assert_eq!(got, (0..131).map(|i| counted(x[i], y[i], &weights, 40)).collect::<Vec<_>>(), "{how}");
        PRODUCTS.store(0, Ordering::Relaxed);
        let got = counted_constant_batched_with(&y, 40, &options).unwrap().into_values().unwrap();
        assert_eq!(PRODUCTS.load(Ordering::Relaxed), 131 * 40, "{how}");
        assert_eq!(got, y.iter().map(|y| counted_constant(*y, 40)).collect::<Vec<_>>(), "{how}");
    }
}

/// Counts what is alive.
struct Alive(#[allow(dead_code)] u32);
static ALIVE: AtomicUsize = AtomicUsize::new(0);
impl Alive {
    fn new(n: u32) -> Alive {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Alive(n)
    }
}
impl Clone for Alive {
    fn clone(&self) -> Alive {
        Alive::new(self.0)
    }
}
impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

#[autobatch(strict)]
fn with_an_owner(_unread: Alive, x: u32, #[shared] steps: u32) -> u32 {
    let mut sum = x;
    for i in 0..steps {
        sum = sum.wrapping_mul(31) ^ (sum >> 3) ^ i;
        sum = 100_000_000 / (1 + sum % 7).max(i % 3) + sum / (x + 1);
    }
    sum
}

#[test]
fn owned_values_are_dropped_once() {
    for (how, options) in executors() {
        let x: Vec<u32> = (0..200).map(|i| if i % 50 == 9 { u32::MAX } else { i }).collect();
        let owners: Vec<Alive> = x.iter().map(|x| Alive::new(*x)).collect();
        let outcome = with_an_owner_batched_with(owners, &x, 30, &options).unwrap();
        // An overflow, or without overflow checks a division by zero.
        let faults: Vec<usize> = outcome.faults().iter().map(|f| f.member).collect();
        assert_eq!(faults, [9, 59, 109, 159], "{how}");
        drop(outcome);
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0, "{how}");
    }
}

/// Every kind of number, a uniform local that outlives the loop, a constant of the body, a length that is a
/// constant parameter.
#[autobatch(strict)]
fn mixed<const N: usize>(
    a: i64,
    b: u8,
    c: bool,
    d: f32,
    table: &[[u16; 3]; 5],
    #[shared] far: i32,
) -> (i64, f32, usize) {
    const STEP: i64 = 3;
    let mut last = [0i64; N];
    let (mut flips, mut sum, mut acc) = (b, a, d);
    let half = N / 2;
    for i in 0..N {
        flips =
            if (flips & 1 == 1) != c { flips.rotate_right(1) ^ 0x55 } else { flips.wrapping_add(i as u8) };
        sum += STEP * flips as i64 - table[i % 5][2] as i64;
        last[i] = sum;
        if acc > 4.0 && i > half {
            acc = acc.fract() - far as f32;
        } else {
            let twice = acc + acc;
            acc = twice.mul_add(0.75, 0.5).min(100.0);
        }
    }
    for (i, row) in table.iter().enumerate() {
        sum ^= row[1] as i64 + last[i];
        sum = sum.wrapping_mul(STEP) + (table[i][0] as i64);
        acc += sum as f32 * 1e-3;
    }
    (sum, acc, half)
}

#[test]
fn every_kind_of_number() {
    let table = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12], [13, 14, 15]];
    let inputs: Vec<(i64, u8, bool, f32)> = (0..67)
        .map(|i| (i * 1001 - 30_000, (i * 37 % 256) as u8, i % 3 == 0, i as f32 * 0.21 - 5.0))
        .collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(a, b, c, d)| mixed::<17>(a, b, c, d, &table, 3),
        |m, o| {
            let (a, b) = (column(m, |i| i.0), column(m, |i| i.1));
            mixed_batched_with::<17>(a, b, column(m, |i| i.2), column(m, |i| i.3), &table, 3, o)
        },
    );
}

/// A loop with the lanes innermost in a function that is called by some members only, at different depths.
#[autobatch(strict)]
mod tree {
    pub(crate) fn walk(x: f64, depth: u32, weights: &[f64]) -> f64 {
        let y = relax(x, weights);
        if depth == 0 || y < 0.25 {
            return y;
        }
        walk(y * 0.5, depth - 1, weights) + walk(y * 0.75 + 0.1, depth - 1, weights)
    }

    fn relax(x: f64, weights: &[f64]) -> f64 {
        let mut y = x;
        for w in weights {
            y = 0.5 * (y + w / (1.0 + y * y));
            y = if y > 1.0 { y - 0.5 } else { y };
        }
        y
    }
}

#[test]
fn members_at_different_depths() {
    let weights: Vec<f64> = (0..20).map(|i| 0.1 + i as f64 * 0.07).collect();
    let inputs: Vec<(f64, u32)> = (0..41).map(|i| (i as f64 * 0.13, i % 5)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, depth)| tree::walk(x, depth, &weights),
        |b, o| tree::walk_batched_with(column(b, |i| i.0), column(b, |i| i.1), &weights, o),
    );
}

/// A uniform index that is out of bounds in a branch that only some members take.
#[autobatch(strict)]
fn far_out(x: i32, #[shared] at: usize) -> i32 {
    let mut seen = [7i32; 30];
    let mut sum = 0i32;
    for i in 0..30 {
        if x < 0 {
            sum = sum.wrapping_add(seen[i + at]);
        }
        seen[i] = sum ^ x;
        sum = sum.wrapping_mul(3).wrapping_add(seen[i]);
    }
    sum
}

#[test]
fn a_bounds_check_in_a_branch_fails_those_who_take_it() {
    let x: Vec<i32> = (0..150).map(|i| if i % 40 == 17 { -i } else { i }).collect();
    for (how, options) in executors() {
        let outcome = far_out_batched_with(&x, 4, &options).unwrap();
        let members: Vec<usize> = outcome.faults().iter().map(|f| f.member).collect();
        assert_eq!(members, [17, 57, 97, 137], "{how}");
        assert!(
            outcome.faults().iter().all(|f| f.message.contains("the len is 30 but the index is 30")),
            "{how}"
        );
        for (member, result) in outcome.into_results().into_iter().enumerate() {
            if let Ok(value) = result {
                assert_eq!(value, far_out(x[member], 4), "{how}, member {member}");
            }
        }
    }
}

/// Members that fail do not slow or change what others do later: the same batch goes on with the lanes innermost.
#[test]
fn many_members_after_a_failure() {
    let x: Vec<i32> = (0..3000).map(|i| if i == 5 { -1 } else { i }).collect();
    let options = Options::default().executor(Executor::Masked).threads(1);
    let outcome = far_out_batched_with(&x, 4, &options).unwrap();
    assert_eq!(outcome.faults().len(), 1);
    let wrong = outcome.into_results().into_iter().enumerate();
    assert_eq!(wrong.filter(|(i, r)| r.as_ref().is_ok_and(|v| *v != far_out(x[*i], 4))).count(), 0);
}

/// Locals computed from shared values, needed in many blocks; `half` is one member's own in the callee.
#[autobatch(strict)]
mod refined {
    pub(crate) fn search(x: f64, weights: &[f64], #[shared] tol: f64) -> (f64, u32) {
        let n = weights.len();
        let half = tol / 2.0;
        let third = (half * 2.0 / 3.0).max(1e-9);
        let (mut y, mut steps) = (x, 0);
        while (y - third).abs() > half && steps < 60 {
            for k in 0..n {
                y = y * 0.9 + weights[k] * third;
                y -= half * k as f64 * 1e-3;
            }
            steps += 1;
        }
        let (z, more) = nested(y, weights, tol, 3);
        (z + half, steps + more)
    }

    fn nested(x: f64, weights: &[f64], tol: f64, depth: u32) -> (f64, u32) {
        let half = tol / 2.0;
        let m = weights.len() - 1;
        let mut y = x;
        let mut i = 0;
        while y > half && i < 9 {
            for k in 0..m {
                y = y * 0.5 + weights[k] * half;
                y = if y > 1.0 { y - 0.5 } else { y * 1.01 };
            }
            i += 1;
        }
        if depth == 0 || m < 3 {
            return (y, i);
        }
        let (z, more) = nested(y + half, &weights[1..], half, depth - 1);
        (z + y * half, i + more + m as u32)
    }
}

#[test]
fn locals_computed_from_shared_values() {
    let weights: Vec<f64> = (0..30).map(|i| 0.01 + i as f64 * 0.003).collect();
    let inputs: Vec<f64> = (0..53).map(|i| i as f64 * 0.31 - 2.0).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&x| refined::search(x, &weights, 0.05),
        |b, o| refined::search_batched_with(b, &weights, 0.05, o),
    );
}

#[derive(Clone, Copy)]
struct Point {
    x: f32,
    y: f64,
}

/// Counts its multiplications, apart from [`Counted`]: tests run at the same time.
#[derive(Clone, Copy)]
struct Weight(f64);
static WEIGHED: AtomicUsize = AtomicUsize::new(0);
impl Mul<f64> for Weight {
    type Output = f64;
    fn mul(self, k: f64) -> f64 {
        WEIGHED.fetch_add(1, Ordering::Relaxed);
        self.0 * k
    }
}

#[derive(Clone, Copy)]
struct Ball {
    centre: Point,
    radius: f32,
    weight: Weight,
    kind: u8,
}

/// A uniform loop over structs, its result an index, and an exit in the loop around it.
#[autobatch(strict)]
fn nearest(x: f32, n: u32, scene: &[Ball]) -> (f32, usize) {
    let (mut from, mut best) = (x, 0);
    let mut round = 0;
    while round < n {
        let mut near = f32::INFINITY;
        for (i, ball) in scene.iter().enumerate() {
            let square = ball.radius * ball.radius;
            let d = (ball.centre.x - from) * (ball.centre.x - from) - square;
            let d = if ball.kind == 1 { d * 0.5 } else { d + ball.centre.y as f32 };
            if d > 0.01 && d < near {
                near = d;
                best = i;
            }
        }
        if near > 50.0 {
            return (near, best);
        }
        from = scene[best].centre.x + near.sqrt();
        round += 1;
    }
    (from, best)
}

/// The same list, and a field whose operators have effects.
#[autobatch(strict)]
fn weighed(x: f64, scene: &[Ball]) -> f64 {
    let mut sum = x;
    for ball in scene.iter().rev() {
        let part = ball.weight * sum;
        sum = part + ball.centre.y * 0.5 + x * x * 0.25 + sum * 0.125;
    }
    sum
}

fn scene(balls: usize) -> Vec<Ball> {
    let ball = |i: usize| {
        let centre = Point { x: (i * 37 % 11) as f32 * 1.3, y: i as f64 * 0.1 };
        Ball { centre, radius: 0.2 + i as f32 * 0.1, weight: Weight(0.4), kind: (i % 3) as u8 }
    };
    (0..balls).map(ball).collect()
}

#[test]
fn structs_of_a_shared_list() {
    let inputs: Vec<(f32, u32)> = (0..211u32).map(|i| (i as f32 * 0.17 - 3.0, i % 7)).collect();
    for balls in [1, 2, 9] {
        let scene = scene(balls);
        agree_at(
            &SIZES,
            &inputs,
            |&(x, n)| nearest(x, n, &scene),
            |b, o| nearest_batched_with(column(b, |i| i.0), column(b, |i| i.1), &scene, o),
        );
    }
}

#[test]
fn fields_with_effects_run_once_for_each_member() {
    let (scene, x) = (scene(9), (0..131).map(|i| i as f64 * 0.3).collect::<Vec<f64>>());
    for (how, options) in executors() {
        WEIGHED.store(0, Ordering::Relaxed);
        let got = weighed_batched_with(&x, &scene, &options).unwrap().into_values().unwrap();
        assert_eq!(WEIGHED.load(Ordering::Relaxed), 131 * 9, "{how}");
        assert_eq!(got, x.iter().map(|x| weighed(*x, &scene)).collect::<Vec<_>>(), "{how}");
    }
}

/// Arrays whose first values nobody reads, a part of which stays, and all of which stay for some members.
#[autobatch(strict)]
fn first_values(x: f32, y: f32) -> f32 {
    let (mut all, mut most, mut some) = (x, y, x * y);
    let mut whole = [0.5f32; 40];
    let mut part = [x; 40];
    let mut chosen = [y; 40];
    for k in 0..=39 {
        all = all * 0.75 + y;
        whole[k] = all;
    }
    for k in 0..39 {
        most = most * 0.5 + 1.0;
        part[k] = most - x;
    }
    for k in 0..40 {
        some = some * 0.875 - 0.125;
        if some > y {
            chosen[k] = some;
        }
    }
    let mut sum = 0.0;
    for k in 0..40 {
        sum = sum * 0.5 + whole[k] * part[39 - k] - chosen[k];
    }
    sum
}

#[test]
fn arrays_that_are_overwritten() {
    let inputs: Vec<(f32, f32)> =
        (0..211u8).map(|i| (f32::from(i) * 0.3, 4.0 - f32::from(i) * 0.25)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |&(x, y)| first_values(x, y),
        |b, o| first_values_batched_with(column(b, |i| i.0), column(b, |i| i.1), o),
    );
}
