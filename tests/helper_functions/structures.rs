//! Structures with methods and operators: taken apart or not, the results are the scalar function's.

// Written as users write.
#![allow(clippy::manual_is_multiple_of, clippy::needless_late_init)]

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use autobatch::autobatch;

use crate::common::{Bits, agree_at, column, executors};

const SIZES: &[usize] = &[1, 70];

#[derive(Clone, Copy, Debug, PartialEq)]
struct V3 {
    x: f32,
    y: f32,
    z: f32,
}

impl V3 {
    const UP: V3 = V3 { x: 0.0, y: 1.0, z: 0.0 };

    fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }
    fn dot(self, o: V3) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn turned(&self) -> V3 {
        V3 { x: self.y, y: self.z, z: self.x }
    }
    fn grow(&mut self, by: f32) -> f32 {
        self.x += by;
        self.y *= 1.5;
        self.x
    }
}

impl Add for V3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> Self::Output {
        V3::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul<V3> for f32 {
    type Output = V3;
    fn mul(self, v: V3) -> V3 {
        V3::new(self * v.x, self * v.y, self * v.z)
    }
}

impl Neg for V3 {
    type Output = V3;
    fn neg(self) -> V3 {
        V3::new(-self.x, -self.y, -self.z)
    }
}

impl AddAssign for V3 {
    fn add_assign(&mut self, o: V3) {
        self.x += o.x;
        self.y += o.y;
        self.z += o.z;
    }
}

#[derive(Clone, Copy, Debug)]
struct Sphere {
    centre: V3,
    radius: f32,
}

/// How far along a way a sphere is met.
fn met(sphere: &Sphere, from: V3, way: V3) -> f32 {
    let to = sphere.centre - from;
    let along = to.dot(way);
    if along <= 0.0 {
        return -1.0;
    }
    let rest = to.dot(to) - along * along / way.dot(way);
    if rest < sphere.radius * sphere.radius { along } else { -1.0 }
}

/// The first sphere on the way, with an early return of what is computed.
fn first(spheres: &[Sphere], from: V3, way: V3) -> f32 {
    for sphere in spheres {
        let along = met(sphere, from, way);
        if along > 0.0 {
            return along;
        }
    }
    -2.0
}

macro_rules! above {
    ($x:expr) => {
        if $x > 0.75 {
            return true;
        }
    };
}

/// Whether some sphere is near, and all are ahead: searches with closures, one of which a macro leaves.
#[autobatch]
fn ahead(x: f32, n: u32, spheres: &[Sphere]) -> u32 {
    let mut count = 0;
    for i in 0..n % 5 {
        let at = V3::new(x, 0.25 * i as f32, 0.0);
        if spheres.iter().any(|sphere| met(sphere, at, V3::UP) > 0.5) {
            count += 1;
        }
        if spheres.iter().all(|&Sphere { centre, .. }| (centre - at).z > 0.5 || centre.x < x) && i > 1 {
            count += 10;
        }
        let is_high = spheres.iter().any(|sphere| {
            above!(sphere.centre.y + at.y);
            sphere.radius > x
        });
        count += if is_high { 100 } else { 0 };
    }
    count
}

/// Which pair is close: loops in loops, left from within.
fn close(spheres: &[Sphere], at: f32) -> bool {
    for one in spheres {
        for other in spheres {
            if (one.centre - other.centre).dot(V3::UP) > at + one.radius {
                return true;
            }
        }
        if one.radius > 2.0 * at {
            return true;
        }
    }
    false
}

#[autobatch]
fn seen(x: f32, y: f32, spheres: &[Sphere]) -> f32 {
    let mut sum = 0.0;
    let mut from = V3::new(x, y, 0.0);
    for i in 0..12 {
        let way = V3::new(y, 0.25, 1.0) - 0.5 * from;
        sum += first(spheres, from, way);
        if close(spheres, sum * 0.125) {
            sum -= 1.0;
        }
        from += V3::new(0.0, 0.125, x);
        from = if i % 3 == 0 { -from.turned() } else { V3 { z: from.x, x: from.y, y: from.z } };
    }
    sum + from.x - from.y * 2.0 + from.z * 4.0
}

/// A structure as a parameter that changes, as a result, in a tuple, declared before it has a value.
#[autobatch]
fn handed_on(mut v: V3, n: u32, w: &[V3]) -> V3 {
    let mut kept = v;
    for one in w {
        let (a, b) = (*one - v, v + kept);
        let next;
        if a.dot(b) > 0.0 {
            next = a;
        } else {
            next = match n % 3 {
                0 => b,
                1 => V3 { x: b.y, y: b.x, z: a.z },
                _ => 0.25 * (a + b),
            };
        }
        v = V3 { x: v.y, y: v.x, z: next.z };
        kept = next;
        if kept == v {
            return kept;
        }
        v += 0.5 * next;
    }
    v
}

/// What refers to a structure as a whole leaves it in one piece.
#[autobatch]
fn in_one_piece(x: f32, w: &[f32]) -> f32 {
    let mut v = V3::new(x, 1.0, 2.0);
    let other = V3 { y: x, ..v };
    for a in w {
        let grown = v.grow(*a);
        let lent = &v;
        let longest = [lent.x, lent.y, other.y].into_iter().fold(0.0, f32::max);
        let through = |by: f32| by * other.z;
        v.z += through(longest) - grown;
        assert!(v.z < 1e30, "{v:?}");
    }
    v.dot(other)
}

/// A generator without `Copy`, as most are.
#[derive(Debug, PartialEq)]
struct Xorshift(u32);

impl Xorshift {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
    fn uniform(&mut self) -> f32 {
        (self.bits() >> 8) as f32 * (1.0 / 16_777_216.0)
    }
}

/// Operands that change what others look at are evaluated in order.
#[autobatch]
fn in_order(seed: u32, n: u32) -> f32 {
    let mut rng = Xorshift(seed | 1);
    let mut sum = 0.0;
    let mut y = 1.0;
    for _ in 0..n % 7 {
        let v = V3::new(rng.uniform(), sum - rng.uniform() * 2.0, rng.uniform() + rng.0 as f32 * 1e-9);
        sum += rng.uniform() * rng.uniform() - v.dot(V3 { z: rng.uniform(), x: rng.uniform(), y: 0.5 });
        let before = rng.0 as f32 * (rng.bits() as f32 * 1e-20) - rng.0 as f32 * 1e-10;
        y = y + square(bumped(&mut y)) * 0.125 + before;
        sum += if rng.uniform() < 0.5 { y } else { -y };
    }
    sum
}
fn square(x: f32) -> f32 {
    x * x
}
fn bumped(x: &mut f32) -> f32 {
    *x = (*x + 1.0) * 0.5;
    *x
}

/// The same with the generator as a state.
#[autobatch]
fn drawn(rng: &mut Xorshift, x: f32, spheres: &[Sphere]) -> u32 {
    let mut hits = 0;
    for _ in 0..9 {
        let way = V3::new(rng.uniform() - 0.5, x * rng.uniform(), 1.0);
        if first(spheres, V3::new(0.0, 0.0, -2.0), way) > 0.0 {
            hits += 1;
        }
    }
    hits
}

/// A state of several fields, not all numbers of one kind; left early, and changed behind the loop.
#[derive(Clone, Debug, PartialEq)]
struct Walker {
    at: (i32, i32),
    steps: [u16; 4],
    seed: u32,
    far: bool,
}

impl Walker {
    fn step(&mut self) -> usize {
        self.seed = self.seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (self.seed >> 30) as usize
    }
}

#[autobatch]
fn walked(walker: &mut Walker, length: u32) -> i32 {
    if length % 11 == 0 {
        walker.seed ^= 1;
        return -1;
    }
    for _ in 0..length % 13 {
        let way = walker.step();
        walker.steps[way] += 1;
        match way {
            0 => walker.at.0 += 1,
            1 => walker.at.0 -= 1,
            2 => walker.at.1 += 1,
            _ => walker.at.1 -= 1,
        }
    }
    walker.far = walker.at.0.abs() > 2;
    walker.at.0 * 100 + walker.at.1
}

macro_rules! far_or {
    ($walker:expr, $far:expr) => {
        if $far {
            return -2;
        }
    };
}

/// Left by a macro.
#[autobatch]
fn walked_far(walker: &mut Walker, length: u32) -> i32 {
    let mut way = 0;
    for _ in 0..length % 5 {
        way = walker.step();
        walker.at.1 += 1;
    }
    far_or!(0, way > 1);
    walker.far = true;
    walker.at.1
}

/// Without a result; left from within the loop.
#[autobatch]
fn walked_in(walker: &mut Walker, length: u32) {
    for i in 0..length % 13 {
        if walker.step() == 3 && i > 2 {
            walker.far = true;
            return;
        }
        walker.at.0 += 1;
    }
    walker.steps[0] = 7;
}

/// A literal is of the type that has the operator.
#[derive(Clone, Copy, Debug)]
struct Halves(f64);
impl Mul<Halves> for f32 {
    type Output = Halves;
    fn mul(self, h: Halves) -> Halves {
        Halves(f64::from(self) * h.0 + 1.0)
    }
}
impl Mul<f64> for Halves {
    type Output = Halves;
    fn mul(self, by: f64) -> Halves {
        Halves(self.0 * by - 1.0)
    }
}

#[autobatch]
fn literals(x: f64, n: u32) -> f64 {
    let mut h = Halves(x);
    for _ in 0..n % 5 {
        h = 0.1 * h;
        h = h * 0.1;
    }
    h.0
}

mod traits {
    /// Found before the type's own `length`, which takes a reference.
    pub(super) trait Length {
        fn length(self) -> f32;
    }
}
use traits::Length;

#[derive(Clone, Copy, Debug)]
struct Rod {
    from: f32,
    to: f32,
}
impl Length for Rod {
    fn length(self) -> f32 {
        self.to - self.from + 100.0
    }
}
impl Rod {
    #[allow(dead_code)]
    fn length(&self) -> f32 {
        self.to - self.from
    }
    fn middle(&self) -> f32 {
        0.5 * (self.from + self.to)
    }
}

/// A method call means what rustc finds first.
#[autobatch]
fn found_first(x: f32, n: u32) -> f32 {
    let mut rod = Rod { from: x, to: 1.0 };
    for _ in 0..n % 4 {
        rod.to += rod.length() * rod.middle();
    }
    rod.to
}

mod elsewhere {
    #[derive(Clone, Copy, Debug)]
    pub(super) struct V3 {
        pub(super) x: f32,
    }
    impl V3 {
        pub(super) fn dot(self, o: V3) -> f32 {
            self.x - o.x * 100.0
        }
    }
}

/// Another type of the same name.
#[autobatch]
fn of_the_same_name(x: f32, n: u32) -> f32 {
    use elsewhere::V3;
    let v = V3 { x };
    let mut sum = 0.0;
    for _ in 0..n % 4 {
        sum += v.dot(V3 { x: sum });
    }
    sum
}

/// Nothing is taken out of a structure that has a drop of its own.
struct Loud<'a>(f32, &'a std::cell::Cell<u32>);
impl Drop for Loud<'_> {
    fn drop(&mut self) {
        self.1.set(self.1.get() + 1);
    }
}
impl Loud<'_> {
    fn more(&mut self) -> f32 {
        self.0 += 1.0;
        self.0
    }
}

