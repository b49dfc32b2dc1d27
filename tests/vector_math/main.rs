//! `vector_math`: the batched code computes with `autobatch::math`, in every executor.

#[path = "../common/mod.rs"]
mod common;

use autobatch::{Executor, Isa, Options, autobatch, math};

#[autobatch(strict, vector_math)]
fn every(x: f64, y: f32) -> (f64, f32) {
    let wide =
        x.exp() + x.exp2() * x.exp_m1() - x.abs().ln() + x.abs().log2() / x.abs().log10() + x.abs().ln_1p();
    let circle =
        x.sin() + x.cos() * x.tan() + (x / 100.0).asin() + (x / 100.0).acos() + x.atan() + x.atan2(2.0);
    let hyper =
        (x / 50.0).sinh() + (x / 50.0).cosh() + x.tanh() + x.cbrt() + x.hypot(3.0) + x.abs().powf(1.5);
    let (s, c) = y.sin_cos();
    let n = (y as i32).rem_euclid(7);
    (wide + circle + hyper, s * c + y.powi(n) + y.powi(3) + f32::exp(-y) + f32::powf(y.abs(), 0.25))
}

fn every_by_math(x: f64, y: f32) -> (f64, f32) {
    let wide = math::exp(x) + math::exp2(x) * math::exp_m1(x) - math::ln(x.abs())
        + math::log2(x.abs()) / math::log10(x.abs())
        + math::ln_1p(x.abs());
    let circle = math::sin(x)
        + math::cos(x) * math::tan(x)
        + math::asin(x / 100.0)
        + math::acos(x / 100.0)
        + math::atan(x)
        + math::atan2(x, 2.0);
    let hyper = math::sinh(x / 50.0)
        + math::cosh(x / 50.0)
        + math::tanh(x)
        + math::cbrt(x)
        + math::hypot(x, 3.0)
        + math::powf(x.abs(), 1.5);
    let (s, c) = math::sin_cos(y);
    let n = (y as i32).rem_euclid(7);
    (wide + circle + hyper, s * c + y.powi(n) + y.powi(3) + math::exp(-y) + math::powf(y.abs(), 0.25))
}

/// Every executor and instruction set.
fn everywhere(check: impl Fn(&Options)) {
    for executor in [Executor::Auto, Executor::Masked, Executor::ProgramCounter, Executor::Scalar] {
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            for threads in [1, 2] {
                check(&Options::default().executor(executor).isa(isa).threads(threads));
            }
        }
    }
}

#[test]
fn all_functions_are_those_of_the_module() {
    let x: Vec<f64> = (0..1000).map(|i| (i - 500) as f64 * 0.17).collect();
    let y: Vec<f32> = (0..1000).map(|i| (i - 300) as f32 * 0.031).collect();
    let want: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| every_by_math(x, y)).collect();
    everywhere(|options| {
        let got = every_batched_with(&x, &y, options).unwrap().into_values().unwrap();
        for (got, want) in got.iter().zip(&want) {
            assert_eq!((got.0.to_bits(), got.1.to_bits()), (want.0.to_bits(), want.1.to_bits()));
        }
    });
}

/// A number of the user's own, whose methods are not std's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dual(f64, f64);

impl Dual {
    fn exp(self) -> Dual {
        Dual(self.0.exp(), self.1 * self.0.exp())
    }
    fn powf(&self, by: f64) -> Dual {
        Dual(self.0 + by, self.1)
    }
}

#[autobatch(strict, vector_math)]
fn others_keep_their_methods(x: f64, d: f64) -> f64 {
    let dual = Dual(x, d);
    let grown = dual.exp().powf(2.0);
    let text = String::from("ln");
    grown.0 + grown.1 + text.len() as f64 + x.max(1.0)
}

/// In a loop that is copied for vectors, too.
#[autobatch(strict, vector_math)]
fn others_keep_their_methods_in_loops(x: f64, d: f64) -> f64 {
    let (mut dual, mut sum) = (Dual(x, d), 0.0);
    for i in 0..5 {
        dual = dual.exp();
        sum += dual.0 + dual.1 * i as f64;
        dual = Dual(dual.0 * 0.01, dual.1);
    }
    sum
}

