//! Numerical recipes: root finding, quadrature, differential equations, special functions, linear algebra.
//! Typed anew from the algorithm; nothing is changed for the sake of batching, and all of them batch under `strict`.

#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop, clippy::too_many_arguments, clippy::many_single_char_names)] // as in the books

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 2] = [1, 29];

fn cubic(x: f64, a: f64) -> f64 {
    ((x - a) * x - 2.0) * x + 0.5
}

/// Newton's method, safeguarded by bisection (`rtsafe`).
#[autobatch(strict)]
fn newton_bisection(a: f64, x1: f64, x2: f64, #[shared] accuracy: f64) -> Result<f64, String> {
    let (fl, fh) = (cubic(x1, a), cubic(x2, a));
    if fl * fh > 0.0 {
        return Err(format!("no change of sign between {x1} and {x2}"));
    }
    if fl == 0.0 {
        return Ok(x1);
    }
    if fh == 0.0 {
        return Ok(x2);
    }
    let (mut xl, mut xh) = if fl < 0.0 { (x1, x2) } else { (x2, x1) };
    let mut root = (x1 + x2) / 2.0;
    let mut before_last = (x2 - x1).abs();
    let mut last = before_last;
    let mut f = cubic(root, a);
    let mut df = (3.0 * root - 2.0 * a) * root - 2.0;
    for _ in 0..100 {
        if ((root - xh) * df - f) * ((root - xl) * df - f) > 0.0 || (2.0 * f).abs() > (before_last * df).abs()
        {
            before_last = last;
            last = (xh - xl) / 2.0;
            root = xl + last;
            if xl == root {
                return Ok(root);
            }
        } else {
            before_last = last;
            last = f / df;
            let old = root;
            root -= last;
            if old == root {
                return Ok(root);
            }
        }
        if last.abs() < accuracy {
            return Ok(root);
        }
        f = cubic(root, a);
        df = (3.0 * root - 2.0 * a) * root - 2.0;
        if f < 0.0 {
            xl = root;
        } else {
            xh = root;
        }
    }
    Err("too many steps".to_owned())
}

/// Brent's method (`zbrent`).
#[autobatch(strict)]
fn brent(p: f64, low: f64, high: f64) -> f64 {
    let (mut a, mut b, mut c) = (low, high, high);
    let (mut fa, mut fb) = (cubic(a, p), cubic(b, p));
    let mut fc = fb;
    let (mut d, mut e) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        if (fb > 0.0 && fc > 0.0) || (fb < 0.0 && fc < 0.0) {
            c = a;
            fc = fa;
            d = b - a;
            e = d;
        }
        if fc.abs() < fb.abs() {
            a = b;
            b = c;
            c = a;
            fa = fb;
            fb = fc;
            fc = fa;
        }
        let tolerance = 2.0 * f64::EPSILON * b.abs() + 0.5e-12;
        let middle = 0.5 * (c - b);
        if middle.abs() <= tolerance || fb == 0.0 {
            break;
        }
        if e.abs() >= tolerance && fa.abs() > fb.abs() {
            let s = fb / fa;
            let (mut p, mut q);
            if a == c {
                p = 2.0 * middle * s;
                q = 1.0 - s;
            } else {
                let (r, t) = (fb / fc, fa / fc);
                p = s * (2.0 * middle * t * (t - r) - (b - a) * (r - 1.0));
                q = (t - 1.0) * (r - 1.0) * (s - 1.0);
            }
            if p > 0.0 {
                q = -q;
            }
            p = p.abs();
            if 2.0 * p < (3.0 * middle * q - (tolerance * q).abs()).min((e * q).abs()) {
                e = d;
                d = p / q;
            } else {
                d = middle;
                e = d;
            }
        } else {
            d = middle;
            e = d;
        }
        a = b;
        fa = fb;
        b += if d.abs() > tolerance { d } else { tolerance.copysign(middle) };
        fb = cubic(b, p);
    }
    b
}

