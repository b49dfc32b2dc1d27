//! Ordinary numerical functions, as they stand: a ray tracer, an adaptive integrator, root finding, search,
//! sorting.

#![allow(clippy::manual_is_multiple_of, clippy::redundant_guards)] // written as users write

use crate::common::{agree_at, executors};
use autobatch::{autobatch, same};
use std::ops::{Add, Mul, Sub};
#[derive(Clone, Copy, Debug, PartialEq)]
struct V(f32, f32, f32);
impl Add for V {
    type Output = V;
    fn add(self, o: V) -> V {
        V(self.0 + o.0, self.1 + o.1, self.2 + o.2)
    }
}
impl Sub for V {
    type Output = V;
    fn sub(self, o: V) -> V {
        V(self.0 - o.0, self.1 - o.1, self.2 - o.2)
    }
}
impl Mul<f32> for V {
    type Output = V;
    fn mul(self, k: f32) -> V {
        V(self.0 * k, self.1 * k, self.2 * k)
    }
}
impl V {
    fn dot(self, o: V) -> f32 {
        self.0 * o.0 + self.1 * o.1 + self.2 * o.2
    }
    fn len(self) -> f32 {
        self.dot(self).sqrt()
    }
    fn unit(self) -> V {
        self * (1.0 / self.len())
    }
}
struct Sphere {
    c: V,
    r: f32,
    shine: f32,
}
struct Scene {
    spheres: Vec<Sphere>,
    sky: V,
}
#[autobatch]
fn trace(scene: &Scene, from: V, dir: V, depth: u32) -> V {
    let mut nearest: Option<(f32, &Sphere)> = None;
    for s in &scene.spheres {
        let oc = from - s.c;
        let b = oc.dot(dir);
        let d = b * b - oc.dot(oc) + s.r * s.r;
        if d < 0.0 {
            continue;
        }
        let t = -b - d.sqrt();
        if t > 1e-3 && nearest.is_none_or(|(best, _)| t < best) {
            nearest = Some((t, s));
        }
    }
    let Some((t, s)) = nearest else { return scene.sky * (0.5 + 0.5 * dir.1) };
    if depth == 0 {
        return V(0.0, 0.0, 0.0);
    }
    let p = from + dir * t;
    let n = (p - s.c).unit();
    let r = dir - n * (2.0 * dir.dot(n));
    trace(scene, p, r, depth - 1) * s.shine + V(0.1, 0.2, 0.3) * (1.0 - s.shine)
}
#[autobatch(strict)]
fn rk45(y0: [f64; 2], t1: f64, #[shared] tol: f64) -> ([f64; 2], u32) {
    let f = |y: [f64; 2]| [y[1], -y[0] + 0.1 * y[1] * (1.0 - y[0] * y[0])];
    let _ = f(y0);
    let (mut t, mut y, mut h, mut steps) = (0.0, y0, 0.1, 0);
    while t < t1 {
        if t + h > t1 {
            h = t1 - t;
        }
        let deriv = |y: [f64; 2]| [y[1], -y[0] + 0.1 * y[1] * (1.0 - y[0] * y[0])];
        let k1 = deriv(y);
        let k2 = deriv([y[0] + h * k1[0], y[1] + h * k1[1]]);
        let mut err = 0.0f64;
        let mut next = y;
        for i in 0..2 {
            next[i] = y[i] + 0.5 * h * (k1[i] + k2[i]);
            err = err.max((0.5 * h * (k2[i] - k1[i])).abs());
        }
        steps += 1;
        if err < tol || h < 1e-6 {
            t += h;
            y = next;
            h *= if err < tol * 0.1 { 2.0 } else { 1.0 };
        } else {
            h *= 0.5;
        }
        if steps > 100_000 {
            break;
        }
    }
    (y, steps)
}
#[autobatch(strict)]
fn bisect(a: f64, b: f64, coeffs: &[f64]) -> Result<f64, String> {
    let eval = |x: f64| coeffs.iter().rev().fold(0.0, |acc, c| acc * x + c);
    let (mut lo, mut hi) = (a, b);
    let (mut flo, fhi) = (eval(lo), eval(hi));
    if flo * fhi > 0.0 {
        return Err(format!("no sign change in [{lo}, {hi}]: {flo} {fhi}"));
    }
    for _ in 0..200 {
        let mid = 0.5 * (lo + hi);
        let fm = coeffs.iter().rev().fold(0.0, |acc, c| acc * mid + c);
        match fm {
            v if v == 0.0 => return Ok(mid),
            v if (v < 0.0) == (flo < 0.0) => {
                lo = mid;
                flo = v;
            }
            _ => hi = mid,
        }
        if hi - lo < 1e-12 {
            break;
        }
    }
    Ok(0.5 * (lo + hi))
}
#[autobatch(strict)]
fn search(xs: &[i64], key: i64) -> Result<usize, usize> {
    let (mut lo, mut hi) = (0usize, xs.len());
    while lo < hi {
        let mid = lo + (hi - lo) / 2;
        match xs[mid].cmp(&key) {
            std::cmp::Ordering::Less => lo = mid + 1,
            std::cmp::Ordering::Greater => hi = mid,
            std::cmp::Ordering::Equal => return Ok(mid),
        }
    }
    Err(lo)
}
#[autobatch]
fn quicksort(v: Vec<i32>) -> Vec<i32> {
    if v.len() <= 1 {
        return v;
    }
    let pivot = v[v.len() / 2];
    let mut less = Vec::new();
    let mut equal = Vec::new();
    let mut more = Vec::new();
    for x in v {
        if x < pivot {
            less.push(x)
        } else if x > pivot {
            more.push(x)
        } else {
            equal.push(x)
        }
    }
    let mut out = quicksort(less);
    out.extend(equal);
    out.extend(quicksort(more));
    out
}
#[autobatch]
fn collatz_max(n: u64, memo: &std::collections::HashMap<u64, u64>) -> u64 {
    let mut best = n;
    let mut k = n;
    loop {
        if let Some(known) = memo.get(&k) {
            break best.max(*known);
        }
        k = if k % 2 == 0 { k / 2 } else { 3 * k + 1 };
        best = best.max(k);
        if k == 1 {
            break best;
        }
    }
}

