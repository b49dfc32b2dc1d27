//! Adaptive quadrature: an interval whose integral is not yet known well is cut in two, by recursion.
//!
//! Checked by the closed forms of Genz's six families, “Testing multidimensional integration routines”, 1984, in one dimension.
//! `cargo run --release --example quadrature`

use std::f64::consts::TAU;

use autobatch::{Options, autobatch, math, same};

const FAMILIES: [&str; 6] =
    ["oscillatory", "product peak", "corner peak", "Gaussian", "continuous", "discontinuous"];

/// Genz's integrands: `a` is how difficult they are, `u` where.
fn integrand(family: u32, a: f64, u: f64, x: f64) -> f64 {
    let from_u = a * (x - u);
    match family {
        0 => math::cos(TAU * u + a * x),
        1 => a * a / (1.0 + from_u * from_u),
        2 => 1.0 / ((1.0 + a * x) * (1.0 + a * x)),
        3 => math::exp(-from_u * from_u),
        4 => math::exp(-from_u.abs()),
        _ => {
            if x > u {
                0.0
            } else {
                math::exp(a * x)
            }
        }
    }
}

/// The integral over an interval of this width from `x` on, by Simpson's rule, and by the same for both halves where these say something
/// else. Three values of the integrand are known.
#[allow(clippy::too_many_arguments)]
#[autobatch(strict)]
fn integral(
    #[shared] family: u32,
    a: f64,
    u: f64,
    x: f64,
    width: f64,
    left: f64,
    middle: f64,
    right: f64,
    tolerance: f64,
) -> f64 {
    let half = 0.5 * width;
    let first = integrand(family, a, u, x + 0.25 * width);
    let third = integrand(family, a, u, x + 0.75 * width);
    let coarse = width * (left + 4.0 * middle + right) / 6.0;
    let fine = half * (left + 4.0 * first + 2.0 * middle + 4.0 * third + right) / 6.0;
    if (width < 0.2 && (fine - coarse).abs() <= 15.0 * tolerance) || width < 1e-9 {
        return fine + (fine - coarse) / 15.0;
    }
    integral(family, a, u, x, half, left, first, middle, 0.5 * tolerance)
        + integral(family, a, u, x + half, half, middle, third, right, 0.5 * tolerance)
}

/// What the integral from 0 to 1 is.
fn exact(family: u32, a: f64, u: f64) -> f64 {
    match family {
        0 => ((TAU * u + a).sin() - (TAU * u).sin()) / a,
        1 => a * ((a * (1.0 - u)).atan() + (a * u).atan()),
        2 => 1.0 / (1.0 + a),
        3 => (of_bell(a * (1.0 - u)) + of_bell(a * u)) / a,
        4 => (2.0 - (-a * u).exp() - (-a * (1.0 - u)).exp()) / a,
        _ => ((a * u).exp() - 1.0) / a,
    }
}

/// The integral of exp(-t²) from 0 to x, by its series.
fn of_bell(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..400 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    sum * (-x * x).exp()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Difficulties from 1 to 10 at places from 0.1 to 0.9, evenly spread: Roberts's sequence.
    let count = 4000;
    let spread = |by: f64, low: f64, width: f64| -> Vec<f64> {
        (0..count).map(|i| low + width * (0.5 + f64::from(i) * by).fract()).collect()
    };
    let (a, u) = (spread(0.754_877_67, 1.0, 9.0), spread(0.569_840_29, 0.1, 0.8));

    println!("{:<14} {:>9} {:>12} {:>9}  ran by", "family", "integrals", "worst error", "ms");
    for (family, name) in (0..).zip(FAMILIES) {
        let at =
            |x: f64| -> Vec<f64> { a.iter().zip(&u).map(|(a, u)| integrand(family, *a, *u, x)).collect() };
        let (left, middle, right) = (at(0.0), at(0.5), at(1.0));
        let options = Options::default().report(true);
        let (x, width, tolerance) = (same(0.0), same(1.0), same(1e-10));
        let outcome =
            integral_batched_with(family, &a, &u, x, width, &left, &middle, &right, tolerance, &options)?;
        let (engine, ms) = (outcome.report().engine, 1e3 * outcome.report().time.as_secs_f64());
        let found = outcome.into_values()?;

        let errors =
            found.iter().zip(&a).zip(&u).map(|((found, a), u)| (found - exact(family, *a, *u)).abs());
        let worst = errors.fold(0.0, f64::max);
        println!("{name:<14} {count:>9} {worst:>12.1e} {ms:>9.1}  {engine}");
        // An edge is found to the least width, and the values there go up to exp(9).
        assert!(worst < if family == 5 { 1e-5 } else { 1e-9 }, "{name}: {worst}");
        let one = integral(family, a[7], u[7], 0.0, 1.0, left[7], middle[7], right[7], 1e-10);
        assert_eq!(found[7], one);
    }
    Ok(())
}