#[autobatch]
fn dropped(x: f32, n: u32) -> f32 {
    let count = std::cell::Cell::new(0);
    let mut sum = 0.0;
    for _ in 0..n % 4 {
        let mut loud = Loud(x, &count);
        sum += loud.more();
    }
    sum + count.get() as f32
}

fn spheres(n: usize) -> Vec<Sphere> {
    let at = |i: usize, k: usize| ((i * 37 + k * 11) % 17) as f32 / 8.0 - 1.0;
    let sphere =
        |i| Sphere { centre: V3::new(at(i, 1), at(i, 2), at(i, 3) + 1.5), radius: 0.4 * at(i, 4).abs() };
    (0..n).map(sphere).collect()
}

fn numbers() -> Vec<(f32, u32)> {
    (0..70).map(|i| ((i * 29 % 41) as f32 / 16.0 - 1.25, i * 2_654_435 % 1_013)).collect()
}

impl Bits for V3 {
    fn same(&self, other: &Self) -> bool {
        [self.x, self.y, self.z].same(&[other.x, other.y, other.z])
    }
}

#[test]
fn structures_are_taken_apart_in_loops() {
    for count in [0, 1, 9] {
        let (spheres, ways) = (spheres(count), spheres(count));
        let ways = column(&ways, |sphere| sphere.centre);
        agree_at(
            SIZES,
            &numbers(),
            |(x, n)| seen(*x, *n as f32 * 1e-3, &spheres),
            |rows, o| {
                seen_batched_with(column(rows, |r| r.0), column(rows, |r| r.1 as f32 * 1e-3), &spheres, o)
            },
        );
        agree_at(
            SIZES,
            &numbers(),
            |(x, n)| ahead(*x, *n, &spheres),
            |rows, o| ahead_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), &spheres, o),
        );
        let v = |x: f32| V3::new(x, 1.0 - x, 0.5);
        agree_at(
            SIZES,
            &numbers(),
            |(x, n)| handed_on(v(*x), *n, &ways),
            |rows, o| handed_on_batched_with(column(rows, |r| v(r.0)), column(rows, |r| r.1), &ways, o),
        );
    }
}

