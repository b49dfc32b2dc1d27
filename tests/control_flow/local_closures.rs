//! A function stores closures and calls them itself, across loops and with recursive calls.

#![allow(clippy::needless_borrows_for_generic_args, clippy::useless_vec)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 3] = [0, 1, 97];

fn twice(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(f(x))
}

/// An integrand and its derivative in a loop, handed to other code too.
#[autobatch(strict)]
fn newton(k: f64, start: f64, #[shared] tolerance: f64) -> (f64, u32) {
    let f = |t: f64| (k * t).cos() - t;
    let derivative = |t| {
        let step = 1e-6;
        (f(t + step) - f(t - step)) / (2.0 * step)
    };
    let (mut x, mut rounds) = (start, 0);
    while f(x).abs() > tolerance && rounds < 50 {
        x -= f(x) / derivative(x);
        rounds += 1;
    }
    (twice(f, x) + twice(&derivative, x), rounds)
}

/// State that is captured, early returns and `?` in a closure.
#[autobatch(strict)]
fn random_walk(seed: u64, steps: u32) -> Option<i64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 60
    };
    let checked = |at: i64, by: u64| -> Option<i64> {
        if by == 13 {
            return None;
        }
        let by = i64::try_from(by).ok()?;
        at.checked_add(by - 7)
    };
    let mut at = 0;
    for _ in 0..steps {
        let by = next();
        at = checked(at, by)?;
        if at < -20 {
            break;
        }
    }
    Some(at + next() as i64)
}

/// A closure with recursive calls, one in another.
#[autobatch]
fn branching(n: u32, k: u32) -> u32 {
    if n == 0 {
        return k;
    }
    let below = |m: u32| branching(m / 2, k + 1);
    let both = |(a, b): (u32, u32)| below(a) + 3 * below(b);
    let scale = move |x| x % 1000 + k;
    let parts = [n / 2, n / 3];
    both((n - 1, n / 2)) % 1009 + parts.iter().map(|part| below(*part)).max().map_or(0, scale)
}

/// Romberg's table: the integrand in the arguments of macros, across loops.
#[autobatch(strict)]
fn romberg(p: f64, b: f64) -> Result<f64, String> {
    let f = |x: f64| x.powf(p) * (-x).exp();
    assert!(f(b).is_finite());
    let mut rows: Vec<Vec<f64>> = vec![vec![0.5 * b * (f(0.0) + f(b))]];
    for k in 1..10_usize {
        let h = b / f64::from(1u32 << k);
        let mid: f64 = (0..1u32 << (k - 1)).map(|i| f(f64::from(2 * i + 1) * h)).sum();
        let mut row = vec![0.5 * rows[k - 1][0] + h * mid];
        let mut four = 1.0;
        for j in 1..=k {
            four *= 4.0;
            row.push(row[j - 1] + (row[j - 1] - rows[k - 1][j - 1]) / (four - 1.0));
        }
        if (row[k] - rows[k - 1][k - 1]).abs() < 1e-6 {
            return Ok(row[k]);
        }
        if matches!(f(row[k]), y if y > 0.35) {
            return Err(format!("{:.6} at {k}", f(row[k])));
        }
        debug_assert!(f(h) < 9.0, "{} is too much", f(h));
        rows.push(row);
    }
    Err(String::new())
}

/// A closure with recursive calls in a macro's arguments.
#[autobatch(strict)]
fn listed(n: u32, k: u32) -> u32 {
    if n == 0 {
        return k;
    }
    let below = |m: u32| listed(m / 2, k + 1);
    let mut all = vec![below(n), 7 * below(n / 3)];
    all.push(1);
    all.iter().sum::<u32>() % 1009 + u32::from(matches!(below(n / 5), 3..9))
}

#[test]
fn closures_are_called_in_macros() {
    let inputs: Vec<(f64, f64)> =
        (0..30).map(|i| (f64::from(i) * 0.1 + 0.5, f64::from(i % 7) * 0.7)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(p, b)| romberg(*p, *b),
        |b, o| romberg_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    let ns: Vec<u32> = (0..20).collect();
    agree_at(&SIZES, &ns, |n| listed(*n, 1), |n, o| listed_batched_with(n, autobatch::same(1), o));
}

#[test]
fn closures_are_called_where_they_stand() {
    let inputs: Vec<(f64, f64)> =
        (0..40).map(|i| (f64::from(i) * 0.05 + 0.2, f64::from(i % 7) * 0.3)).collect();
    agree_at(
        &SIZES,
        &inputs,
        |(k, x)| newton(*k, *x, 1e-12),
        |b, o| newton_batched_with(column(b, |b| b.0), column(b, |b| b.1), 1e-12, o),
    );
    let walks: Vec<(u64, u32)> = (0..30).map(|i| (i * 977 + 5, (i % 9) as u32)).collect();
    agree_at(
        &SIZES,
        &walks,
        |(s, n)| random_walk(*s, *n),
        |b, o| random_walk_batched_with(column(b, |b| b.0), column(b, |b| b.1), o),
    );
    let ns: Vec<u32> = (0..20).collect();
    agree_at(&SIZES, &ns, |n| branching(*n, 1), |n, o| branching_batched_with(n, autobatch::same(1), o));
}