/// The same, with what the methods of the user's own type do by `math`.
mod others_by_math {
    use super::{Dual, math};

    fn exp(d: Dual) -> Dual {
        Dual(math::exp(d.0), d.1 * math::exp(d.0))
    }

    pub(super) fn others_keep_their_methods(x: f64, d: f64) -> f64 {
        let grown = exp(Dual(x, d)).powf(2.0);
        grown.0 + grown.1 + 2.0 + x.max(1.0)
    }

    pub(super) fn others_keep_their_methods_in_loops(x: f64, d: f64) -> f64 {
        let (mut dual, mut sum) = (Dual(x, d), 0.0);
        for i in 0..5 {
            dual = exp(dual);
            sum += dual.0 + dual.1 * i as f64;
            dual = Dual(dual.0 * 0.01, dual.1);
        }
        sum
    }
}

#[test]
fn methods_of_other_types_stay() {
    let x: Vec<f64> = (0..300).map(|i| i as f64 * 0.01).collect();
    let want: Vec<f64> = x.iter().map(|&x| others_by_math::others_keep_their_methods(x, 1.0)).collect();
    let ones = vec![1.0; x.len()];
    everywhere(|options| {
        assert_eq!(
            others_keep_their_methods_batched_with(&x, &ones, options).unwrap().into_values().unwrap(),
            want
        );
    });
    let want: Vec<f64> =
        x.iter().map(|&x| others_by_math::others_keep_their_methods_in_loops(x, 1.0)).collect();
    everywhere(|options| {
        let got = others_keep_their_methods_in_loops_batched_with(&x, &ones, options).unwrap();
        assert_eq!(got.into_values().unwrap(), want);
    });
}

/// A generator, as many write their own: its methods are helpers like functions.
#[derive(Clone, Copy, Debug)]
struct Rng {
    state: u64,
}

impl Rng {
    fn new(seed: u64) -> Rng {
        Rng { state: seed | 1 }
    }

