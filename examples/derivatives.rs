//! Derivatives of a batched function: the best angle to throw a ball through air, for many speeds at once.
//!
//! `range` follows the ball until it lands, which takes each member its own number of steps. It is generic
//! over its numbers: with `f64` it gives the distance, with num-dual's `Dual2_64` also how the distance
//! changes with the angle, twice, which is what Newton's method needs.
//!
//! `cargo run --release --example derivatives`

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
}
