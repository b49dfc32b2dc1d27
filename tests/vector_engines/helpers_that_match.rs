//! Helpers that look at variants: functions and methods, by value and by reference, with patterns of all kinds.

// The forms that users write are what is tested.
#![allow(clippy::needless_range_loop)]

use autobatch::autobatch;

use crate::common::{agree_at, column};

const SIZES: &[usize] = &[1, 33, 400];

#[derive(Clone, Copy, PartialEq, Debug)]
struct Hit {
    t: f64,
    n: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Shape {
    Ball(f64),
    Slab { at: f64, half: f64 },
    Seen(Hit, u32),
    Plane,
}

impl Shape {
    const FAR: f64 = 9.5;

    /// Binds references to numbers and to a structure.
    fn distance(&self, p: f64, q: f64) -> f64 {
        match self {
            Shape::Ball(r) => (p * p + q * q).sqrt() - r,
            Shape::Slab { at, half } => (p - at).abs() - *half,
            Shape::Seen(hit, n) => hit.t * p + f64::from(*n) - hit.n,
            Shape::Plane => q,
        }
    }

    /// Compares what it has bound, and hands it on.
    fn is_near(&self, p: f64) -> bool {
        match self {
            Self::Ball(r) | Self::Slab { half: r, .. } if *r < p => true,
            Self::Slab { at, .. } => at.max(p) < Self::FAR,
            &Self::Seen(hit, _) => hit.t < p,
            _ => false,
        }
    }

    /// What it binds is more than a number to a comparison.
    fn is_at(&self, p: f64) -> bool {
        if let Shape::Slab { at, .. } = self { at == &p } else { false }
    }

    fn grown(self, by: f64) -> Shape {
        match self {
            Shape::Ball(r) => Shape::Ball(r + by),
            Shape::Slab { at, half } if half < 3.0 => Shape::Slab { at: at - by, half: half + by },
            Shape::Slab { .. } => Shape::Seen(Hit { t: by, n: 0.5 }, 3),
            Shape::Plane => Shape::Plane,
            other => other,
        }
    }
}

fn shape(x: f64, y: f64) -> Shape {
    if x > 1.0 {
        Shape::Ball(x)
    } else if y > 0.4 {
        Shape::Slab { at: x, half: y }
    } else if y > -0.1 {
        Shape::Seen(Hit { t: y, n: x }, 2)
    } else {
        Shape::Plane
    }
}

#[autobatch(strict)]
fn shapes(x: f64, y: f64) -> f64 {
    let mut s = shape(x, y);
    let (mut t, mut near) = (0.0, 0u32);
    for i in 0..40u32 {
        // Has the names of what helpers bind.
        let (r, at, half) = (x + f64::from(i) * 0.1, y * 0.5, 0.25);
        t += s.distance(r, at) * half;
        if s.is_near(t) {
            near += 1;
        }
        if s.is_at(r) {
            near += 100;
        }
        if t > 6.0 {
            s = s.grown(0.25);
            t -= 5.0 + r * half;
        }
    }
    t + f64::from(near)
}

fn root(a: f64, b: f64) -> Option<f64> {
    let d = b * b - a;
    if d < 0.0 { None } else { Some(d.sqrt()) }
}

/// Leaves with `let … else`.
fn half_root(a: f64, b: f64) -> f64 {
    let Some(r) = root(a, b) else {
        return 0.125;
    };
    r * 0.5
}

/// Asks for two at once; two patterns bind the same name.
fn either(a: f64, b: f64) -> f64 {
    match (root(a, b), root(b, a)) {
        (Some(r), None) | (None, Some(r)) if r > 0.25 => r,
        (Some(p), Some(q)) => p.min(q),
        (Some(_), _) => 0.75,
        _ => -0.5,
    }
}

fn scaled(v: Option<f64>, by: f64) -> Option<f64> {
    match v {
        Some(v) if v > 0.1 => Some(v * by),
        Some(_) | None => None,
    }
}

fn or_else(v: &Option<f64>, d: f64) -> f64 {
    match v {
        Some(v) => v.min(d),
        None => d,
    }
}

#[autobatch(strict)]
fn roots(x: f64, y: f64) -> f64 {
    let (mut s, mut last) = (x, None);
    for i in 0..40u32 {
        let r = f64::from(i) * 0.01;
        s = 0.8 * s + half_root(s, y) - 0.3 * either(s, y - r);
        if s > r {
            last = scaled(Some(s), 0.5);
        }
        s -= 0.1 * or_else(&last, 0.7);
        if let (Some(l), Some(h)) = (last, root(s, r)) {
            s += l - h;
        }
    }
    s
}

fn hit(x: f64, y: f64) -> Option<Hit> {
    if x * y > 0.2 { Some(Hit { t: x * y, n: x - y }) } else { None }
}

fn nearer(a: Option<Hit>, b: Option<Hit>) -> Option<Hit> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.t < b.t { a } else { b }),
        (Some(a), None) => Some(a),
        (None, b) => b,
    }
}