    fn uniform(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn normal(&mut self) -> f64 {
        let u = 1.0 - self.uniform();
        let v = self.uniform();
        (-2.0 * u.ln()).sqrt() * (6.25 * v).cos()
    }

    /// The same by rejection.
    fn polar(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// By methods of its own.
    fn log_normal(&mut self, scale: f64) -> f64 {
        (scale * self.normal()).exp() + Self::shift(scale)
    }

    fn shift(by: f64) -> f64 {
        by.tanh()
    }
}

#[autobatch(strict, vector_math)]
fn by_methods(seed: u64, scale: f64) -> f64 {
    let mut rng = Rng::new(seed);
    let mut sum = rng.polar();
    for i in 0..9 {
        sum += 0.5 * rng.normal() + if i % 2 == 0 { rng.log_normal(scale) } else { Rng::shift(sum) };
    }
    while sum > 3.0 && rng.polar() < 1.5 {
        let mut rng = Rng { state: rng.state };
        sum -= rng.normal().abs() + 0.5;
    }
    let twice = |x: f64| x + Rng::shift(x);
    twice(sum)
}

/// A second item with the same methods, and a state.
#[autobatch(strict, vector_math)]
fn by_methods_of_a_state(rng: &mut Rng, scale: f64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..5 {
        sum += rng.log_normal(scale) - rng.polar();
    }
    sum
}

#[autobatch(strict, vector_math)]
fn by_path(x: f64) -> f64 {
    x + Rng::shift(x)
}

/// Two blocks with functions of one name.
#[derive(Clone, Copy)]
struct Wide(f64);
#[derive(Clone, Copy)]
struct Narrow(f64);

#[autobatch(strict, vector_math)]
impl Wide {
    fn next(self, seed: u64) -> f64 {
        self.0 * Rng::new(seed).normal()
    }
}

#[autobatch(strict, vector_math)]
impl Narrow {
    fn next(self, seed: u64) -> f64 {
        0.5 * self.0 * Rng::new(seed).normal()
    }
}

mod by_methods_by_math {
    use super::{Rng, math};

    pub(super) fn normal(rng: &mut Rng) -> f64 {
        let u = 1.0 - rng.uniform();
        let v = rng.uniform();
        (-2.0 * math::ln(u)).sqrt() * math::cos(6.25 * v)
    }

    fn polar(rng: &mut Rng) -> f64 {
        loop {
            let (u, v) = (2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * math::ln(s) / s).sqrt();
            }
        }
    }

    fn log_normal(rng: &mut Rng, scale: f64) -> f64 {
        math::exp(scale * normal(rng)) + math::tanh(scale)
    }

    pub(super) fn by_methods(seed: u64, scale: f64) -> f64 {
        let mut rng = Rng::new(seed);
        let mut sum = polar(&mut rng);
        for i in 0..9 {
            sum += 0.5 * normal(&mut rng)
                + if i % 2 == 0 { log_normal(&mut rng, scale) } else { math::tanh(sum) };
        }
        while sum > 3.0 && polar(&mut rng) < 1.5 {
            let mut rng = rng;
            sum -= normal(&mut rng).abs() + 0.5;
        }
        sum + math::tanh(sum)
    }

    pub(super) fn by_methods_of_a_state(rng: &mut Rng, scale: f64) -> f64 {
        (0..5).fold(0.0, |sum, _| sum + (log_normal(rng, scale) - polar(rng)))
    }
}

#[test]
fn methods_beside_the_item_too() {
    let seeds: Vec<u64> = (0..500).map(|i| i * 77_777 + 5).collect();
    let scales: Vec<f64> = (0..500).map(|i| i as f64 * 0.003).collect();
    let both = || seeds.iter().zip(&scales);
    let want: Vec<u64> = both().map(|(&s, &x)| by_methods_by_math::by_methods(s, x).to_bits()).collect();
    let of_state = |seed, scale| by_methods_by_math::by_methods_of_a_state(&mut Rng::new(seed), scale);
    let want_of_state: Vec<u64> = both().map(|(&s, &x)| of_state(s, x).to_bits()).collect();
    everywhere(|options| {
        let got = by_methods_batched_with(&seeds, &scales, options).unwrap().into_values().unwrap();
        assert_eq!(got.into_iter().map(f64::to_bits).collect::<Vec<_>>(), want);
        let mut rngs: Vec<Rng> = seeds.iter().map(|seed| Rng::new(*seed)).collect();
        let got = by_methods_of_a_state_batched_with(&mut rngs, &scales, options).unwrap();
        let got = got.into_values().unwrap().into_iter().map(f64::to_bits);
        assert_eq!(got.collect::<Vec<_>>(), want_of_state);
    });
}

#[test]
fn methods_are_found_by_path_and_in_blocks() {
    let seeds: Vec<u64> = (0..300).map(|i| i * 77_777 + 5).collect();
    let x: Vec<f64> = (0..300).map(|i| i as f64 * 0.01 - 1.0).collect();
    let normals: Vec<f64> = seeds.iter().map(|s| by_methods_by_math::normal(&mut Rng::new(*s))).collect();
    let (wide, narrow) = (x.iter().map(|x| Wide(*x)).collect::<Vec<_>>(), x.iter().map(|x| Narrow(*x)));
    let narrow: Vec<Narrow> = narrow.collect();
    everywhere(|options| {
        let got = by_path_batched_with(&x, options).unwrap().into_values().unwrap();
        assert_eq!(got, x.iter().map(|x| x + math::tanh(*x)).collect::<Vec<_>>());
        let got = Wide::next_batched_with(&wide, &seeds, options).unwrap().into_values().unwrap();
        assert_eq!(got, x.iter().zip(&normals).map(|(x, n)| x * n).collect::<Vec<_>>());
        let got = Narrow::next_batched_with(&narrow, &seeds, options).unwrap().into_values().unwrap();
        assert_eq!(got, x.iter().zip(&normals).map(|(x, n)| 0.5 * x * n).collect::<Vec<_>>());
    });
}

#[autobatch(strict, vector_math)]
fn in_every_position(x: f64, weights: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut term = x;
    while term.exp() > 0.5 && sum < 40.0 {
        term -= weights.iter().map(|w| w.sin() + w.exp()).sum::<f64>().ln();
        let by_reference = &term;
        sum += by_reference.tanh() + 1.0;
    }
    match sum.sqrt().ln() {
        log if log > 1.0 => log.exp(),
        log => -log,
    }
}

fn in_every_position_by_math(x: f64, weights: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut term = x;
    while math::exp(term) > 0.5 && sum < 40.0 {
        term -= math::ln(weights.iter().map(|w| math::sin(*w) + math::exp(*w)).sum::<f64>());
        sum += math::tanh(term) + 1.0;
    }
    match math::ln(sum.sqrt()) {
        log if log > 1.0 => math::exp(log),
        log => -log,
    }
}

#[test]
fn conditions_closures_references_and_matches() {
    let x: Vec<f64> = (0..700).map(|i| i as f64 * 0.05).collect();
    let weights = [0.1, 0.2, 0.3];
    let want: Vec<u64> = x.iter().map(|&x| in_every_position_by_math(x, &weights).to_bits()).collect();
    everywhere(|options| {
        let got = in_every_position_batched_with(&x, &weights[..], options).unwrap().into_values().unwrap();
        assert_eq!(got.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), want);
    });
}