/// Compares the debug text (which shows every bit that matters of a float) in every executor.
macro_rules! check {
    ($members:expr, |$i:ident| $scalar:expr, |$options:ident| $batched:expr) => {
        let want: Vec<_> = (0..$members).map(|$i| $scalar).collect();
        for (how, options) in executors() {
            for lanes in [7, 64] {
                let options = options.clone().lanes(lanes);
                let $options = &options;
                let got = $batched.unwrap().into_values().unwrap();
                assert_eq!(format!("{got:?}"), format!("{want:?}"), "{how}, {lanes} lanes");
            }
        }
    };
}

#[test]
fn ray_tracer() {
    let sphere = |i: usize| Sphere {
        c: V(i as f32 - 2.0, (i % 2) as f32, 5.0 + i as f32),
        r: 0.9,
        shine: 0.3 + 0.1 * i as f32,
    };
    let scene = Scene { spheres: (0..5).map(sphere).collect(), sky: V(0.4, 0.6, 1.0) };
    let dir = |i: usize| V((i % 40) as f32 / 20.0 - 1.0, (i / 40) as f32 / 12.0 - 1.0, 1.5).unit();
    let dirs: Vec<V> = (0..1000).map(dir).collect();
    let eye = V(0.0, 0.0, 0.0);
    check!(1000, |i| trace(&scene, eye, dirs[i], 6), |o| trace_batched_with(
        &scene,
        same(eye),
        &dirs,
        same(6),
        o
    ));
}

#[test]
fn integrator_and_root_finder() {
    let y0: Vec<[f64; 2]> = (0..300).map(|i| [f64::from(i) * 0.01, 1.0]).collect();
    check!(300, |i| rk45(y0[i], 3.0, 1e-4), |o| rk45_batched_with(&y0, same(3.0), 1e-4, o));
    let b: Vec<f64> = (0..300).map(|i| 1.0 + f64::from(i) * 0.01).collect();
    let c = [-3.0, 0.5, 1.0, 0.2];
    check!(300, |i| bisect(0.0, b[i], &c), |o| bisect_batched_with(same(0.0), &b, &c, o));
}

#[test]
fn search_and_sorting() {
    let xs: Vec<i64> = (0..100).map(|i| i * 3).collect();
    let keys: Vec<i64> = (0..310).collect();
    check!(310, |i| search(&xs, keys[i]), |o| search_batched_with(&xs, &keys, o));
    let list = |n: i32| (0..n).map(|k| (k * 7919 + n * 31) % 101).collect();
    let lists: Vec<Vec<i32>> = (0..100).map(list).collect();
    check!(100, |i| quicksort(lists[i].clone()), |o| quicksort_batched_with(&lists, o));
    let known = std::collections::HashMap::from([(16, 16), (97, 9232)]);
    let ns: Vec<u64> = (1..500).collect();
    check!(499, |i| collatz_max(ns[i], &known), |o| collatz_max_batched_with(&ns, &known, o));
}

#[derive(Clone, Copy)]
struct Step {
    by: u64,
    best: u64,
}

/// A field in a macro's tokens has the name of a local that comes later, or of one that hides another.
#[allow(clippy::useless_vec)] // the macro is what is tested
#[autobatch]
fn fields_in_macros(n: u64) -> u64 {
    if n < 2 {
        return 1;
    }
    let steps = vec![Step { by: n / 2, best: n }, Step { by: 1, best: 2 }];
    let below = fields_in_macros(n - steps[0].by - 1);
    let best = below * 2;
    let by = best + steps[1].best;
    let by = by % 7;
    let more = vec![Step { by: by + best, best: 1 }, Step { best: 5, by: steps[1].by }];
    let best = best + 1;
    let more = vec![Step { best, ..more[0] }, Step { by: 1, best }, more[1]];
    best + more[0].by + more[1].best + fields_in_macros(n / 3 + more[2].by - 1)
}

#[test]
fn fields_in_macros_are_no_variables() {
    let inputs: Vec<u64> = (0..30).collect();
    agree_at(&[0, 1, 97], &inputs, |n| fields_in_macros(*n), |b, o| fields_in_macros_batched_with(b, o));
}
