//! Generic helpers, and methods of traits: the same as what rustc makes of them.

// Written as users write.
#![allow(clippy::manual_is_multiple_of, clippy::needless_range_loop, clippy::needless_lifetimes)]

use std::ops::{Add, Mul, Sub};

use autobatch::autobatch;

agree! {
    by_lengths: lengths, lengths_batched_with;
    by_types: numbers, numbers_batched_with;
    by_structures: shapes, shapes_batched_with;
    by_traits_of_numbers: reals, reals_batched_with;
    by_names_of_other_things: names, names_batched_with;
    by_default_methods: defaults, defaults_batched_with;
}

const COEFFICIENTS: [f64; 4] = [1.0, -0.5, 0.25, 0.125];

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for i in 0..N {
        sum += a[i] * b[i];
    }
    sum
}

fn mean<const N: usize>(a: [f64; N]) -> f64 {
    a.iter().sum::<f64>() / N as f64
}

fn times<const R: usize, const C: usize>(m: &[[f64; C]; R], x: &[f64; C]) -> [f64; R] {
    let mut y = [0.0; R];
    for i in 0..R {
        y[i] = dot(&m[i], x);
    }
    y
}

fn polynomial<'c, const N: usize>(coefficients: &'c [f64; N], x: f64) -> f64 {
    let mut y = 0.0;
    for k in (0..N).rev() {
        y = y * x + coefficients[k];
    }
    y
}

fn rounds<const MOST: u32>(mut x: f64) -> f64 {
    let mut n = 0;
    while x > 1.0 && n < MOST {
        x *= 0.75;
        n += 1;
    }
    x + f64::from(n) + f64::from(MOST)
}

#[autobatch(strict)]
fn lengths(a: f64, n: u32) -> f64 {
    let mut p = [a, 0.5, 1.0];
    let m = [[0.5, 0.1, a], [0.0, 0.25, -0.5]];
    let mut sum = 0.0;
    for i in 0..n % 9 {
        let d = dot(&p, &[0.5, 0.25, -0.5]) + f64::from(i);
        p = [p[1], p[2], d];
        let [x, y] = times(&m, &p);
        sum += mean(p) + mean([x, y]) + polynomial(&COEFFICIENTS, x) + rounds::<5>(y) - rounds::<3>(a * 4.0);
    }
    sum
}

fn lerp<T>(a: T, b: T, t: f64) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f64, Output = T>,
{
    a + (b - a) * t
}

fn clamp_to<T: PartialOrd + Copy>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[derive(Clone, Copy)]
struct P {
    x: f64,
    y: f64,
}

impl Add for P {
    type Output = P;
    fn add(self, other: P) -> P {
        P { x: self.x + other.x, y: self.y + other.y }
    }
}

impl Sub for P {
    type Output = P;
    fn sub(self, other: P) -> P {
        P { x: self.x - other.x, y: self.y - other.y }
    }
}

impl Mul<f64> for P {
    type Output = P;
    fn mul(self, by: f64) -> P {
        P { x: self.x * by, y: self.y * by }
    }
}

#[autobatch(strict)]
fn numbers(a: f64, n: u32) -> f64 {
    let mut x = a;
    let mut p = P { x: a, y: 1.0 };
    for i in 0..n % 13 {
        x = lerp(x, 2.0, 0.3);
        p = lerp(p, P { x, y: f64::from(i) }, 0.2);
        x += f64::from(clamp_to(i, 2, 5)) + clamp_to(p.x, -1.0, 1.0);
        x = larger::<f64>(x, 1.5) + larger(1.0f32, x as f32) as f64;
    }
    x + p.x * p.y
}

trait Shape {
    fn distance(&self, x: f64, y: f64) -> f64;
    fn grow(&mut self, by: f64);
}

#[derive(Clone, Copy)]
struct Circle {
    x: f64,
    y: f64,
    r: f64,
}

#[derive(Clone, Copy)]
struct Slab(f64);

impl Shape for Circle {
    fn distance(&self, x: f64, y: f64) -> f64 {
        let (dx, dy) = (x - self.x, y - self.y);
        (dx * dx + dy * dy).sqrt() - self.r
    }
    fn grow(&mut self, by: f64) {
        self.r += by;
    }
}

impl Shape for Slab {
    fn distance(&self, _: f64, y: f64) -> f64 {
        (y - self.0).abs() - 0.1
    }
    fn grow(&mut self, by: f64) {
        self.0 *= 1.0 + by;
    }
}

fn march<S: Shape>(shape: &S, height: f64) -> f64 {
    let mut t = 0.0;
    for _ in 0..40 {
        let d = shape.distance(t, height);
        if d < 1e-3 || t > 10.0 {
            break;
        }
        t += d;
    }
    t
}

fn both<A: Shape, B>(a: A, b: &mut B, x: f64) -> f64
where
    B: Shape,
{
    b.grow(0.01);
    a.distance(x, 0.5).min(b.distance(x, 0.25))
}

fn through(shape: &impl Shape, x: f64) -> f64 {
    march(shape, x) + shape.distance(x, x)
}