#[autobatch(strict, vector_math)]
mod pricing {
    /// Called from batched code, but not worth batching itself.
    fn normal(x: f32) -> f32 {
        1.0 / (1.0 + (-1.702 * x).exp())
    }

    pub(super) fn price(s: f32, x: f32, t: f32, r: f32, v: f32) -> f32 {
        let d1 = ((s / x).ln() + (r + v * v * 0.5) * t) / (v * t.sqrt());
        s * normal(d1) - x * (-r * t).exp() * normal(d1 - v * t.sqrt())
    }
}

#[test]
fn helpers_of_the_module_too() {
    let normal = |x: f32| 1.0 / (1.0 + math::exp(-1.702 * x));
    let price = |s: f32, x: f32, t: f32, r: f32, v: f32| {
        let d1 = (math::ln(s / x) + (r + v * v * 0.5) * t) / (v * t.sqrt());
        s * normal(d1) - x * math::exp(-r * t) * normal(d1 - v * t.sqrt())
    };
    let s: Vec<f32> = (0..400).map(|i| 50.0 + i as f32 * 0.25).collect();
    let n = s.len();
    let (x, t, r, v) = (vec![100.0; n], vec![0.7; n], vec![0.03; n], vec![0.2; n]);
    let want: Vec<u32> = s.iter().map(|&s| price(s, 100.0, 0.7, 0.03, 0.2).to_bits()).collect();
    everywhere(|options| {
        let got = pricing::price_batched_with(&s, &x, &t, &r, &v, options).unwrap().into_values().unwrap();
        assert_eq!(got.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), want);
    });
}

/// One chain over all of a function, which is run in pieces, and what may cross from one to the next.
#[autobatch(strict, vector_math)]
mod chains {
    fn weight(x: f64) -> f64 {
        (-x * x).exp()
    }

    /// Numbers of two widths, shadowed names, values that all members share.
    pub(super) fn numbers(x: f64, n: u32, #[shared] scale: f64) -> f64 {
        let a = (x * scale).exp().ln_1p();
        let b = a as f32 * 0.5;
        let x = if n & 3 == 0 { a.sin() } else { -a };
        let c: u64 = (b.exp() * 16.0) as u64 + u64::from(n);
        let d = { x.tanh() + weight(a) };
        let positive = d.cbrt() > 0.0;
        let e = if positive { d.hypot(a) } else { d } + c as f64;
        e.ln() * x + scale
    }

