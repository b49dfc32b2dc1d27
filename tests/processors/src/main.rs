//! Three kernels of the benchmark suite in every executor, on any processor: bits are compared with the scalar function's, then times.
//! For targets without a harness for tests, as WebAssembly; `.ci/targets` builds and runs it.
//!
//! `--faster` also asks that all are faster in the masked executor than in a loop over the scalar function, by a margin for each.

use std::fmt::Debug;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use autobatch::{BatchError, Executor, Isa, Options, Outcome, autobatch};

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
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

#[autobatch(strict)]
mod quadrature {
    fn integrand(x: f64, k: f64) -> f64 {
        1.0 / (1.0 + k * x * x) + x * x
    }

    fn simpson(
        k: f64,
        a: f64,
        fa: f64,
        b: f64,
        fb: f64,
        m: f64,
        fm: f64,
        whole: f64,
        eps: f64,
        depth: i32,
    ) -> f64 {
        let (lm, rm) = (0.5 * (a + m), 0.5 * (m + b));
        let (flm, frm) = (integrand(lm, k), integrand(rm, k));
        let left = (m - a) * (1.0 / 6.0) * (fa + 4.0 * flm + fm);
        let right = (b - m) * (1.0 / 6.0) * (fm + 4.0 * frm + fb);
        let delta = left + right - whole;
        if depth <= 0 || delta.abs() <= 15.0 * eps {
            return left + right + delta * (1.0 / 15.0);
        }
        simpson(k, a, fa, m, fm, lm, flm, left, eps * 0.5, depth - 1)
            + simpson(k, m, fm, b, fb, rm, frm, right, eps * 0.5, depth - 1)
    }

    pub(super) fn integrate(k: f64, #[shared] eps: f64) -> f64 {
        let (fa, fb, fm) = (integrand(-1.0, k), integrand(1.0, k), integrand(0.0, k));
        let whole = 2.0 * (1.0 / 6.0) * (fa + 4.0 * fm + fb);
        simpson(k, -1.0, fa, 1.0, fb, 0.0, fm, whole, eps, 40)
    }
}

const WIDTH: usize = 768;
const HEIGHT: usize = 512;
const LIMIT: i32 = 256;
const EPS: f64 = 1e-9;
const EXECUTORS: [Executor; 4] =
    [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto];

/// How often each way is measured, in turns. The best of them counts.
const ROUNDS: usize = 11;

/// How many times faster the kernels are at least, in the masked executor, where 64 bits are half a vector; a part of what was measured.
const FASTER: [f64; 3] = [1.5, 1.2, 1.02];

/// How many times faster than a loop over the scalar function each of [`EXECUTORS`] is.
type Factors = [f64; EXECUTORS.len()];

/// # Panics
///
/// If a result differs in a bit.
fn compare<R: Debug>(
    bits: impl Fn(&R) -> u64,
    scalar: impl Fn() -> Vec<R>,
    batched: impl Fn(&Options) -> Result<Outcome<R>, BatchError>,
) -> Factors {
    let mut loop_time = Duration::MAX;
    let mut batch_times = [Duration::MAX; EXECUTORS.len()];
    for _ in 0..ROUNDS {
        let clock = Instant::now();
        let expected = scalar();
        loop_time = loop_time.min(clock.elapsed());
        for (executor, time) in EXECUTORS.into_iter().zip(&mut batch_times) {
            let options = Options::default().executor(executor).threads(1);
            let clock = Instant::now();
            let outcome = batched(&options).expect("the columns have one length");
            *time = (*time).min(clock.elapsed());
            let values = outcome.into_values().expect("no member fails");
            assert_eq!(values.len(), expected.len());
            for (member, (value, expected)) in values.iter().zip(&expected).enumerate() {
                let same = bits(value) == bits(expected);
                assert!(same, "{executor:?}, member {member}: {value:?} instead of {expected:?}");
            }
        }
    }
    batch_times.map(|time| loop_time.as_secs_f64() / time.as_secs_f64())
}

/// The kernels, with so many pixels and fewer members of the others.
fn kernels(pixels: usize) -> [(&'static str, Factors); 3] {
    // An image, line by line.
    let (re, im): (Vec<f32>, Vec<f32>) = (0..pixels)
        .map(|i| ((i % WIDTH) as f32 / WIDTH as f32, i as f32 / pixels as f32))
        .map(|(x, y)| (-2.0 + 3.0 * x, -1.0 + 2.0 * y))
        .unzip();
    let n: Vec<u64> = (0..pixels.div_ceil(256)).map(|i| 15 + i as u64 % 10).collect();
    let k: Vec<f64> = (0..pixels.div_ceil(48)).map(|i| 1.0 + 0.1 * i as f64).collect();
    [
        (
            "mandel",
            compare(
                |rounds| *rounds as u64,
                || re.iter().zip(&im).map(|(re, im)| mandel(*re, *im, LIMIT)).collect(),
                |options| mandel_batched_with(&re, &im, LIMIT, options),
            ),
        ),
        (
            "fib",
            compare(
                |number| *number,
                || n.iter().map(|n| fib(*n)).collect(),
                |options| fib_batched_with(&n, options),
            ),
        ),
        (
            "simpson",
            compare(
                |integral: &f64| integral.to_bits(),
                || k.iter().map(|k| quadrature::integrate(*k, EPS)).collect(),
                |options| quadrature::integrate_batched_with(&k, EPS, options),
            ),
        ),
    ]
}

fn main() -> ExitCode {
    let simd128 = if cfg!(target_feature = "simd128") { ", simd128" } else { "" };
    println!(
        "{}, {:?}{simd128}: times faster than the scalar function",
        std::env::consts::ARCH,
        Isa::detect()
    );
    println!("{:8}{}", "", EXECUTORS.map(|executor| format!("{:>16}", format!("{executor:?}"))).concat());
    let measured = kernels(WIDTH * HEIGHT);
    for (name, factors) in &measured {
        println!("{name:8}{}", factors.map(|factor| format!("{factor:16.2}")).concat());
    }
    println!("bit-identical");
    let mut code = ExitCode::SUCCESS;
    for ((name, [masked, ..]), least) in measured.into_iter().zip(FASTER) {
        if std::env::args().any(|argument| argument == "--faster") && masked < least {
            eprintln!("{name} is {masked:.2} times faster in the masked executor, not {least}");
            code = ExitCode::FAILURE;
        }
    }
    code
}

#[test]
fn executors_have_the_bits_of_the_scalar_function() {
    kernels(5000);
}
