//! Derivatives of a batched function, by dual numbers: the best angle to throw a ball through air, for many speeds at once, and a curve that is
//! fitted to two thousand samples by gradient descent.
//!
//! `range` follows the ball until it lands, which takes each member its own number of steps. It is generic
//! over its numbers: with `f64` it gives the distance, with num-dual's `Dual2_64` also how the distance
//! changes with the angle, twice, which is what Newton's method needs.
//!
//! Checked by angles beside the best, and by the fit that the manual of R prints. `cargo run --release --example derivatives`

use std::ops::{Add, Div, Mul, Sub};

use autobatch::{autobatch, same};
use num_dual::{Dual2_64, DualNum};

/// Metres that a ball flies which is thrown from the ground at `speed` metres per second and `angle`
/// radians, where the air takes `drag` times its speed squared per second.
#[autobatch(strict)]
fn range<D: DualNum<Primitive = f64> + Copy>(angle: D, speed: f64, #[shared] drag: f64) -> D {
    const GRAVITY: f64 = 9.81;
    const STEP: f64 = 1e-3;
    let (sin, cos) = angle.sin_cos();
    let (mut vx, mut vy) = (cos * speed, sin * speed);
    let (mut x, mut y) = (D::zero(), D::zero());
    loop {
        let slowed = (vx * vx + vy * vy).sqrt() * drag;
        let (ax, ay) = (-(slowed * vx), -(slowed * vy) - GRAVITY);
        let after = |t: D| (x + (vx + ax * t / 2.0) * t, y + (vy + ay * t / 2.0) * t);
        let next = after(D::from(STEP));
        if next.1.re() < 0.0 {
            // It lands within this step.
            return after(-(vy + (vy * vy - ay * y * 2.0).sqrt()) / ay).0;
        }
        (x, y) = next;
        vx += ax * STEP;
        vy += ay * STEP;
    }
}

/// A number and its derivatives by two parameters.
#[derive(Clone, Copy)]
struct Dual {
    value: f64,
    by: [f64; 2],
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        Dual { value: self.value + other.value, by: [self.by[0] + other.by[0], self.by[1] + other.by[1]] }
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, other: Dual) -> Dual {
        Dual { value: self.value - other.value, by: [self.by[0] - other.by[0], self.by[1] - other.by[1]] }
    }
}

#[allow(clippy::suspicious_arithmetic_impl)] // the product rule
impl Mul for Dual {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        let by = |i: usize| self.by[i] * other.value + self.value * other.by[i];
        Dual { value: self.value * other.value, by: [by(0), by(1)] }
    }
}

#[allow(clippy::suspicious_arithmetic_impl)] // the quotient rule
impl Div for Dual {
    type Output = Dual;
    fn div(self, other: Dual) -> Dual {
        let value = self.value / other.value;
        let by = |i: usize| (self.by[i] - value * other.by[i]) / other.value;
        Dual { value, by: [by(0), by(1)] }
    }
}

/// Concentrations, and the rates at which an enzyme works there: Treloar's measurements, R's data set `Puromycin`, treated.
const CONCENTRATIONS: [f64; 12] = [0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.10, 1.10];
const RATES: [f64; 12] = [76.0, 47.0, 97.0, 107.0, 123.0, 139.0, 159.0, 152.0, 191.0, 201.0, 207.0, 200.0];

/// The curve of Michaelis and Menten through rates: how high it gets, and where it is half as high. By gradient descent with momentum,
/// until it stands still.
#[autobatch(strict)]
fn fit(rates: [f64; 12], concentrations: &[f64; 12]) -> (f64, f64) {
    const UNITS: (f64, f64) = (100.0, 0.1); // so that both parameters are about one
    let (mut height, mut half, mut speed) = (1.0, 1.0, [0.0, 0.0]);
    loop {
        let a = Dual { value: height, by: [1.0, 0.0] };
        let b = Dual { value: half, by: [0.0, 1.0] };
        let mut loss = Dual { value: 0.0, by: [0.0; 2] };
        for i in 0..12 {
            let x = Dual { value: concentrations[i] / UNITS.1, by: [0.0; 2] };
            let y = Dual { value: rates[i] / UNITS.0, by: [0.0; 2] };
            let error = a * x / (b + x) - y;
            loss = loss + error * error;
        }
        speed = [0.9 * speed[0] - 0.02 * loss.by[0], 0.9 * speed[1] - 0.02 * loss.by[1]];
        height += speed[0];
        half += speed[1];
        if speed[0].abs() + speed[1].abs() < 1e-10 {
            return (UNITS.0 * height, UNITS.1 * half);
        }
    }
}

/// Fits the curve to what was measured, and to samples of it with errors drawn anew: how far these scatter is the fit's error.
fn fits() {
    let (height, half) = fit_batched(&[RATES], &CONCENTRATIONS)[0];
    let rate = |x: f64| height * x / (half + x);
    let errors: Vec<f64> = CONCENTRATIONS.iter().zip(RATES).map(|(x, y)| y - rate(*x)).collect();
    let mut random = 1u64;
    let mut error = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        errors[(random >> 33) as usize % errors.len()] * f64::sqrt(12.0 / 10.0) // two parameters are fitted
    };
    let samples: Vec<[f64; 12]> = (0..2000).map(|_| CONCENTRATIONS.map(|x| rate(x) + error())).collect();
    let (heights, halves): (Vec<f64>, Vec<f64>) = fit_batched(&samples, &CONCENTRATIONS).into_iter().unzip();
    let scatter = |all: &[f64]| {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt()
    };
    // `nls(rate ~ Vm*conc/(K + conc), Puromycin, subset = state == "treated")`
    println!("\n{:>10} {:>10} {:>10} {:>10} {:>10}", "", "fitted", "R", "scatter", "R's error");
    for (name, fitted, theirs, scatter, error) in [
        ("height", height, 212.7, scatter(&heights), 6.947),
        ("half", half, 0.06412, scatter(&halves), 0.008281),
    ] {
        println!("{name:>10} {fitted:>10.4} {theirs:>10.4} {scatter:>10.4} {error:>10.4}");
        assert!((fitted / theirs - 1.0).abs() < 2e-4 && (scatter / error - 1.0).abs() < 0.2);
    }
    assert_eq!((heights[7], halves[7]), fit(samples[7], &CONCENTRATIONS));
}

fn main() {
    let drag = 0.005;
    let speeds: Vec<f64> = (1..=12).map(|i| 5.0 * f64::from(i)).collect();
    let mut angles = vec![0.7; speeds.len()];
    for _ in 0..8 {
        let seeded: Vec<Dual2_64> = angles.iter().map(|a| Dual2_64::from_re(*a).derivative()).collect();
        for (angle, distance) in angles.iter_mut().zip(range_batched(seeded, &speeds, drag)) {
            *angle -= distance.v1 / distance.v2;
        }
    }
    let at = |turn: f64| range_batched(angles.iter().map(|a| a + turn).collect::<Vec<f64>>(), &speeds, drag);
    let (best, lower, higher) = (at(0.0), at(-0.02), at(0.02));
    let forty_five = range_batched(same(45_f64.to_radians()), &speeds, drag);

    println!("{:>10} {:>12} {:>12} {:>14}", "speed m/s", "best angle °", "distance m", "at 45° m");
    for (i, speed) in speeds.iter().enumerate() {
        assert!(best[i] > lower[i] && best[i] > higher[i], "a larger or smaller angle is worse");
        println!("{speed:>10.1} {:>12.2} {:>12.3} {:>14.3}", angles[i].to_degrees(), best[i], forty_five[i]);
    }
    fits();
}
