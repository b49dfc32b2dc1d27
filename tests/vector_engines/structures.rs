//! Structures of the user's in loops, in recursion, as results, in each other and lent; and structures whose operators and methods have
//! effects, each of which happens once for a member.

use std::ops::{Add, AddAssign, Deref, Index, Mul, Neg, Sub};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Bits, agree, agree_at, column, executors};
use autobatch::{BatchError, Options, Outcome, autobatch};

#[derive(Clone, Copy, Debug, PartialEq)]
struct V3 {
    x: f64,
    y: f64,
    z: f64,
}

impl Bits for V3 {
    fn same(&self, o: &V3) -> bool {
        self.x.same(&o.x) && self.y.same(&o.y) && self.z.same(&o.z)
    }
}

impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        V3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl Mul<V3> for f64 {
    type Output = V3;
    fn mul(self, v: V3) -> V3 {
        V3 { x: self * v.x, y: self * v.y, z: self * v.z }
    }
}

impl V3 {
    fn dot(self, o: V3) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }
}

fn turned(p: V3) -> V3 {
    V3 { x: -p.y, y: p.x, z: 0.1 * p.z }
}

/// The length of a curve by halving.
#[autobatch(strict)]
fn curve(a: V3, b: V3, depth: u32) -> f64 {
    let p = 0.5 * (a + b) + 0.1 * turned(b - a);
    let whole = (b - a).length();
    let parts = (p - a).length() + (b - p).length();
    if depth == 0 || parts - whole < 1e-3 { parts } else { curve(a, p, depth - 1) + curve(p, b, depth - 1) }
}

/// Structures in a structure, and one as the result; some members fail.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ray {
    from: V3,
    way: V3,
    left: u32,
}

#[autobatch(strict)]
fn traced(ray: Ray) -> V3 {
    assert!(ray.from.x < 25.0, "too far");
    let at = ray.from + 0.5 * ray.way;
    if ray.left == 0 || at.dot(at) > 900.0 {
        return at;
    }
    let there = traced(Ray { from: at, way: turned(ray.way), left: ray.left - 1 });
    if ray.left.is_multiple_of(3) {
        let back = traced(Ray { from: at, way: -0.5 * ray.way, left: ray.left / 2 });
        return there + 0.25 * back;
    }
    there
}

/// A structure without names, whole and by fields, lent and chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair(f64, u32);

fn larger(a: &Pair, b: &Pair) -> f64 {
    if a.0 > b.0 { a.0 } else { b.0 + f64::from(b.1) }
}

#[autobatch(strict)]
fn paired(a: Pair, b: Pair, n: u32) -> f64 {
    let (mut a, mut b, mut i, mut sum) = (a, b, 0, 0.0);
    while i < n {
        sum += larger(&a, &b);
        let next = if a.1 > i { Pair(a.0 * 0.75, a.1) } else { b };
        (a, b) = (next, a);
        a.1 += 1;
        i += 1;
    }
    sum + b.0
}

fn point(seed: usize, step: f64) -> V3 {
    let of = |k: usize| ((seed * 37 + k * 11) % 64) as f64 / 32.0 - 1.0;
    V3 { x: of(1), y: of(2) * step, z: of(3) }
}

#[test]
fn structures_are_numbers() {
    let batch: Vec<_> = (0..301).map(|i| (point(i, 1.0), point(i + 7, 2.0), (i % 9) as u32)).collect();
    agree(
        &batch,
        |(a, b, depth)| curve(*a, *b, *depth),
        |batch, options| {
            let (a, b, depth) = (column(batch, |m| m.0), column(batch, |m| m.1), column(batch, |m| m.2));
            curve_batched_with(&a, &b, &depth, options)
        },
    );
    let batch: Vec<_> = (0..301)
        .map(|i| (Pair(i as f64 / 50.0, i as u32 % 5), Pair(3.0, i as u32 % 7), i as u32 % 40))
        .collect();
    agree(
        &batch,
        |(a, b, n)| paired(*a, *b, *n),
        |batch, options| {
            let (a, b, n) = (column(batch, |m| m.0), column(batch, |m| m.1), column(batch, |m| m.2));
            paired_batched_with(&a, &b, &n, options)
        },
    );
}

