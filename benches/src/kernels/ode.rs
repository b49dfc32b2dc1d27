//! An adaptive ODE solver, Bogacki and Shampine's pair of orders 2 and 3, on Van der Pol's oscillator,
//! whose stiffness differs by member.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::{shuffled, spread};
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
mod solver {
    fn acceleration(mu: f64, x: f64, v: f64) -> f64 {
        mu * (1.0 - x * x) * v - x
    }

    pub(super) fn van_der_pol(mu: f64, #[shared] end: f64, #[shared] tolerance: f64) -> f64 {
        let (mut t, mut h) = (0.0, 1e-2);
        let (mut x, mut v) = (2.0, 0.0);
        let mut a = acceleration(mu, x, v);
        while t < end {
            if t + h > end {
                h = end - t;
            }
            let (v2, x2) = (v + 0.5 * h * a, x + 0.5 * h * v);
            let a2 = acceleration(mu, x2, v2);
            let (v3, x3) = (v + 0.75 * h * a2, x + 0.75 * h * v2);
            let a3 = acceleration(mu, x3, v3);
            let x_new = x + h * (2.0 * v + 3.0 * v2 + 4.0 * v3) * (1.0 / 9.0);
            let v_new = v + h * (2.0 * a + 3.0 * a2 + 4.0 * a3) * (1.0 / 9.0);
            let a_new = acceleration(mu, x_new, v_new);
            let x_error = h * (-5.0 * v + 6.0 * v2 + 8.0 * v3 - 9.0 * v_new) * (1.0 / 72.0);
            let v_error = h * (-5.0 * a + 6.0 * a2 + 8.0 * a3 - 9.0 * a_new) * (1.0 / 72.0);
            let error = x_error.abs().max(v_error.abs());
            if error <= tolerance {
                t += h;
                (x, v, a) = (x_new, v_new, a_new);
                if error < 0.05 * tolerance {
                    h *= 2.0;
                }
            } else {
                h *= 0.5;
            }
        }
        x
    }
}

counterpart! {
    fn ispc_ode(columns(mu: f64), uniform(end: f64, tolerance: f64)) -> f64
}

const END: f64 = 10.0;
const TOLERANCE: f64 = 1e-5;

/// Oscillators from nearly harmonic to stiff, in a pseudo-random order.
pub struct Ode {
    mu: Vec<f64>,
}

impl Kernel for Ode {
    type Value = f64;
    const NAME: &'static str = "ode";
    const MEMBERS: usize = 4096;
    // A rounding moves the moment of a steep jump.
    const PEER: Agreement = Agreement::Close { tolerance: 1e-2, except: 0.01 };

    fn new(members: usize) -> Self {
        let order = shuffled(Self::MEMBERS);
        let mu = |i: usize| 0.1 * 300f64.powf(order[i] as f64 / Self::MEMBERS as f64);
        Ode { mu: spread(members, Self::MEMBERS).map(mu).collect() }
    }

    fn members(&self) -> usize {
        self.mu.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> f64 {
        solver::van_der_pol(self.mu[i], END, TOLERANCE)
    }

    fn batched(&self, options: &Options) -> Result<Outcome<f64>, BatchError> {
        solver::van_der_pol_batched_with(&self.mu, END, TOLERANCE, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [f64]) {
        ispc_ode(target, first, &self.mu, out, END, TOLERANCE);
    }
}