#[autobatch(strict)]
fn shapes(a: f64, n: u32) -> f64 {
    let circle = Circle { x: 3.0, y: 0.5 * a, r: 0.4 };
    let mut slab = Slab(a);
    let mut sum = 0.0;
    for i in 0..n % 7 {
        sum += circle.distance(sum, f64::from(i)) + march(&circle, 0.1 * a) + march(&slab, f64::from(i));
        sum += both(circle, &mut slab, a) + through(&circle, 0.2);
        slab.grow(0.1);
    }
    sum
}

/// The same names as the numbers' own methods, and other results.
trait Real: Copy {
    fn sqrt(self) -> Self;
    fn abs(&self) -> Self;
    fn halved(self) -> Self;
}

impl Real for f64 {
    fn sqrt(self) -> f64 {
        self * 0.25 + 1.0
    }
    fn abs(&self) -> f64 {
        *self - 1.0
    }
    fn halved(self) -> f64 {
        self * 0.5
    }
}

fn root<T: Real>(x: T) -> T {
    x.sqrt().halved()
}

fn absolute<T: Real>(x: &T) -> T {
    x.abs()
}

#[autobatch(strict)]
fn reals(a: f64, n: u32) -> f64 {
    let mut x = a;
    for _ in 0..n % 11 {
        x = root(x) + absolute(&x) - 0.1 * x.sqrt() + Real::sqrt(x).abs() + x.halved();
    }
    x
}

trait Measure {
    fn size(&self) -> f64;
}

/// Its own method and the trait's are two.
#[derive(Clone, Copy)]
struct Rod(f64);

impl Rod {
    fn size(&self) -> f64 {
        self.0 * 2.0
    }
}

impl Measure for Rod {
    fn size(&self) -> f64 {
        self.0 + 100.0
    }
}

fn sized<T: Measure>(t: &T) -> f64 {
    t.size()
}

/// A parameter that has the name of a type.
fn first<P>(p: P, _: f64) -> P {
    p
}

/// A trait that is found before the type's own.
trait Early {
    fn depth(self) -> f64;
}

trait Late {
    fn depth(&self) -> f64;
}

impl Early for Rod {
    fn depth(self) -> f64 {
        self.0 + 1.0
    }
}

impl Late for Rod {
    fn depth(&self) -> f64 {
        self.0 - 1.0
    }
}

fn late<T: Late>(t: &T) -> f64 {
    t.depth()
}

/// A trait that arrays have: what a generic function finds is the slice's.
trait Long {
    fn len(&self) -> usize;
}

impl Long for f64 {
    fn len(&self) -> usize {
        7
    }
}

fn length<const N: usize>(a: &[f64; N]) -> f64 {
    a.len() as f64 + a[0].len() as f64
}

#[autobatch(strict)]
fn names(a: f64, n: u32) -> f64 {
    let rod = Rod(a);
    let mut sum = first(a, 1.0);
    for i in 0..n % 5 {
        sum += sized(&rod) + rod.size() + first(f64::from(i), 2.0) + late(&rod) - rod.depth() * 0.5;
        sum += length(&[a, sum]) + Measure::size(&rod) + <Rod as Late>::depth(&rod);
    }
    sum
}

trait Surface {
    fn height(&self, x: f64) -> f64;
    fn raise(&mut self, by: f64);
    fn above(&self, x: f64, y: f64) -> bool {
        y > self.height(x)
    }
    fn higher(&self, x: f64, _: u32) -> f64 {
        self.height(x) + 1.0
    }
    fn raised(&mut self, x: f64) -> f64 {
        self.raise(0.1);
        self.height(x)
    }
}

#[derive(Clone, Copy)]
struct Hill(f64);

#[derive(Clone, Copy)]
struct Plain {
    level: f64,
}

impl Surface for Hill {
    fn height(&self, x: f64) -> f64 {
        self.0 / (1.0 + x * x)
    }
    fn raise(&mut self, by: f64) {
        self.0 += by;
    }
}

impl Surface for Plain {
    fn height(&self, _: f64) -> f64 {
        self.level
    }
    fn raise(&mut self, by: f64) {
        self.level += by;
    }
    fn higher(&self, x: f64, n: u32) -> f64 {
        self.level * x + f64::from(n)
    }
}

/// Not the trait's: what a default calls is.
impl Plain {
    fn lowest(&self) -> f64 {
        self.level - 1.0
    }
}

fn climb<S: Surface + Copy>(surface: &mut S, mut x: f64) -> f64 {
    let mut n = 0;
    while n < 20 && !surface.above(x, 1.5) {
        x = surface.raised(x) + surface.higher(x, n) * 0.01;
        n += 1;
    }
    x
}

#[autobatch(strict)]
fn defaults(a: f64, n: u32) -> f64 {
    let (mut hill, mut plain) = (Hill(a), Plain { level: a * 0.5 });
    let mut sum = 0.0;
    for i in 0..n % 6 {
        sum += hill.higher(a, i) + plain.higher(sum, i) + plain.lowest();
        if hill.above(sum, a) {
            sum -= hill.raised(a) * 0.1;
        }
        sum = climb(&mut hill, sum) + climb(&mut plain, a);
    }
    sum
}
