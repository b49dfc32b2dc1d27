//! The roots of polynomials by bisection with interval bounds: search trees of a different shape in each member.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::Numbers;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
mod search {
    /// The product of two intervals.
    fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        let (p, q, r, s) = (a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1);
        (p.min(q).min(r.min(s)), p.max(q).max(r.max(s)))
    }

    /// x⁵ - ax³ + bx + c
    fn value(a: f64, b: f64, c: f64, x: f64) -> f64 {
        ((x * x - a) * (x * x) + b) * x + c
    }

    /// Whether there is no root between two numbers, 0, or one, 1; 2 if that is not seen.
    fn judge(a: f64, b: f64, c: f64, low: f64, high: f64) -> u32 {
        let x = (low, high);
        let square = times(x, x);
        let square = (square.0.max(0.0), square.1);
        let bounds = times((square.0 - a, square.1 - a), square);
        let bounds = times((bounds.0 + b, bounds.1 + b), x);
        if bounds.0 + c > 0.0 || bounds.1 + c < 0.0 {
            return 0;
        }
        let slope = times((5.0 * square.0 - 3.0 * a, 5.0 * square.1 - 3.0 * a), square);
        if slope.0 + b > 0.0 || slope.1 + b < 0.0 {
            // Monotone: its ends tell.
            return if (value(a, b, c, low) <= 0.0) != (value(a, b, c, high) <= 0.0) { 1 } else { 0 };
        }
        2
    }

    fn bisect(a: f64, b: f64, c: f64, low: f64, high: f64, depth: u32) -> u32 {
        let seen = judge(a, b, c, low, high);
        if seen < 2 {
            return seen;
        }
        if depth == 0 {
            return 1;
        }
        let middle = 0.5 * (low + high);
        bisect(a, b, c, low, middle, depth - 1) + bisect(a, b, c, middle, high, depth - 1)
    }

    /// The number of roots between -3 and 3.
    pub(super) fn roots(a: f64, b: f64, c: f64) -> u32 {
        bisect(a, b, c, -3.0, 3.0, 40)
    }

    fn leftmost(a: f64, b: f64, c: f64, low: f64, high: f64, depth: u32) -> f64 {
        let seen = judge(a, b, c, low, high);
        if seen < 2 {
            return if seen == 0 { f64::INFINITY } else { low };
        }
        if depth == 0 {
            return low;
        }
        let middle = 0.5 * (low + high);
        let found = leftmost(a, b, c, low, middle, depth - 1);
        if found < f64::INFINITY {
            return found;
        }
        leftmost(a, b, c, middle, high, depth - 1)
    }

    /// The lower end of an interval that has the first root between -3 and 3, and no other; infinity if there is none.
    pub(super) fn first_root(a: f64, b: f64, c: f64) -> f64 {
        leftmost(a, b, c, -3.0, 3.0, 40)
    }
}

counterpart! {
    fn ispc_roots(columns(a: f64, b: f64, c: f64)) -> u32
}
counterpart! {
    fn ispc_first_root(columns(a: f64, b: f64, c: f64)) -> f64
}

/// Polynomials with up to five roots.
pub struct Roots {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Kernel for Roots {
    type Value = u32;
    const NAME: &'static str = "roots";
    const MEMBERS: usize = 32_768;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        let mut numbers = Numbers::new(12);
        let mut column = |low, high| (0..members).map(|_| numbers.within(low, high)).collect::<Vec<f64>>();
        Roots { a: column(0.0, 5.0), b: column(0.0, 4.0), c: column(-0.5, 0.5) }
    }

    fn members(&self) -> usize {
        self.a.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u32 {
        search::roots(self.a[i], self.b[i], self.c[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u32>, BatchError> {
        search::roots_batched_with(&self.a, &self.b, &self.c, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u32]) {
        ispc_roots(target, first, &self.a, &self.b, &self.c, out);
    }
}

/// The same polynomials: the search ends with the first root, and one half of an interval is searched only where the
/// other has none.
pub struct FirstRoot(Roots);

impl Kernel for FirstRoot {
    type Value = f64;
    const NAME: &'static str = "first_root";
    const MEMBERS: usize = Roots::MEMBERS;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        FirstRoot(Roots::new(members))
    }

    fn members(&self) -> usize {
        self.0.members()
    }

    #[inline]
    fn scalar(&self, i: usize) -> f64 {
        search::first_root(self.0.a[i], self.0.b[i], self.0.c[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<f64>, BatchError> {
        search::first_root_batched_with(&self.0.a, &self.0.b, &self.0.c, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [f64]) {
        ispc_first_root(target, first, &self.0.a, &self.0.b, &self.0.c, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_changes_of_sign() {
        let kernel = Roots::new(200);
        for i in 0..200 {
            let (a, b, c) = (kernel.a[i], kernel.b[i], kernel.c[i]);
            let at = |step: i32| {
                let x = f64::from(step) / 4000.0;
                ((x * x - a) * (x * x) + b) * x + c
            };
            let changes =
                (-12_000..12_000).filter(|&step| (at(step) <= 0.0) != (at(step + 1) <= 0.0)).count();
            assert_eq!(kernel.scalar(i) as usize, changes, "{a} {b} {c}");
            let first = (-12_000..12_000).find(|&step| (at(step) <= 0.0) != (at(step + 1) <= 0.0));
            let first = first.map_or(f64::INFINITY, |step| f64::from(step) / 4000.0);
            // The interval begins below the root, and has no other.
            let found = search::first_root(a, b, c);
            assert!(
                found <= first && (first.is_finite() == found.is_finite()),
                "{a} {b} {c}: {found}, {first}"
            );
        }
    }
}