#[autobatch(strict)]
fn hits(x: f64, y: f64) -> f64 {
    let mut best: Option<Hit> = None;
    for i in 0..40u32 {
        best = nearer(best, hit(x - f64::from(i) * 0.03, y));
        let (Some(b), true) = (best, i % 3 == 1) else { continue };
        if b.t < 0.3 {
            best = None;
        }
    }
    best.map_or(-1.0, |h| h.t + h.n)
}

/// A guard changes what has been matched, not what is matched further.
#[autobatch]
fn changed_in_a_guard(x: f64, y: f64) -> f64 {
    let (mut a, b, mut s) = (Some(x), Some(y), x);
    for _ in 0..9u32 {
        s += match (a, b) {
            (Some(p), _)
                if {
                    a = None;
                    p < s
                } =>
            {
                p
            }
            (Some(q), Some(r)) => q * r,
            _ => {
                a = Some(s * 0.5);
                0.25
            }
        };
    }
    s
}

/// Its own types have the names of those that helpers are about.
#[autobatch]
fn with_its_own(x: f64, y: f64) -> f64 {
    #[derive(Clone, Copy)]
    enum Shape {
        Ball(f64),
    }
    let Shape::Ball(first) = Shape::Ball(x);
    let mut t = first;
    for i in 0..9u32 {
        t += distance(x, y + f64::from(i)) * 0.5;
    }
    t
}

fn distance(x: f64, y: f64) -> f64 {
    match shape(x, y) {
        Shape::Ball(r) => r,
        Shape::Slab { half, .. } => half,
        _ => y,
    }
}

/// What is not `Copy` can't be taken out of what a reference leads to.
#[derive(Clone, PartialEq, Debug)]
enum Named {
    Point(f64),
    Words(Words),
}

#[derive(Clone, PartialEq, Debug)]
struct Words {
    text: String,
    weight: f64,
}

impl Named {
    fn weight(&self) -> f64 {
        match self {
            Named::Point(w) => w * 2.0,
            Named::Words(words) => words.weight,
        }
    }
}

#[autobatch]
fn named(x: f64, all: &[Named]) -> f64 {
    let mut s = x;
    for i in 0..all.len() {
        s = 0.5 * s + all[i].weight();
    }
    s
}

fn pairs() -> Vec<(f64, f64)> {
    (0..400).map(|i| (f64::from(i * 37 % 50) * 0.07 - 1.0, f64::from(i * 13 % 41) * 0.05 - 0.7)).collect()
}

macro_rules! agrees {
    ($($f:ident, $batched:ident;)*) => {$(
        agree_at(SIZES, &pairs(), |&(x, y)| $f(x, y), |batch, options| {
            $batched(column(batch, |i| i.0), column(batch, |i| i.1), options)
        });
    )*};
}

#[test]
fn variants_by_value_and_by_reference() {
    agrees! {
        shapes, shapes_batched_with;
        with_its_own, with_its_own_batched_with;
    }
}

#[test]
fn options_and_pairs_of_them() {
    agrees! {
        roots, roots_batched_with;
        hits, hits_batched_with;
        changed_in_a_guard, changed_in_a_guard_batched_with;
    }
}

#[test]
fn what_owns_memory_stays_where_it_is() {
    let words = Words { text: "words".to_owned(), weight: 0.75 };
    assert_eq!(words.text.len(), 5);
    let all = [Named::Point(0.25), Named::Words(words)];
    let inputs: Vec<f64> = pairs().iter().map(|pair| pair.0).collect();
    agree_at(SIZES, &inputs, |x| named(*x, &all), |batch, options| named_batched_with(batch, &all, options));
}