#[test]
fn what_refers_to_a_structure_finds_it_whole() {
    let w = column(&numbers()[..9], |r| r.0);
    agree_at(
        SIZES,
        &numbers(),
        |(x, _)| in_one_piece(*x, &w),
        |rows, o| in_one_piece_batched_with(column(rows, |r| r.0), &w, o),
    );
    agree_at(
        SIZES,
        &numbers(),
        |(x, n)| dropped(*x, *n),
        |rows, o| dropped_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), o),
    );
}

#[test]
fn operands_are_evaluated_in_order() {
    agree_at(
        SIZES,
        &numbers(),
        |(_, n)| in_order(*n, *n),
        |rows, o| in_order_batched_with(column(rows, |r| r.1), column(rows, |r| r.1), o),
    );
    let spheres = spheres(7);
    let generators = || (0..70).map(|i| Xorshift(i * 2_654_435 + 1)).collect::<Vec<_>>();
    let x = column(&numbers(), |r| r.0);
    let mut scalar = generators();
    let expected: Vec<u32> = scalar.iter_mut().zip(&x).map(|(rng, x)| drawn(rng, *x, &spheres)).collect();
    for (how, options) in executors() {
        let mut states = generators();
        let outcome = drawn_batched_with(&mut states, &x, &spheres, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), expected, "{how}");
        assert_eq!(states, scalar, "{how}");
    }
}