/// The minimum of a function by golden sections.
#[autobatch(strict)]
fn golden(centre: f64, low: f64, high: f64) -> (f64, u32) {
    let f = |x: f64| (x - centre).powi(2) + (x * x).sqrt() / 3.0;
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (low, high);
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let mut steps = 0;
    while (b - a).abs() > 1e-6 {
        if f(c) < f(d) {
            b = d;
        } else {
            a = c;
        }
        c = b - ratio * (b - a);
        d = a + ratio * (b - a);
        steps += 1;
    }
    ((a + b) / 2.0, steps)
}

/// Simpson's rule, halved where it has to be (Kuncir, Lyness).
#[autobatch(strict)]
fn adaptive_simpson(
    a: f64,
    b: f64,
    fa: f64,
    fm: f64,
    fb: f64,
    whole: f64,
    tolerance: f64,
    depth: u32,
) -> f64 {
    let m = (a + b) / 2.0;
    let (left, right) = ((a + m) / 2.0, (m + b) / 2.0);
    let (fl, fr) = ((left * left).sin(), (right * right).sin());
    let first = (m - a) / 6.0 * (fa + 4.0 * fl + fm);
    let second = (b - m) / 6.0 * (fm + 4.0 * fr + fb);
    let delta = first + second - whole;
    if depth == 0 || delta.abs() <= 15.0 * tolerance {
        return first + second + delta / 15.0;
    }
    adaptive_simpson(a, m, fa, fl, fm, first, tolerance / 2.0, depth - 1)
        + adaptive_simpson(m, b, fm, fr, fb, second, tolerance / 2.0, depth - 1)
}

/// Romberg's integration with Richardson's extrapolation.
#[autobatch(strict)]
fn romberg(a: f64, b: f64, accuracy: f64) -> (f64, usize) {
    let f = |x: f64| 1.0 / (1.0 + x * x);
    let mut previous = [0.0; 12];
    let mut current = [0.0; 12];
    let mut h = b - a;
    previous[0] = (f(a) + f(b)) * h / 2.0;
    for i in 1..12 {
        h /= 2.0;
        let mut sum = 0.0;
        for j in 1..=1_u32 << (i - 1) {
            sum += f(a + f64::from(2 * j - 1) * h);
        }
        current[0] = h * sum + previous[0] / 2.0;
        let mut power = 1.0;
        for j in 1..=i {
            power *= 4.0;
            current[j] = (power * current[j - 1] - previous[j - 1]) / (power - 1.0);
        }
        if i > 1 && (previous[i - 1] - current[i]).abs() < accuracy {
            return (current[i], i);
        }
        std::mem::swap(&mut previous, &mut current);
    }
    (previous[11], 11)
}

/// Runge, Kutta and Fehlberg: a pendulum with a step that adapts itself.
#[autobatch(strict)]
fn fehlberg(angle: f64, until: f64, #[shared] tolerance: f64) -> ([f64; 2], u32) {
    fn slope(y: [f64; 2]) -> [f64; 2] {
        [y[1], -9.81 * y[0].sin()]
    }
    let along = |mut y: [f64; 2], h: f64, terms: &[(f64, [f64; 2])]| {
        for (weight, k) in terms {
            y[0] += h * weight * k[0];
            y[1] += h * weight * k[1];
        }
        y
    };
    let (mut y, mut t, mut h, mut steps) = ([angle, 0.0], 0.0, 0.1_f64, 0);
    while t < until && steps < 10_000 {
        h = h.min(until - t);
        let k1 = slope(y);
        let k2 = slope(along(y, h, &[(0.25, k1)]));
        let k3 = slope(along(y, h, &[(3.0 / 32.0, k1), (9.0 / 32.0, k2)]));
        let k4 = slope(along(y, h, &[(1932.0 / 2197.0, k1), (-7200.0 / 2197.0, k2), (7296.0 / 2197.0, k3)]));
        let k5 = slope(along(
            y,
            h,
            &[(439.0 / 216.0, k1), (-8.0, k2), (3680.0 / 513.0, k3), (-845.0 / 4104.0, k4)],
        ));
        let fourth =
            along(y, h, &[(25.0 / 216.0, k1), (1408.0 / 2565.0, k3), (2197.0 / 4104.0, k4), (-0.2, k5)]);
        let k6 = slope(along(
            y,
            h,
            &[
                (-8.0 / 27.0, k1),
                (2.0, k2),
                (-3544.0 / 2565.0, k3),
                (1859.0 / 4104.0, k4),
                (-11.0 / 40.0, k5),
            ],
        ));
        let fifth = along(
            y,
            h,
            &[
                (16.0 / 135.0, k1),
                (6656.0 / 12825.0, k3),
                (28561.0 / 56430.0, k4),
                (-0.18, k5),
                (2.0 / 55.0, k6),
            ],
        );
        let error = (fifth[0] - fourth[0]).abs().max((fifth[1] - fourth[1]).abs());
        steps += 1;
        if error <= tolerance {
            t += h;
            y = fifth;
        }
        h *= (0.84 * (tolerance / error.max(1e-300)).powf(0.25)).clamp(0.1, 4.0);
    }
    (y, steps)
}

