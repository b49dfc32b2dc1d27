//! Adaptive Simpson quadrature: binary recursion, as deep as the integrand asks for.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::{shuffled, spread};
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
mod quadrature {
    fn integrand(x: f64, k: f64) -> f64 {
        1.0 / (1.0 + k * x * x) + x * x
    }

    fn simpson(
        k: f64,
        a: f64,
        fa: f64,
        b: f64,
        fb: f64,
        m: f64,
        fm: f64,
        whole: f64,
        eps: f64,
        depth: i32,
    ) -> f64 {
        let (lm, rm) = (0.5 * (a + m), 0.5 * (m + b));
        let (flm, frm) = (integrand(lm, k), integrand(rm, k));
        let left = (m - a) * (1.0 / 6.0) * (fa + 4.0 * flm + fm);
        let right = (b - m) * (1.0 / 6.0) * (fm + 4.0 * frm + fb);
        let delta = left + right - whole;
        if depth <= 0 || delta.abs() <= 15.0 * eps {
            return left + right + delta * (1.0 / 15.0);
        }
        simpson(k, a, fa, m, fm, lm, flm, left, eps * 0.5, depth - 1)
            + simpson(k, m, fm, b, fb, rm, frm, right, eps * 0.5, depth - 1)
    }

    pub(super) fn integrate(k: f64, #[shared] eps: f64) -> f64 {
        let (fa, fb, fm) = (integrand(-1.0, k), integrand(1.0, k), integrand(0.0, k));
        let whole = 2.0 * (1.0 / 6.0) * (fa + 4.0 * fm + fb);
        simpson(k, -1.0, fa, 1.0, fb, 0.0, fm, whole, eps, 40)
    }
}

counterpart! {
    fn ispc_simpson(columns(k: f64), uniform(eps: f64)) -> f64
}

const EPS: f64 = 1e-9;

/// Integrands with an ever narrower peak, or in a pseudo-random order.
pub struct Simpson<const SHUFFLED: bool> {
    k: Vec<f64>,
}

impl<const SHUFFLED: bool> Kernel for Simpson<SHUFFLED> {
    type Value = f64;
    const NAME: &'static str = if SHUFFLED { "simpson_shuffled" } else { "simpson" };
    const MEMBERS: usize = 8192;
    const PEER: Agreement = Agreement::Close { tolerance: 1e-8, except: 0.0 };

    fn new(members: usize) -> Self {
        let order = if SHUFFLED { shuffled(Self::MEMBERS) } else { (0..Self::MEMBERS).collect() };
        let k = |i: usize| 1.0 + 0.1 * order[i] as f64;
        Simpson { k: spread(members, Self::MEMBERS).map(k).collect() }
    }

    fn members(&self) -> usize {
        self.k.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> f64 {
        quadrature::integrate(self.k[i], EPS)
    }

    fn batched(&self, options: &Options) -> Result<Outcome<f64>, BatchError> {
        quadrature::integrate_batched_with(&self.k, EPS, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [f64]) {
        ispc_simpson(target, first, &self.k, out, EPS);
    }
}
