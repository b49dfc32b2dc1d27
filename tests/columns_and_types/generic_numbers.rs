//! Functions that are generic over their numbers batch at single and double precision and at dual
//! numbers: the batched function's derivatives come out of the same code.

use crate::common::{Bits, agree_at, column};
use autobatch::autobatch;
use autofloat::AutoFloat;
use num_dual::{Dual64, DualNum, HyperDual64};
use num_traits::{Float, FloatConst};

const SIZES: [usize; 4] = [0, 1, 97, 1009];

impl<T: Float + Bits, const N: usize> Bits for AutoFloat<T, N> {
    fn same(&self, other: &Self) -> bool {
        self.x.same(&other.x) && self.dx.same(&other.dx)
    }
}

impl Bits for Dual64 {
    fn same(&self, other: &Self) -> bool {
        self.re.same(&other.re) && self.eps.same(&other.eps)
    }
}

impl Bits for HyperDual64 {
    fn same(&self, other: &Self) -> bool {
        let parts = |d: &Self| [d.re, d.eps1, d.eps2, d.eps1eps2];
        parts(self).same(&parts(other))
    }
}

fn number<T: Float>(x: f64) -> T {
    T::from(x).unwrap()
}

/// The eccentric anomaly of an orbit (Kepler's equation, by Newton's method), and the steps it took.
#[autobatch(strict)]
fn kepler<T: Float + Send + Sync>(mean: T, eccentricity: T, #[shared] tolerance: T) -> (T, u32) {
    let mut anomaly = if eccentricity > number(0.8) { number(3.0) } else { mean };
    let mut steps = 0;
    loop {
        let (sin, cos) = anomaly.sin_cos();
        let change = (anomaly - eccentricity * sin - mean) / (T::one() - eccentricity * cos);
        anomaly = anomaly - change;
        steps += 1;
        if change.abs() < tolerance || steps == 50 {
            return (anomaly, steps);
        }
    }
}

/// The adaptive Simpson rule for `exp(-a x²)`.
#[autobatch(strict)]
fn bell<T>(from: T, to: T, whole: T, a: T, depth: u32) -> T
where
    T: Float,
{
    let f = |x: T| (-a * x * x).exp();
    let rule = |from: T, to: T| {
        (to - from) / number(6.0) * (f(from) + number::<T>(4.0) * f((from + to) / number(2.0)) + f(to))
    };
    let middle = (from + to) / number(2.0);
    let (left, right) = (rule(from, middle), rule(middle, to));
    let error = left + right - whole;
    if depth == 0 || error.abs() < number(1e-9) {
        return left + right + error / number(15.0);
    }
    bell(from, middle, left, a, depth - 1) + bell(middle, to, right, a, depth - 1)
}

/// Bounds in a `where` clause, several parameters of the function, constants of the number type.
#[autobatch(strict)]
fn wave<T, const N: usize>(phase: T, amplitudes: &[T; N], n: u32) -> T
where
    T: Float + FloatConst + std::ops::AddAssign + 'static,
{
    let mut sum = T::zero();
    let mut k = 0;
    while k < N && k < n as usize {
        sum += amplitudes[k] * (T::TAU() * phase * T::from(k + 1).unwrap()).cos();
        k += 1;
    }
    if n > 3 { sum + wave(phase / T::SQRT_2(), amplitudes, n - 3) } else { sum }
}

/// `x^(1/k)` by Newton's method, over the trait of num-dual, which is there for `f64` too.
#[autobatch(strict)]
fn root<D: DualNum<Primitive = f64> + Copy>(x: D, k: i32) -> D {
    let mut y = D::one();
    let mut last = f64::INFINITY;
    loop {
        let change = (x / y.powi(k - 1) - y) / f64::from(k);
        y += change;
        let size = change.re().abs();
        if size >= last || size == 0.0 {
            return y;
        }
        last = size;
    }
}