#[test]
fn structures_in_structures() {
    let rays: Vec<Ray> = (0..301)
        .map(|i| Ray { from: 30.0 * point(i, 0.5), way: 20.0 * point(i + 3, 1.0), left: i as u32 % 11 })
        .collect();
    let results: Vec<Option<V3>> =
        rays.iter().map(|ray| std::panic::catch_unwind(|| traced(*ray)).ok()).collect();
    assert!(results.iter().any(Option::is_none) && results.iter().any(Option::is_some));
    for (how, options) in executors() {
        let got = traced_batched_with(&rays, &options).unwrap();
        let got: Vec<Option<V3>> = got.into_parts().0;
        assert_eq!(got, results, "{how}");
    }
    let fine: Vec<Ray> =
        rays.into_iter().zip(&results).filter(|(_, r)| r.is_some()).map(|(r, _)| r).collect();
    agree_at(&[1, 2, 33, 200], &fine, |ray| traced(*ray), |rays, options| traced_batched_with(rays, options));
}

static HEARD: AtomicUsize = AtomicUsize::new(0);

fn heard() {
    HEARD.fetch_add(1, Ordering::Relaxed);
}

/// Whatever is done with it is heard.
#[derive(Clone, Copy, Debug)]
struct Loud {
    x: f64,
    n: u32,
}

impl PartialEq for Loud {
    fn eq(&self, o: &Loud) -> bool {
        heard();
        self.x == o.x
    }
}

impl Neg for Loud {
    type Output = Loud;
    fn neg(self) -> Loud {
        heard();
        Loud { x: -self.x, ..self }
    }
}

impl AddAssign<f64> for Loud {
    fn add_assign(&mut self, o: f64) {
        heard();
        self.x += o;
    }
}

impl Index<usize> for Loud {
    type Output = f64;
    fn index(&self, _: usize) -> &f64 {
        heard();
        &self.x
    }
}

impl Deref for Loud {
    type Target = f64;
    fn deref(&self) -> &f64 {
        heard();
        &self.x
    }
}

impl Loud {
    fn sqrt(self) -> f64 {
        heard();
        self.x
    }
    fn len(&self) -> usize {
        heard();
        3
    }
    fn iter(&self) -> std::ops::Range<usize> {
        heard();
        0..3
    }
}

#[autobatch]
fn equal(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += if loud == start { 1.0 } else { 2.0 };
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn negative(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += (-loud).x;
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn added(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += {
            loud += 0.5;
            1.0
        };
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn indexed(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += loud[0];
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn behind(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += *loud;
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn rooted(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += loud.sqrt();
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn measured(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += loud.len() as f64;
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn gone_through(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += {
            let mut all = 0.0;
            for at in loud.iter() {
                all += at as f64;
            }
            all
        };
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

#[autobatch]
fn given(start: Loud, n: u32) -> f64 {
    let (mut loud, mut i, mut sum) = (start, 0, 0.0);
    while i < n {
        sum += same(loud, start);
        loud.n += 1;
        i += 1;
    }
    sum + f64::from(loud.n)
}

fn same(a: Loud, b: Loud) -> f64 {
    let (c, d) = (a, b);
    f64::from(u8::from(c == d))
}

/// A function by its name.
type Named = (&'static str, fn(Loud, u32) -> f64, Batched);
/// How a batch of it runs.
type Batched = fn(&[Loud], &[u32], &Options) -> Result<Outcome<f64>, BatchError>;

#[test]
fn each_effect_happens_once() {
    let start: Vec<Loud> = (0..131).map(|i| Loud { x: f64::from(i) * 0.25, n: i }).collect();
    let n: Vec<u32> = (0..131).map(|i| i % 6).collect();
    let functions: [Named; 9] = [
        ("equal", equal, |s, n, options| equal_batched_with(s, n, options)),
        ("negative", negative, |s, n, options| negative_batched_with(s, n, options)),
        ("added", added, |s, n, options| added_batched_with(s, n, options)),
        ("indexed", indexed, |s, n, options| indexed_batched_with(s, n, options)),
        ("behind", behind, |s, n, options| behind_batched_with(s, n, options)),
        ("rooted", rooted, |s, n, options| rooted_batched_with(s, n, options)),
        ("measured", measured, |s, n, options| measured_batched_with(s, n, options)),
        ("gone_through", gone_through, |s, n, options| gone_through_batched_with(s, n, options)),
        ("given", given, |s, n, options| given_batched_with(s, n, options)),
    ];
    for (name, scalar, batched) in functions {
        HEARD.store(0, Ordering::Relaxed);
        let want: Vec<f64> = start.iter().zip(&n).map(|(s, n)| scalar(*s, *n)).collect();
        let effects = HEARD.load(Ordering::Relaxed);
        assert!(effects > 0, "{name}");
        for (how, options) in executors() {
            HEARD.store(0, Ordering::Relaxed);
            let got = batched(&start, &n, &options).unwrap().into_values().unwrap();
            assert_eq!(got, want, "{name}, {how}");
            assert_eq!(HEARD.load(Ordering::Relaxed), effects, "{name}, {how}");
        }
    }
}
