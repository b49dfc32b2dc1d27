//! Adaptive Simpson quadrature by recursion, its integrand written where it is used, or a function in the annotated module or
//! outside it.

use autobatch::{autobatch, same};
use autobatch_bench::inputs::Numbers;

use crate::style::{AnyStyle, Style};

const MEMBERS: usize = 16_384;
const TOLERANCE: f64 = 1e-9;

/// What all members share.
struct Params {
    a: f64,
    b: f64,
    c: f64,
}

const PARAMS: Params = Params { a: 1.5, b: 0.7, c: 0.01 };

fn rational(x: f64, p: &Params) -> f64 {
    let y = p.a * x - p.b;
    y * y * y * 0.1 + 1.0 / (p.c + y * y)
}

#[autobatch]
fn outside(lo: f64, hi: f64, tol: f64, p: &Params) -> f64 {
    let (mid, h) = (0.5 * (lo + hi), hi - lo);
    let (f0, f1, f2) = (rational(lo, p), rational(mid, p), rational(hi, p));
    let (f3, f4) = (rational(0.5 * (lo + mid), p), rational(0.5 * (mid + hi), p));
    let whole = h / 6.0 * (f0 + 4.0 * f1 + f2);
    let halves = h / 12.0 * (f0 + 4.0 * f3 + 2.0 * f1 + 4.0 * f4 + f2);
    let error = halves - whole;
    if error.abs() <= 15.0 * tol || h < 1e-6 {
        return halves + error / 15.0;
    }
    outside(lo, mid, 0.5 * tol, p) + outside(mid, hi, 0.5 * tol, p)
}

#[autobatch]
mod beside {
    use super::Params;

    fn rational(x: f64, p: &Params) -> f64 {
        let y = p.a * x - p.b;
        y * y * y * 0.1 + 1.0 / (p.c + y * y)
    }

    pub(super) fn inside(lo: f64, hi: f64, tol: f64, p: &Params) -> f64 {
        let (mid, h) = (0.5 * (lo + hi), hi - lo);
        let (f0, f1, f2) = (rational(lo, p), rational(mid, p), rational(hi, p));
        let (f3, f4) = (rational(0.5 * (lo + mid), p), rational(0.5 * (mid + hi), p));
        let whole = h / 6.0 * (f0 + 4.0 * f1 + f2);
        let halves = h / 12.0 * (f0 + 4.0 * f3 + 2.0 * f1 + 4.0 * f4 + f2);
        let error = halves - whole;
        if error.abs() <= 15.0 * tol || h < 1e-6 {
            return halves + error / 15.0;
        }
        inside(lo, mid, 0.5 * tol, p) + inside(mid, hi, 0.5 * tol, p)
    }
}

#[autobatch]
fn inline(lo: f64, hi: f64, tol: f64, p: &Params) -> f64 {
    let (mid, h) = (0.5 * (lo + hi), hi - lo);
    let y = p.a * lo - p.b;
    let f0 = y * y * y * 0.1 + 1.0 / (p.c + y * y);
    let y = p.a * mid - p.b;
    let f1 = y * y * y * 0.1 + 1.0 / (p.c + y * y);
    let y = p.a * hi - p.b;
    let f2 = y * y * y * 0.1 + 1.0 / (p.c + y * y);
    let y = p.a * (0.5 * (lo + mid)) - p.b;
    let f3 = y * y * y * 0.1 + 1.0 / (p.c + y * y);
    let y = p.a * (0.5 * (mid + hi)) - p.b;
    let f4 = y * y * y * 0.1 + 1.0 / (p.c + y * y);
    let whole = h / 6.0 * (f0 + 4.0 * f1 + f2);
    let halves = h / 12.0 * (f0 + 4.0 * f3 + 2.0 * f1 + 4.0 * f4 + f2);
    let error = halves - whole;
    if error.abs() <= 15.0 * tol || h < 1e-6 {
        return halves + error / 15.0;
    }
    inline(lo, mid, 0.5 * tol, p) + inline(mid, hi, 0.5 * tol, p)
}

/// The ends of each member's interval.
#[derive(Clone)]
struct Intervals {
    lo: Vec<f64>,
    hi: Vec<f64>,
}

impl Intervals {
    fn new(members: usize) -> Intervals {
        let mut numbers = Numbers::new(23);
        let lo: Vec<f64> = (0..members).map(|_| numbers.within(-1.0, 1.0)).collect();
        let hi = lo.iter().map(|lo| lo + numbers.within(0.1, 2.0)).collect();
        Intervals { lo, hi }
    }
}

pub(crate) fn styles(members: Option<usize>) -> Vec<AnyStyle> {
    let members = members.unwrap_or(MEMBERS);
    let inputs = Intervals::new(members);
    let none = vec![(); members];
    vec![
        Style {
            name: "quadrature, integrand inline",
            inputs: inputs.clone(),
            states: none.clone(),
            scalar: |i, m, ()| inline(i.lo[m], i.hi[m], TOLERANCE, &PARAMS),
            batched: |i, _, options| inline_batched_with(&i.lo, &i.hi, same(TOLERANCE), &PARAMS, options),
        }
        .any(),
        Style {
            name: "quadrature, helper in the module",
            inputs: inputs.clone(),
            states: none.clone(),
            scalar: |i, m, ()| beside::inside(i.lo[m], i.hi[m], TOLERANCE, &PARAMS),
            batched: |i, _, options| {
                beside::inside_batched_with(&i.lo, &i.hi, same(TOLERANCE), &PARAMS, options)
            },
        }
        .any(),
        Style {
            name: "quadrature, helper outside",
            inputs,
            states: none,
            scalar: |i, m, ()| outside(i.lo[m], i.hi[m], TOLERANCE, &PARAMS),
            batched: |i, _, options| outside_batched_with(&i.lo, &i.hi, same(TOLERANCE), &PARAMS, options),
        }
        .any(),
    ]
}