    /// What is not a number for certain stays in its piece, and so does what is assigned.
    #[allow(clippy::needless_late_init)]
    pub(super) fn others(x: f32, mut y: f32) -> (f32, f32) {
        let pair = x.sin_cos();
        y += pair.0.exp();
        let mut sum = y.tanh();
        let row = [sum, pair.1, x];
        sum += row[1].exp2();
        let late;
        if sum > 1.0 {
            late = sum.ln();
        } else {
            late = row[2].atan();
        }
        (late + y.sin(), sum.cos())
    }

    /// Ways out and branches behind the chain.
    pub(super) fn leaving(x: f64) -> f64 {
        let a = x.exp();
        let b = (a + 1.0).ln();
        if b > 2.0 {
            return b.sqrt();
        }
        let c = b.sin();
        let d = c.exp() + a;
        if d < 1.5 { d.ln() } else { d.atan() }
    }
}

mod chains_by_math {
    use autobatch::math;

    fn weight(x: f64) -> f64 {
        math::exp(-x * x)
    }

    pub(super) fn numbers(x: f64, n: u32, scale: f64) -> f64 {
        let a = math::ln_1p(math::exp(x * scale));
        let b = a as f32 * 0.5;
        let x = if n & 3 == 0 { math::sin(a) } else { -a };
        let c = (math::exp(b) * 16.0) as u64 + u64::from(n);
        let d = math::tanh(x) + weight(a);
        let e = if math::cbrt(d) > 0.0 { math::hypot(d, a) } else { d } + c as f64;
        math::ln(e) * x + scale
    }

    pub(super) fn others(x: f32, y: f32) -> (f32, f32) {
        let pair = math::sin_cos(x);
        let y = y + math::exp(pair.0);
        let sum = math::tanh(y) + math::exp2(pair.1);
        let late = if sum > 1.0 { math::ln(sum) } else { math::atan(x) };
        (late + math::sin(y), math::cos(sum))
    }

    pub(super) fn leaving(x: f64) -> f64 {
        let a = math::exp(x);
        let b = math::ln(a + 1.0);
        if b > 2.0 {
            return b.sqrt();
        }
        let d = math::exp(math::sin(b)) + a;
        if d < 1.5 { math::ln(d) } else { math::atan(d) }
    }
}

#[test]
fn chains_in_pieces() {
    for size in [1, 31, 64, 65, 700] {
        let x: Vec<f64> = (0..size).map(|i| (i as f64 - 300.0) * 0.013).collect();
        let y: Vec<f32> = x.iter().map(|x| *x as f32 * 0.7).collect();
        let n: Vec<u32> = (0..size as u32).collect();
        let numbers: Vec<u64> =
            x.iter().zip(&n).map(|(&x, &n)| chains_by_math::numbers(x, n, 0.9).to_bits()).collect();
        let bits = |(a, b): (f32, f32)| (a.to_bits(), b.to_bits());
        let others: Vec<_> = y.iter().map(|&y| bits(chains_by_math::others(y, y + 1.0))).collect();
        let leaving: Vec<u64> = x.iter().map(|&x| chains_by_math::leaving(x).to_bits()).collect();
        let above: Vec<f32> = y.iter().map(|y| y + 1.0).collect();
        everywhere(|options| {
            let got = chains::numbers_batched_with(&x, &n, 0.9, options).unwrap().into_values().unwrap();
            assert_eq!(got.into_iter().map(f64::to_bits).collect::<Vec<_>>(), numbers);
            let got = chains::others_batched_with(&y, &above, options).unwrap().into_values().unwrap();
            assert_eq!(got.into_iter().map(bits).collect::<Vec<_>>(), others);
            let got = chains::leaving_batched_with(&x, options).unwrap().into_values().unwrap();
            assert_eq!(got.into_iter().map(f64::to_bits).collect::<Vec<_>>(), leaving);
        });
    }
}
