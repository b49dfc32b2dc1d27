//! A root by Newton's method, safeguarded by bisection: the compressibility of a gas after Peng and
//! Robinson.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::Numbers;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
fn compressibility(a: f64, b: f64) -> f64 {
    let c2 = b - 1.0;
    let c1 = a - (3.0 * b + 2.0) * b;
    let c0 = (b + b * b - a) * b;
    let (mut low, mut high) = (b, 2.0 + b);
    let mut z = 1.0;
    let mut steps = 0;
    while steps < 100 {
        let value = ((z + c2) * z + c1) * z + c0;
        if value < 0.0 {
            low = z;
        } else {
            high = z;
        }
        let mut next = z - value / ((3.0 * z + 2.0 * c2) * z + c1);
        if next <= low || next >= high {
            next = 0.5 * (low + high);
        }
        if (next - z).abs() <= 1e-12 {
            return next;
        }
        z = next;
        steps += 1;
    }
    z
}

counterpart! {
    fn ispc_newton(columns(a: f64, b: f64)) -> f64
}

/// Random states of a gas, near its critical point and far from it.
pub struct Newton {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Kernel for Newton {
    type Value = f64;
    const NAME: &'static str = "newton";
    const MEMBERS: usize = 262_144;
    // Near a double root a rounding decides which root is found.
    const PEER: Agreement = Agreement::Close { tolerance: 1e-6, except: 0.01 };

    fn new(members: usize) -> Self {
        let mut numbers = Numbers::new(7);
        let (a, b) = (0..members).map(|_| (numbers.within(0.05, 1.0), numbers.within(0.005, 0.12))).unzip();
        Newton { a, b }
    }

    fn members(&self) -> usize {
        self.a.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> f64 {
        compressibility(self.a[i], self.b[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<f64>, BatchError> {
        compressibility_batched_with(&self.a, &self.b, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [f64]) {
        ispc_newton(target, first, &self.a, &self.b, out);
    }
}