#[test]
fn states_are_as_the_scalar_function_leaves_them() {
    let walkers = || {
        let walker =
            |i: u32| Walker { at: (0, i as i32 % 3), steps: [i as u16; 4], seed: i * 7_919, far: i % 2 == 0 };
        (0..70).map(walker).collect::<Vec<_>>()
    };
    let lengths = column(&numbers(), |r| r.1);
    let (mut scalar, mut scalar_in, mut scalar_far) = (walkers(), walkers(), walkers());
    let expected_far: Vec<i32> =
        scalar_far.iter_mut().zip(&lengths).map(|(w, n)| walked_far(w, *n)).collect();
    let expected: Vec<i32> = scalar.iter_mut().zip(&lengths).map(|(w, n)| walked(w, *n)).collect();
    scalar_in.iter_mut().zip(&lengths).for_each(|(w, n)| walked_in(w, *n));
    for (how, options) in executors() {
        let mut states = walkers();
        let outcome = walked_batched_with(&mut states, &lengths, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), expected, "{how}");
        assert_eq!(states, scalar, "{how}");
        let mut states = walkers();
        let outcome = walked_far_batched_with(&mut states, &lengths, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), expected_far, "{how}");
        assert_eq!(states, scalar_far, "{how}");
        let mut states = walkers();
        walked_in_batched_with(&mut states, &lengths, &options).unwrap().into_values().unwrap();
        assert_eq!(states, scalar_in, "{how}");
    }
}

#[test]
fn names_mean_what_rustc_says() {
    agree_at(
        SIZES,
        &numbers(),
        |(x, n)| literals(f64::from(*x), *n),
        |rows, o| literals_batched_with(column(rows, |r| f64::from(r.0)), column(rows, |r| r.1), o),
    );
    agree_at(
        SIZES,
        &numbers(),
        |(x, n)| found_first(*x, *n),
        |rows, o| found_first_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), o),
    );
    agree_at(
        SIZES,
        &numbers(),
        |(x, n)| of_the_same_name(*x, *n),
        |rows, o| of_the_same_name_batched_with(column(rows, |r| r.0), column(rows, |r| r.1), o),
    );
}