fn orbits<T: Float>() -> Vec<(T, T)> {
    let orbit = |i: u32| (number(0.05 + 0.09 * f64::from(i % 33)), number(0.03 * f64::from(i % 31)));
    (0..67).map(orbit).collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

#[test]
fn single_and_double_precision() {
    fn check<T: Float + Bits + Send + Sync + std::fmt::Debug>(tolerance: T) {
        agree_at(
            &SIZES,
            &orbits::<T>(),
            |(mean, e)| kepler(*mean, *e, tolerance),
            |b, o| kepler_batched_with(column(b, |r| r.0), column(b, |r| r.1), tolerance, o),
        );
        let ends: Vec<(T, T)> = orbits();
        agree_at(
            &[0, 1, 97],
            &ends,
            |(to, a)| bell(-*to, *to, T::one(), *a, 9),
            |b, o| {
                let to = column(b, |r| r.0);
                let one = autobatch::same(T::one());
                bell_batched_with(column(b, |r| -r.0), to, one, column(b, |r| r.1), autobatch::same(9), o)
            },
        );
    }
    check::<f32>(1e-5);
    check::<f64>(1e-13);
    let amplitudes = [0.5, -0.25, 0.125, 1.0, 0.75];
    let rows: Vec<(f64, u32)> = (0..41).map(|i| (f64::from(i) * 0.01, i as u32 % 14)).collect();
    agree_at(
        &SIZES,
        &rows,
        |(x, n)| wave(*x, &amplitudes, *n),
        |b, o| wave_batched_with::<f64, 5>(column(b, |r| r.0), &amplitudes, column(b, |r| r.1), o),
    );
    let rows: Vec<(f64, i32)> = (1..30).map(|i| (f64::from(i) * 0.7, 2 + i % 4)).collect();
    agree_at(
        &SIZES,
        &rows,
        |(x, k)| root(*x, *k),
        |b, o| root_batched_with(column(b, |r| r.0), column(b, |r| r.1), o),
    );
}

/// Derivatives with respect to both arguments, of a loop whose trip count depends on the data.
#[test]
fn derivatives_of_a_loop() {
    type Dual = AutoFloat<f64, 2>;
    let seeded: Vec<(Dual, Dual)> =
        orbits().into_iter().map(|(m, e)| (Dual::variable(m, 0), Dual::variable(e, 1))).collect();
    let tolerance = Dual::constant(1e-13);
    agree_at(
        &SIZES,
        &seeded,
        |(mean, e)| kepler(*mean, *e, tolerance),
        |b, o| kepler_batched_with(column(b, |r| r.0), column(b, |r| r.1), tolerance, o),
    );
    let (mean, e): (Vec<Dual>, Vec<Dual>) = seeded.iter().copied().unzip();
    let plain = kepler_batched(column(&seeded, |r| r.0.x), column(&seeded, |r| r.1.x), 1e-13);
    for (i, (anomaly, steps)) in kepler_batched(mean, e, tolerance).into_iter().enumerate() {
        assert_eq!((anomaly.x, steps), plain[i], "the dual number's value is the plain result");
        let (sin, cos) = anomaly.x.sin_cos();
        let by = 1.0 - seeded[i].1.x * cos;
        assert!(close(anomaly.dx[0], 1.0 / by, 1e-9), "dE/dM {i}: {anomaly:?}");
        assert!(close(anomaly.dx[1], sin / by, 1e-9), "dE/de {i}: {anomaly:?}");
    }
}

/// The derivative of a recursive function: each member's recursion is as deep as it is without.
#[test]
fn derivatives_of_a_recursion() {
    type Dual = AutoFloat<f64, 1>;
    let rows: Vec<(Dual, Dual)> =
        orbits().into_iter().map(|(to, a)| (Dual::constant(to), Dual::variable(a, 0))).collect();
    let one = Dual::constant(1.0);
    agree_at(
        &[0, 1, 97],
        &rows,
        |(to, a)| bell(-*to, *to, one, *a, 9),
        |b, o| {
            let (from, to) = (column(b, |r| -r.0), column(b, |r| r.0));
            let (a, depth) = (column(b, |r| r.1), autobatch::same(9));
            bell_batched_with(from, to, autobatch::same(one), a, depth, o)
        },
    );
    // d/da of the integral is that of -x² exp(-a x²): here by the central difference.
    let (to, a): (Vec<f64>, Vec<f64>) = (column(&rows, |r| r.0.x), column(&rows, |r| r.1.x));
    let at = |h: f64| {
        let (from, a) = (column(&to, |x| -x), column(&a, |a| a + h));
        bell_batched(from, &to, autobatch::same(1.0), a, autobatch::same(14))
    };
    let (above, below) = (at(1e-4), at(-1e-4));
    for (i, (to, a)) in rows.iter().enumerate() {
        let slope = bell(-*to, *to, one, *a, 14).dx[0];
        let difference = (above[i] - below[i]) / 2e-4;
        assert!((slope - difference).abs() < 1e-5, "{i}: {slope} and {difference}");
    }
}

/// First and second derivatives by num-dual's numbers.
#[test]
fn derivatives_by_num_dual() {
    let rows: Vec<(f64, i32)> = (1..30).map(|i| (f64::from(i) * 0.7, 2 + i % 4)).collect();
    let duals = column(&rows, |r| (Dual64::from_re(r.0).derivative(), r.1));
    agree_at(
        &SIZES,
        &duals,
        |(x, k)| root(*x, *k),
        |b, o| root_batched_with(column(b, |r| r.0), column(b, |r| r.1), o),
    );
    let second = column(&rows, |r| (HyperDual64::from_re(r.0).derivative1().derivative2(), r.1));
    agree_at(
        &SIZES,
        &second,
        |(x, k)| root(*x, *k),
        |b, o| root_batched_with(column(b, |r| r.0), column(b, |r| r.1), o),
    );
    let (xs, ks): (Vec<HyperDual64>, Vec<i32>) = second.into_iter().unzip();
    for (value, (x, k)) in root_batched(xs, ks).into_iter().zip(rows) {
        let power = 1.0 / f64::from(k);
        assert!(close(value.re, x.powf(power), 1e-14), "{value}");
        assert!(close(value.eps1, power * x.powf(power - 1.0), 1e-12), "{value}");
        assert!(close(value.eps1eps2, power * (power - 1.0) * x.powf(power - 2.0), 1e-12), "{value}");
    }
}