/// The logarithm of the gamma function by Lanczos' approximation (`gammln`).
fn ln_gamma(x: f64) -> f64 {
    let coefficients = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let t = x + 5.5;
    let mut series = 1.000_000_000_190_015;
    for (i, c) in coefficients.iter().enumerate() {
        series += c / (x + 1.0 + i as f64);
    }
    (x + 0.5) * t.ln() - t + (2.506_628_274_631_000_5 * series / x).ln()
}

/// The incomplete gamma function: a series on one side, a continued fraction on the other (`gammp`).
#[autobatch(strict)]
fn incomplete_gamma(a: f64, x: f64) -> f64 {
    assert!(a > 0.0 && x >= 0.0, "not defined");
    let factor = (-x + a * x.ln() - ln_gamma(a)).exp();
    if x < a + 1.0 {
        if x == 0.0 {
            return 0.0;
        }
        let (mut ap, mut sum) = (a, 1.0 / a);
        let mut term = sum;
        loop {
            ap += 1.0;
            term *= x / ap;
            sum += term;
            if term.abs() < sum.abs() * 1e-15 {
                return sum * factor;
            }
        }
    }
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1.. {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = an * d + b;
        if d.abs() < tiny {
            d = tiny;
        }
        c = b + an / c;
        if c.abs() < tiny {
            c = tiny;
        }
        d = 1.0 / d;
        let delta = d * c;
        h *= delta;
        if (delta - 1.0).abs() <= 1e-15 {
            break;
        }
    }
    1.0 - factor * h
}

