//! `Option`s and enumerations with fields in variables, against the scalar function.

// The forms that users write, and that the lints would have written otherwise, are what is tested.
#![allow(
    clippy::manual_is_multiple_of,
    clippy::manual_unwrap_or,
    clippy::needless_range_loop,
    clippy::partialeq_to_none,
    clippy::unnecessary_lazy_evaluations
)]

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 400];

#[derive(Clone, Copy)]
struct Sphere {
    x: f64,
    y: f64,
    r: f64,
}

#[derive(Clone, Copy)]
struct Hit {
    t: f64,
    id: u32,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Side {
    Left,
    Right { by: f64 },
    Both(f64, u32),
}

/// A helper with early returns.
fn hit(x: f64, y: f64, s: &Sphere) -> Option<f64> {
    let b = x * s.x + y * s.y;
    let d = b * b - (s.x * s.x + s.y * s.y - s.r * s.r);
    if d < 0.0 {
        return None;
    }
    let t = b - d.sqrt();
    if t > 1e-3 { Some(t) } else { None }
}

#[autobatch(strict)]
fn nearest(x: f64, y: f64, all: &[Sphere]) -> f64 {
    let mut best = None;
    for s in all {
        let t = x * s.x - y * s.y;
        if t > s.r && best.is_none_or(|b| t < b) {
            best = Some(t);
        }
    }
    match best {
        Some(t) => t,
        None => -1.0,
    }
}

#[autobatch(strict)]
fn nearest_pair(x: f64, y: f64, all: &[Sphere]) -> (f64, usize) {
    let mut best: Option<(f64, usize)> = None;
    for i in 0..all.len() {
        if let Some(t) = hit(x, y, &all[i]) {
            match best {
                Some((b, _)) if b <= t => {}
                _ => best = Some((t, i)),
            }
        }
    }
    if let Some((t, i)) = best { (t, i) } else { (-1.0, all.len()) }
}

#[autobatch(strict)]
fn nearest_record(x: f64, y: f64, all: &[Sphere]) -> f64 {
    let mut best: Option<Hit> = None;
    for (i, s) in all.iter().enumerate() {
        let Some(t) = hit(x, y, s) else { continue };
        let closer = match best {
            None => true,
            Some(h) => t < h.t,
        };
        if closer {
            let side = if s.x < 0.0 { Side::Left } else { Side::Right { by: s.x } };
            best = Some(Hit { t, id: i as u32, side });
        }
    }
    best.map_or(-1.0, |h| {
        let by = match h.side {
            Side::Left => 0.5,
            Side::Right { by } | Side::Both(by, _) => by,
        };
        h.t + f64::from(h.id) * by
    })
}

/// Adaptors of each kind.
#[autobatch(strict)]
fn adaptors(x: f64, y: f64) -> f64 {
    let root = (x > 0.0).then(|| x.sqrt());
    let mut other = (y > 1.0).then_some(y);
    let mut sum = 0.0;
    for i in 0..6 {
        let step = f64::from(i);
        let third = root.map(|r| r + step).filter(|&r| r < 3.0);
        let either = third.or(other);
        sum += either.unwrap_or(-1.0) + third.unwrap_or_default();
        if other.is_some_and(|o| o > 4.0) || third.is_none() {
            other = other.and_then(|o| if o > 0.5 { Some(o * 0.5) } else { None });
        } else if other.is_none() {
            other = Some(step);
        }
        sum += other.map_or_else(|| 0.25, |o| o - step) + root.or_else(|| other).unwrap_or_else(|| step);
        if matches!(other, Some(o) if o < 1.0) && other != None {
            sum *= 1.5;
        }
    }
    sum
}

/// A value that the last round left, in a loop that the data end.
#[autobatch(strict)]
fn bracket(x: f64, y: f64) -> (f64, Option<f64>) {
    let (mut at, mut last, mut n) = (x, None, 0u32);
    while n < 60 {
        let f = at * at * at - y;
        if let Some(before) = last
            && f * before < 0.0
        {
            break;
        }
        last = Some(f);
        at += 0.05 * (y.abs() + 0.3);
        n += 1;
    }
    (at, last)
}

/// One that is stacked across calls.
#[autobatch(strict)]
fn deepest(n: u32, limit: Option<f64>) -> f64 {
    let own = if n % 3 == 0 { Some(f64::from(n)) } else { limit };
    if n == 0 {
        return own.unwrap_or(0.5);
    }
    let below = deepest(n / 2, own) + deepest(n - 1 - n / 2, limit);
    match own {
        Some(o) if o > below => o,
        Some(o) => below + o * 0.125,
        None => below,
    }
}

#[autobatch(strict)]
fn sides(x: f64, n: u32) -> f64 {
    let (mut side, mut x) = (Side::Left, x);
    for i in 0..20 {
        side = match side {
            Side::Left if x > 3.0 => Side::Right { by: x * 0.5 },
            Side::Left => {
                x += 0.7;
                side
            }
            Side::Right { by } => {
                x -= by.abs() + 0.1;
                if x < 0.0 { Side::Both(by, i + n) } else { Side::Right { by: by * 1.1 } }
            }
            Side::Both(_, 3) => Side::Left,
            Side::Both(by, left) => {
                x += by * 0.01;
                if left % 2 == 0 { Side::Left } else { Side::Both(by + 1.0, left - 1) }
            }
        };
        if side == Side::Left {
            x += 0.25;
        }
    }
    x
}

/// An enumeration that is given, and one in another.
#[autobatch(strict)]
fn given(side: Side, x: f64) -> f64 {
    let mut nested = if x > 1.0 { Some(side) } else { None };
    let mut sum = 0.0;
    for i in 0..5 {
        sum += match nested {
            Some(Side::Right { by }) => by,
            Some(_) => 1.0,
            None => x,
        };
        nested = match (nested, i) {
            (None, 2) => Some(Side::Both(sum, i)),
            (kept, _) => kept,
        };
    }
    let mut twice = Some(Some(sum));
    if sum > 4.0 {
        twice = Some(None);
    }
    while let Some(inner) = twice {
        twice = inner.map(|s| if s > 3.0 { None } else { Some(s + 1.0) });
        sum += 0.5;
    }
    sum
}

/// What a pattern has bound stays, whatever becomes of the variable.
#[autobatch(strict)]
fn changed_meanwhile(x: f64, y: f64) -> f64 {
    let mut last = Some(x);
    let mut sum = 0.0;
    for i in 0..6 {
        if let Some(t) = last
            && {
                last = if y > f64::from(i) { Some(t + y) } else { None };
                t > 0.5
            }
            && t < 9.0
        {
            sum += t;
        }
        if let Some(t) = last {
            last = Some(0.25);
            sum += t * 0.5;
        }
    }
    sum
}

#[autobatch(strict)]
fn unwrapped(x: f64) -> f64 {
    let mut found = None;
    for i in 0..8 {
        let y = x - f64::from(i);
        if y < 1.0 && found.is_none() {
            found = Some(y);
        }
    }
    found.expect("x is below 8")
}

/// Chains that yield an element.
#[autobatch(strict)]
fn chains(x: f64, y: f64, all: &[Sphere]) -> (f64, f64, Option<usize>) {
    let near = all.iter().filter_map(|s| hit(x, y, s)).min_by(|a, b| a.total_cmp(b)).unwrap_or(-1.0);
    let far = all
        .iter()
        .enumerate()
        .map(|(i, s)| (i, x * s.x - y * s.r))
        .max_by(|a, b| a.1.partial_cmp(&b.1).unwrap())
        .map(|(i, _)| i);
    let first = all.iter().map(|s| s.x - x).find(|&d| d > 0.5);
    let product = all.iter().map(|s| s.r + y).reduce(|a, b| a * b).unwrap_or(1.0);
    let sum = all.iter().filter_map(|s| hit(y, x, s)).fold(0.0, |sum, t| sum + t);
    let blocks = all.iter().filter_map(|s| {
        let t = s.x * y;
        if t > 0.5 { Some(t - x) } else { None }
    });
    let halves = (0..7).filter_map(|k| if k % 2 == 1 { Some(f64::from(k) * x) } else { None }).sum::<f64>();
    (near + first.unwrap_or(0.25), product + sum + blocks.fold(0.5, |a, b| a * 0.5 + b) + halves, far)
}

/// One begins with a `None` whose type follows later, another is of a pair. Both are matched.
#[autobatch(strict)]
fn of_two_types(x: f64, y: f64) -> f64 {
    let (mut s, mut best) = (x, None);
    if s > 0.5 {
        best = Some(s);
    }
    let mut pair: Option<(f64, u32)> = None;
    for round in 0..7u32 {
        s = match best {
            Some(b) => s * 0.5 + b,
            None => y,
        };
        match pair {
            None => pair = Some((s, round)),
            Some((t, n)) if t < s => pair = Some((t + 0.25, n + round)),
            Some(_) => best = None,
        }
    }
    s + best.unwrap_or(0.25) + pair.map_or(-1.0, |(t, n)| t * f64::from(n))
}

fn pairs() -> Vec<(f64, f64)> {
    (0..120).map(|i| (f64::from(i * 37 % 50) * 0.1 - 1.0, f64::from(i * 7 % 64) * 0.1 - 1.7)).collect()
}

fn spheres() -> Vec<Sphere> {
    let at = |i: i32| f64::from(i * 29 % 17) * 0.3 - 2.0;
    (0..13).map(|i| Sphere { x: at(i), y: at(i * 3 + 1), r: 0.4 + f64::from(i % 4) * 0.3 }).collect()
}

#[test]
fn the_nearest_of_a_list() {
    let all = &spheres()[..];
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| nearest(x, y, all),
        |batch, options| nearest_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), all, options),
    );
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| nearest_pair(x, y, all),
        |batch, options| {
            nearest_pair_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), all, options)
        },
    );
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| nearest_record(x, y, all),
        |batch, options| {
            nearest_record_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), all, options)
        },
    );
}

