//! Orbits of a satellite around earth and moon: an ensemble of adaptive Dormand–Prince solves, each with steps of its own.
//!
//! Checked by Arenstorf's periodic orbit, which comes back to where it began. `cargo run --release --example orbits`

mod pictures;

use std::ops::{Add, Mul};

use autobatch::{Options, autobatch, math, same};
use pictures::{Curve, plot};

/// Place and velocity in the frame that turns with the moon.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    x: f64,
    y: f64,
    vx: f64,
    vy: f64,
}

impl Add for State {
    type Output = State;

    fn add(self, other: State) -> State {
        State { x: self.x + other.x, y: self.y + other.y, vx: self.vx + other.vx, vy: self.vy + other.vy }
    }
}

impl Mul<State> for f64 {
    type Output = State;

    fn mul(self, s: State) -> State {
        State { x: self * s.x, y: self * s.y, vx: self * s.vx, vy: self * s.vy }
    }
}

/// The restricted problem of three bodies.
fn slope(s: State) -> State {
    let (moon, earth) = (0.012_277_471, 1.0 - 0.012_277_471);
    let d1 = (s.x + moon) * (s.x + moon) + s.y * s.y;
    let d2 = (s.x - earth) * (s.x - earth) + s.y * s.y;
    let (d1, d2) = (d1 * d1.sqrt(), d2 * d2.sqrt());
    State {
        x: s.vx,
        y: s.vy,
        vx: s.x + 2.0 * s.vy - earth * (s.x + moon) / d1 - moon * (s.x - earth) / d2,
        vy: s.y - 2.0 * s.vx - earth * s.y / d1 - moon * s.y / d2,
    }
}

/// Where a satellite is at a time, and how many steps it took: Dormand and Prince's method of order 5.
#[autobatch]
fn fly(start: State, end: f64, tolerance: f64) -> (State, u32) {
    let (mut s, mut t, mut h, mut steps) = (start, 0.0, 1e-3, 0);
    let mut k1 = slope(s);
    while t < end {
        h = f64::min(h, end - t);
        let k2 = slope(s + (h / 5.0) * k1);
        let k3 = slope(s + h * (3.0 / 40.0 * k1 + 9.0 / 40.0 * k2));
        let k4 = slope(s + h * (44.0 / 45.0 * k1 + -56.0 / 15.0 * k2 + 32.0 / 9.0 * k3));
        let k5 = slope(
            s + h
                * (19372.0 / 6561.0 * k1
                    + -25360.0 / 2187.0 * k2
                    + 64448.0 / 6561.0 * k3
                    + -212.0 / 729.0 * k4),
        );
        let k6 = slope(
            s + h
                * (9017.0 / 3168.0 * k1
                    + -355.0 / 33.0 * k2
                    + 46732.0 / 5247.0 * k3
                    + 49.0 / 176.0 * k4
                    + -5103.0 / 18656.0 * k5),
        );
        let next = s + h
            * (35.0 / 384.0 * k1
                + 500.0 / 1113.0 * k3
                + 125.0 / 192.0 * k4
                + -2187.0 / 6784.0 * k5
                + 11.0 / 84.0 * k6);
        let k7 = slope(next);
        let e = h
            * (71.0 / 57600.0 * k1
                + -71.0 / 16695.0 * k3
                + 71.0 / 1920.0 * k4
                + -17253.0 / 339_200.0 * k5
                + 22.0 / 525.0 * k6
                + -1.0 / 40.0 * k7);
        let error = (e.x * e.x + e.y * e.y + e.vx * e.vx + e.vy * e.vy).sqrt() / tolerance;
        if error <= 1.0 {
            t += h;
            s = next;
            k1 = k7;
        }
        steps += 1;
        h *= (0.9 * math::powf(error.max(1e-10), -0.2)).clamp(0.2, 5.0);
    }
    (s, steps)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Hairer, Nørsett, Wanner, “Solving Ordinary Differential Equations I”, section II.0.
    let start = State { x: 0.994, y: 0.0, vx: 0.0, vy: -2.001_585_106_379_082_5 };
    let period = 17.065_216_560_157_96;
    let distance = |a: State, b: State| (a.x - b.x).hypot(a.y - b.y);

    println!("tolerance  steps  distance from the start after a period");
    let tolerances: Vec<f64> = (6..=13).map(|digits| 10f64.powi(-digits)).collect();
    let ends = fly_batched(same(start), same(period), &tolerances);
    for (tolerance, (end, steps)) in tolerances.iter().zip(&ends) {
        println!("{tolerance:9.0e} {steps:6}  {:.1e}", distance(*end, start));
    }
    assert_eq!(ends[3], fly(start, period, tolerances[3]));
    assert!(distance(ends[7].0, start) < 1e-5);

    // One orbit as a line: a member for each point of it. And how far satellites get that start a little faster.
    let times: Vec<f64> = (0..=2000).map(|i| period * f64::from(i) / 2000.0).collect();
    let outcome = fly_batched_with(same(start), &times, same(1e-11), &Options::default().report(true))?;
    println!("\n{}", outcome.report());
    let orbit: Vec<State> = outcome.into_values()?.into_iter().map(|(state, _)| state).collect();
    let faster = State { vy: start.vy * (1.0 + 1e-3), ..start };
    let other = fly_batched(same(faster), &times, same(1e-11));
    let line = |states: &mut dyn Iterator<Item = State>| states.map(|s| (s.x, s.y)).collect();
    let curves = [
        Curve { name: "Arenstorf's orbit".to_owned(), points: line(&mut orbit.iter().copied()) },
        Curve { name: "0.1 % faster".to_owned(), points: line(&mut other.iter().map(|(state, _)| *state)) },
    ];
    plot("orbits.svg", "Satellites around earth (0, 0) and moon (1, 0)", ["x", "y"], &curves)?;
    Ok(())
}