/// The arithmetic-geometric mean of Gauss, and the complete elliptic integral by it.
#[autobatch(strict)]
fn elliptic_k(m: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - m).sqrt());
    while (a - g).abs() > 1e-15 * a {
        (a, g) = ((a + g) / 2.0, (a * g).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// A linear system by Gauss' elimination with pivots (Rosetta Code).
#[autobatch(strict)]
fn gauss(mut a: [[f64; 4]; 4], mut b: [f64; 4]) -> Option<[f64; 4]> {
    for column in 0..4 {
        let mut pivot = column;
        for row in column + 1..4 {
            if a[row][column].abs() > a[pivot][column].abs() {
                pivot = row;
            }
        }
        if a[pivot][column] == 0.0 {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        for row in column + 1..4 {
            let factor = a[row][column] / a[column][column];
            for k in column..4 {
                a[row][k] -= factor * a[column][k];
            }
            b[row] -= factor * b[column];
        }
    }
    let mut x = [0.0; 4];
    for row in (0..4).rev() {
        let known: f64 = (row + 1..4).map(|k| a[row][k] * x[k]).sum();
        x[row] = (b[row] - known) / a[row][row];
    }
    Some(x)
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations.
#[autobatch(strict)]
fn jacobi(mut a: [[f64; 3]; 3]) -> ([f64; 3], u32) {
    let mut rotations = 0;
    for _sweep in 0..50 {
        let off: f64 = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off < 1e-14 {
            break;
        }
        for p in 0..2 {
            for q in p + 1..3 {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..3 {
                    let (x, y) = (a[k][p], a[k][q]);
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for k in 0..3 {
                    let (x, y) = (a[p][k], a[q][k]);
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                rotations += 1;
            }
        }
    }
    ([a[0][0], a[1][1], a[2][2]], rotations)
}

/// The fast Fourier transform of Cooley and Tukey, on vectors that are handed on.
#[autobatch(strict)]
fn fourier(x: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let n = x.len();
    if n <= 1 {
        return x;
    }
    let even = fourier(x.iter().copied().step_by(2).collect());
    let odd = fourier(x.iter().copied().skip(1).step_by(2).collect());
    let mut out = vec![(0.0, 0.0); n];
    for k in 0..n / 2 {
        let angle = -2.0 * std::f64::consts::PI * k as f64 / n as f64;
        let (sin, cos) = angle.sin_cos();
        let (re, im) = (cos * odd[k].0 - sin * odd[k].1, cos * odd[k].1 + sin * odd[k].0);
        out[k] = (even[k].0 + re, even[k].1 + im);
        out[k + n / 2] = (even[k].0 - re, even[k].1 - im);
    }
    out
}

/// Miller and Rabin's test, with bases that suffice for 32 bits.
#[autobatch(strict)]
fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    let power = |mut base: u64, mut exponent: u64| {
        let mut result = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * base % n;
            }
            base = base * base % n;
            exponent >>= 1;
        }
        result
    };
    let twos = (n - 1).trailing_zeros();
    'bases: for base in [2, 7, 61] {
        if n.is_multiple_of(base) {
            return n == base;
        }
        let mut x = power(base, (n - 1) >> twos);
        if x == 1 || x == n - 1 {
            continue;
        }
        for _ in 1..twos {
            x = x * x % n;
            if x == n - 1 {
                continue 'bases;
            }
        }
        return false;
    }
    true
}

/// The extended algorithm of Euclid, and the inverse of a number by it.
#[autobatch(strict)]
fn inverse(a: i64, modulus: i64) -> Option<i64> {
    let (mut r, mut next_r) = (modulus, a.rem_euclid(modulus));
    let (mut t, mut next_t) = (0, 1);
    while next_r != 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (t, next_t) = (next_t, t - quotient * next_t);
    }
    (r == 1).then(|| t.rem_euclid(modulus))
}

#[test]
fn roots_and_minima() {
    let inputs: Vec<(f64, f64, f64)> =
        (0..29).map(|i| (f64::from(i) * 0.2, 0.5, 2.0 + f64::from(i))).collect();
    agree_at(
        &SIZES,
        &inputs,
        |b| newton_bisection(b.0, b.1, b.2, 1e-12),
        |b, o| {
            newton_bisection_batched_with(
                column(b, |b| b.0),
                column(b, |b| b.1),
                column(b, |b| b.2),
                1e-12,
                o,
            )
        },
    );
    agree_at(
        &SIZES,
        &inputs,
        |b| brent(b.0, b.1, b.2),
        |b, o| brent_batched_with(column(b, |b| b.0), column(b, |b| b.1), column(b, |b| b.2), o),
    );
    let root = brent(0.0, 0.5, 2.0);
    assert!(
        cubic(root, 0.0).abs() < 1e-10
            && (newton_bisection(0.0, 0.5, 2.0, 1e-12).unwrap() - root).abs() < 1e-9
    );
    agree_at(
        &SIZES,
        &inputs,
        |b| golden(b.0, b.1 - 3.0, b.2),
        |b, o| golden_batched_with(column(b, |b| b.0), column(b, |b| b.1 - 3.0), column(b, |b| b.2), o),
    );
}

#[test]
fn integrals_and_differential_equations() {
    let inputs: Vec<(f64, f64)> =
        (0..29).map(|i| (f64::from(i % 7) * 0.3, 1.0 + f64::from(i) / 10.0)).collect();
    let start = |&(a, b): &(f64, f64)| {
        let f = |x: f64| (x * x).sin();
        let (fa, fm, fb) = (f(a), f((a + b) / 2.0), f(b));
        (fa, fm, fb, (b - a) / 6.0 * (fa + 4.0 * fm + fb))
    };
    agree_at(
        &SIZES,
        &inputs,
        |b| {
            let (fa, fm, fb, whole) = start(b);
            adaptive_simpson(b.0, b.1, fa, fm, fb, whole, 1e-5, 20)
        },
        |b, o| {
            let s: Vec<_> = b.iter().map(start).collect();
            adaptive_simpson_batched_with(
                column(b, |b| b.0),
                column(b, |b| b.1),
                column(&s, |s| s.0),
                column(&s, |s| s.1),
                column(&s, |s| s.2),
                column(&s, |s| s.3),
                autobatch::same(1e-5),
                autobatch::same(20),
                o,
            )
        },
    );
    agree_at(
        &SIZES,
        &inputs,
        |b| romberg(b.0, b.1, 10.0_f64.powf(-2.0 * b.1)),
        |b, o| {
            romberg_batched_with(
                column(b, |b| b.0),
                column(b, |b| b.1),
                column(b, |b| 10.0_f64.powf(-2.0 * b.1)),
                o,
            )
        },
    );
    assert!((romberg(0.0, 1.0, 1e-12).0 - std::f64::consts::FRAC_PI_4).abs() < 1e-12);
    agree_at(
        &SIZES,
        &inputs,
        |b| fehlberg(b.0, b.1, 1e-4),
        |b, o| fehlberg_batched_with(column(b, |b| b.0), column(b, |b| b.1), 1e-4, o),
    );
}

#[test]
fn special_functions() {
    let inputs: Vec<(f64, f64)> = (0..29).map(|i| (0.5 + f64::from(i % 6), f64::from(i) * 0.6)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |b| incomplete_gamma(b.0, b.1),
        |b, o| incomplete_gamma_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    assert!((incomplete_gamma(1.0, 2.0) - (1.0 - (-2.0_f64).exp())).abs() < 1e-10);
    let m: Vec<f64> = (0..29).map(|i| f64::from(i) / 29.0).collect();
    agree_at(&SIZES, &m, |m| elliptic_k(*m), |m, o| elliptic_k_batched_with(m, o));
}

#[test]
fn linear_algebra_and_transforms() {
    let entry = |i: u32, j: u32| f64::from((i * 37 + j * j * 11 + 5) % 19) / 3.0 - 2.5;
    type System = ([[f64; 4]; 4], [f64; 4]);
    let systems: Vec<System> = (0..29)
        .map(|i| {
            let row = |r: u32| std::array::from_fn(|c| entry(i + r, c as u32 + i % 5));
            (std::array::from_fn(|r| row(r as u32 * (i % 7).min(3))), row(9))
        })
        .collect();
    agree_at(
        &SIZES,
        &systems,
        |(a, b)| gauss(*a, *b),
        |s, o| gauss_batched_with(column(s, |s| s.0), column(s, |s| s.1), o),
    );
    let symmetric: Vec<[[f64; 3]; 3]> = (0..29)
        .map(|i| std::array::from_fn(|r| std::array::from_fn(|c| entry(i + (r * c) as u32, (r + c) as u32))))
        .collect();
    agree_at(&SIZES, &symmetric, |a| jacobi(*a), |a, o| jacobi_batched_with(a, o));
    assert_eq!(
        jacobi([[2.0, 0.0, 0.0], [0.0, 3.0, 4.0], [0.0, 4.0, 9.0]]).0.map(f64::round),
        [2.0, 1.0, 11.0]
    );
    let signals: Vec<Vec<(f64, f64)>> =
        (0..6).map(|p| (0..1 << p).map(|i| (f64::from(i % 5), f64::from(i * i % 7))).collect()).collect();
    agree_at(&SIZES, &signals, |x| fourier(x.clone()), |x, o| fourier_batched_with(x, o));
}

#[test]
fn whole_numbers() {
    let n: Vec<u64> =
        (0..29).map(|i| 2 + i * 104_729 % 65_537).chain([4_294_967_291, 3_215_031_751]).collect();
    agree_at(&SIZES, &n, |n| is_prime(*n), |n, o| is_prime_batched_with(n, o));
    assert_eq!((1..200).filter(|n| is_prime(*n)).count(), 46);
    let pairs: Vec<(i64, i64)> = (1..40).map(|i| (i * 3 - 20, i * 7 % 60 + 2)).collect();
    agree_at(
        &SIZES,
        &pairs,
        |b| inverse(b.0, b.1),
        |b, o| inverse_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
}
