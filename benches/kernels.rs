//! The public kernels: scalar, rayon on the scalar function, and each executor on one thread and on all.
//!
//! `cargo bench --bench kernels` runs them; filter by kernel name as usual with criterion.

use std::hint::black_box;

use autobatch::{Executor, Options, autobatch};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rayon::prelude::*;

#[autobatch(strict)]
fn mandel(c_re: f32, c_im: f32, #[shared] limit: i32) -> i32 {
    let (mut z_re, mut z_im) = (c_re, c_im);
    let mut i = 0;
    while i < limit {
        if z_re * z_re + z_im * z_im > 4.0 {
            break;
        }
        let re = z_re * z_re - z_im * z_im;
        let im = 2.0 * z_re * z_im;
        z_re = c_re + re;
        z_im = c_im + im;
        i += 1;
    }
    i
}

#[autobatch(strict)]
fn collatz(x: u64) -> u32 {
    let mut n = x;
    let mut steps = 0;
    while n != 1 {
        n = if n & 1 == 0 { n >> 1 } else { n.wrapping_mul(3).wrapping_add(1) };
        steps += 1;
    }
    steps
}

#[autobatch(strict)]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

fn integrand(x: f64, k: f64) -> f64 {
    1.0 / (1.0 + k * x * x) + x * x
}

/// One panel of adaptive Simpson quadrature: its ends, its middle, and the function there.
#[derive(Clone, Copy)]
struct Panel {
    a: f64,
    fa: f64,
    b: f64,
    fb: f64,
    m: f64,
    fm: f64,
    whole: f64,
}

#[autobatch(strict)]
#[allow(clippy::too_many_arguments)]
mod quadrature {
    use super::{Panel, integrand};

    fn simpson(k: f64, p: Panel, eps: f64, depth: i32) -> f64 {
        let (lm, rm) = (0.5 * (p.a + p.m), 0.5 * (p.m + p.b));
        let (flm, frm) = (integrand(lm, k), integrand(rm, k));
        let left = (p.m - p.a) * (1.0 / 6.0) * (p.fa + 4.0 * flm + p.fm);
        let right = (p.b - p.m) * (1.0 / 6.0) * (p.fm + 4.0 * frm + p.fb);
        let delta = left + right - p.whole;
        if depth <= 0 || delta.abs() <= 15.0 * eps {
            return left + right + delta * (1.0 / 15.0);
        }
        let l = Panel { a: p.a, fa: p.fa, b: p.m, fb: p.fm, m: lm, fm: flm, whole: left };
        let r = Panel { a: p.m, fa: p.fm, b: p.b, fb: p.fb, m: rm, fm: frm, whole: right };
        simpson(k, l, eps * 0.5, depth - 1) + simpson(k, r, eps * 0.5, depth - 1)
    }

    pub(crate) fn integrate(k: f64, #[shared] eps: f64) -> f64 {
        let (fa, fb, fm) = (integrand(-1.0, k), integrand(1.0, k), integrand(0.0, k));
        let whole = 2.0 * (1.0 / 6.0) * (fa + 4.0 * fm + fb);
        simpson(k, Panel { a: -1.0, fa, b: 1.0, fb, m: 0.0, fm, whole }, eps, 40)
    }
}

/// One kernel: its scalar loop, rayon, and every executor on one and on all threads.
macro_rules! kernel {
    ($criterion:expr, $name:literal, $members:expr, |$i:ident| $scalar:expr, |$options:ident| $batched:expr) => {{
        let mut group = $criterion.benchmark_group($name);
        group.sample_size(10);
        group.bench_function("scalar", |b| {
            b.iter(|| (0..$members).map(|$i| black_box($scalar)).collect::<Vec<_>>())
        });
        group.bench_function("rayon", |b| {
            b.iter(|| (0..$members).into_par_iter().map(|$i| black_box($scalar)).collect::<Vec<_>>())
        });
        let executors = [
            ("masked", Executor::Masked),
            ("program counter", Executor::ProgramCounter),
            ("auto", Executor::Auto),
        ];
        for (label, executor) in executors {
            for threads in [1, 0] {
                let mut options = Options::default().executor(executor);
                if threads > 0 {
                    options = options.threads(threads);
                }
                let $options = &options;
                let name = if threads == 1 { "1 thread" } else { "all threads" };
                group.bench_function(BenchmarkId::new(label, name), |b| b.iter(|| black_box($batched)));
            }
        }
        group.finish();
    }};
}

/// A fixed pseudo-random order of `0..n` (a multiplicative permutation; `n` is not a multiple of it).
fn shuffled(n: usize) -> Vec<usize> {
    (0..n).map(|i| (i * 7_368_787) % n).collect()
}

fn kernels(criterion: &mut Criterion) {
    let (w, h) = (768, 512);
    let grid: Vec<(f32, f32)> = (0..w * h)
        .map(|k| (-2.0 + 3.0 * ((k % w) as f32) / w as f32, -1.0 + 2.0 * ((k / w) as f32) / h as f32))
        .collect();
    let order = shuffled(w * h);
    for (name, order) in [("mandel", None), ("mandel shuffled", Some(order))] {
        let at = |k: usize| order.as_ref().map_or(k, |order| order[k]);
        let re: Vec<f32> = (0..w * h).map(|k| grid[at(k)].0).collect();
        let im: Vec<f32> = (0..w * h).map(|k| grid[at(k)].1).collect();
        match name {
            "mandel" => kernel!(criterion, "mandel", w * h, |i| mandel(re[i], im[i], 256), |options| {
                mandel_batched_with(&re, &im, 256, options).unwrap().into_values().unwrap()
            }),
            _ => kernel!(criterion, "mandel shuffled", w * h, |i| mandel(re[i], im[i], 256), |options| {
                mandel_batched_with(&re, &im, 256, options).unwrap().into_values().unwrap()
            }),
        }
    }

    let x: Vec<u64> = (1..=400_000).collect();
    kernel!(criterion, "collatz", x.len(), |i| collatz(x[i]), |options| {
        collatz_batched_with(&x, options).unwrap().into_values().unwrap()
    });

    let n: Vec<u64> = (0..4096).map(|i| 15 + i % 10).collect();
    kernel!(criterion, "fib", n.len(), |i| fib(n[i]), |options| {
        fib_batched_with(&n, options).unwrap().into_values().unwrap()
    });

    let k: Vec<f64> = (0..8192).map(|i| 1.0 + i as f64 * 0.1).collect();
    kernel!(criterion, "simpson", k.len(), |i| quadrature::integrate(k[i], 1e-9), |options| {
        quadrature::integrate_batched_with(&k, 1e-9, options).unwrap().into_values().unwrap()
    });
}

criterion_group!(benches, kernels);
criterion_main!(benches);