#[test]
fn options_of_two_types() {
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| of_two_types(x, y),
        |batch, options| of_two_types_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn chains_yield_elements() {
    let all = &spheres()[..];
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| chains(x, y, all),
        |batch, options| chains_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), all, options),
    );
}

#[test]
fn adaptors_are_conditions() {
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| adaptors(x, y),
        |batch, options| adaptors_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn what_is_bound_stays() {
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| changed_meanwhile(x, y),
        |batch, options| {
            changed_meanwhile_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options)
        },
    );
}

#[test]
fn options_live_across_rounds_and_calls() {
    agree_at(
        SIZES,
        &pairs(),
        |&(x, y)| bracket(x, y),
        |batch, options| bracket_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
    let inputs: Vec<(u32, Option<f64>)> =
        (0..60).map(|i| (i * 7 % 19, (i % 2 == 0).then(|| f64::from(i) * 0.3))).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(n, limit)| deepest(n, limit),
        |batch, options| deepest_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn variants_have_fields() {
    let inputs: Vec<(f64, u32)> = pairs().iter().map(|(x, y)| (*x, (y.abs() * 9.0) as u32)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(x, n)| sides(x, n),
        |batch, options| sides_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
    let side = |(x, y): &(f64, f64)| match (x * 10.0) as i32 % 3 {
        0 => Side::Left,
        1 => Side::Right { by: *y },
        _ => Side::Both(*y, 3),
    };
    let inputs: Vec<(Side, f64)> = pairs().iter().map(|pair| (side(pair), pair.0)).collect();
    agree_at(
        SIZES,
        &inputs,
        |&(side, x)| given(side, x),
        |batch, options| given_batched_with(column(batch, |i| i.0), column(batch, |i| i.1), options),
    );
}

#[test]
fn what_is_missing_is_a_fault() {
    let inputs: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.25).collect();
    for (name, options) in crate::common::executors() {
        let outcome = unwrapped_batched_with(&inputs, &options).expect("the options are right");
        for (member, x) in inputs.iter().enumerate() {
            match *x < 8.0 {
                true => assert_eq!(outcome.get(member), Some(&unwrapped(*x)), "{name}, member {member}"),
                false => {
                    let fault = outcome.faults().iter().find(|fault| fault.member == member);
                    let text = fault.map(ToString::to_string).unwrap_or_default();
                    assert!(text.contains("x is below 8"), "{name}, member {member}: {text}");
                }
            }
        }
    }
}
