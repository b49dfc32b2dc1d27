//! The batched functions, and their names in Daft.

use autobatch::autobatch;

use crate::scalar_function::ScalarFunction;

/// The steps of the Collatz sequence from `n` to 1, at most `most`.
#[autobatch]
pub(crate) fn collatz(mut n: u64, most: u32) -> u32 {
    assert!(n > 0, "the sequence of 0 does not reach 1");
    let mut steps = 0;
    while n != 1 && steps < most {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// The volume of a mole of nitrogen after van der Waals, by Newton's iteration.
#[autobatch]
pub(crate) fn volume(pressure: f64, temperature: f64) -> f64 {
    let (attraction, own) = (0.137, 3.87e-5);
    let energy = 8.314 * temperature;
    let mut v = energy / pressure;
    for _ in 0..50 {
        let value = ((pressure * v - pressure * own - energy) * v + attraction) * v - attraction * own;
        let slope = (3.0 * pressure * v - 2.0 * (pressure * own + energy)) * v + attraction;
        let step = value / slope;
        v -= step;
        if step.abs() < 1e-12 * v {
            break;
        }
    }
    v
}

/// The area below `1 / (1 + sharpness x²)` between two ends: halves are halved until Simpson's rule is right.
#[autobatch]
pub(crate) fn area(sharpness: f64, from: f64, to: f64, tolerance: f64) -> f64 {
    let (width, middle) = (to - from, 0.5 * (from + to));
    let (left, right) = (0.5 * (from + middle), 0.5 * (middle + to));
    let ends = 1.0 / (1.0 + sharpness * from * from) + 1.0 / (1.0 + sharpness * to * to);
    let centre = 1.0 / (1.0 + sharpness * middle * middle);
    let quarters = 1.0 / (1.0 + sharpness * left * left) + 1.0 / (1.0 + sharpness * right * right);
    let coarse = width / 6.0 * (ends + 4.0 * centre);
    let fine = width / 12.0 * (ends + 2.0 * centre + 4.0 * quarters);
    if (fine - coarse).abs() < 15.0 * tolerance {
        fine
    } else {
        area(sharpness, from, middle, 0.5 * tolerance) + area(sharpness, middle, to, 0.5 * tolerance)
    }
}

/// The functions that the library brings to a session.
pub(crate) fn all() -> [ScalarFunction; 3] {
    [
        ScalarFunction::new(c"collatz", |[n, most], options| collatz_batched_with(n, most, options)),
        ScalarFunction::new(c"volume", |[pressure, temperature], options| {
            volume_batched_with(pressure, temperature, options)
        }),
        ScalarFunction::new(c"area", |[sharpness, from, to, tolerance], options| {
            area_batched_with(sharpness, from, to, tolerance, options)
        }),
    ]
}
