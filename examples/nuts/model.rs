//! The posterior that is sampled, and points on its Hamiltonian trajectories.

/// Number of schools.
pub(crate) const SCHOOLS: usize = 8;
/// Number of parameters: the mean effect, the log of its spread, and one offset per school.
pub(crate) const DIM: usize = SCHOOLS + 2;

/// A position, a momentum or a gradient.
pub(crate) type Vector = [f64; DIM];

/// Rubin's eight schools, non-centred: `y_i ~ N(mu + tau * offset_i, sigma_i)`, `offset_i ~ N(0, 1)`,
/// `mu ~ N(0, 5)`, `tau ~ half-Cauchy(0, 5)`.
///
/// A position is `(mu, ln tau, offset_1, …, offset_8)`, each divided by its `scale`. Changing the scale is
/// the same as changing a diagonal mass matrix, but it leaves the sampler as simple as it is in the paper.
#[derive(Clone, Debug)]
pub(crate) struct EightSchools {
    y: [f64; SCHOOLS],
    sigma: [f64; SCHOOLS],
    scale: Vector,
}

impl EightSchools {
    /// The published data, with all scales one.
    pub(crate) fn new() -> Self {
        Self {
            y: [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0],
            sigma: [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0],
            scale: [1.0; DIM],
        }
    }

    /// The same posterior with other scales.
    pub(crate) fn with_scale(&self, scale: Vector) -> Self {
        Self { scale, ..self.clone() }
    }

    /// A position in the model's own units: `(mu, ln tau, offset_1, …)`.
    pub(crate) fn unscaled(&self, q: &Vector) -> Vector {
        std::array::from_fn(|i| q[i] * self.scale[i])
    }

    /// The inverse of [`unscaled`](Self::unscaled).
    pub(crate) fn scaled(&self, x: &Vector) -> Vector {
        std::array::from_fn(|i| x[i] / self.scale[i])
    }

    /// What a statistician reports about a position: `mu`, `tau` and the eight effects.
    pub(crate) fn quantities(&self, q: &Vector) -> Vector {
        let x = self.unscaled(q);
        let (mu, tau) = (x[0], x[1].exp());
        std::array::from_fn(|i| match i {
            0 => mu,
            1 => tau,
            _ => mu + tau * x[i],
        })
    }

    /// Names of the [`quantities`](Self::quantities).
    pub(crate) fn names() -> [String; DIM] {
        std::array::from_fn(|i| match i {
            0 => "mu".to_owned(),
            1 => "tau".to_owned(),
            _ => format!("theta_{}", i - 1),
        })
    }

    /// Log density (up to a constant, Jacobian of `ln tau` included) and its gradient.
    pub(crate) fn gradient(&self, q: &Vector) -> (f64, Vector) {
        let x = self.unscaled(q);
        let (mu, tau) = (x[0], x[1].exp());
        let heavy = (tau / 5.0) * (tau / 5.0);
        let mut lp = x[1] - heavy.ln_1p() - mu * mu / 50.0;
        let mut grad = [0.0; DIM];
        grad[0] = -mu / 25.0;
        let mut by_tau = 0.0;
        for i in 0..SCHOOLS {
            let offset = x[i + 2];
            let residual = (self.y[i] - mu - tau * offset) / self.sigma[i];
            let pull = residual / self.sigma[i];
            lp -= (residual * residual + offset * offset) / 2.0;
            grad[0] += pull;
            by_tau += pull * offset;
            grad[i + 2] = tau * pull - offset;
        }
        // Written so that an overflowing tau gives a limit, not inf / inf.
        grad[1] = 1.0 - 2.0 / (1.0 + 1.0 / heavy) + tau * by_tau;
        for (slope, scale) in grad.iter_mut().zip(&self.scale) {
            *slope *= scale;
        }
        (lp, grad)
    }
}

/// A state of the Hamiltonian system: position and momentum, with the log density and gradient there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) q: Vector,
    pub(crate) p: Vector,
    pub(crate) grad: Vector,
    pub(crate) lp: f64,
}

impl Point {
    /// A point at rest.
    pub(crate) fn at(model: &EightSchools, q: Vector) -> Self {
        let (lp, grad) = model.gradient(&q);
        Self { q, p: [0.0; DIM], grad, lp }
    }

    /// Log of the joint density of position and momentum.
    pub(crate) fn energy(&self) -> f64 {
        self.lp - dot(&self.p, &self.p) / 2.0
    }

    /// One leapfrog step; a negative step goes back in time.
    pub(crate) fn leapfrog(mut self, model: &EightSchools, step: f64) -> Self {
        for i in 0..DIM {
            self.p[i] += step / 2.0 * self.grad[i];
            self.q[i] += step * self.p[i];
        }
        (self.lp, self.grad) = model.gradient(&self.q);
        for i in 0..DIM {
            self.p[i] += step / 2.0 * self.grad[i];
        }
        self
    }
}

/// Whether a trajectory from `back` to `front` has begun to turn round at either end.
pub(crate) fn turned(back: &Point, front: &Point) -> bool {
    let span: Vector = std::array::from_fn(|i| front.q[i] - back.q[i]);
    // Not `<=`: an end that is not a number counts as turned.
    !(dot(&span, &front.p) > 0.0 && dot(&span, &back.p) > 0.0)
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn somewhere() -> Point {
        let model = EightSchools::new();
        let q = std::array::from_fn(|i| 0.3 * (i as f64) - 1.1);
        let mut z = Point::at(&model, q);
        z.p = std::array::from_fn(|i| 0.9 - 0.17 * (i as f64));
        z
    }

    #[test]
    fn gradient_is_the_slope_of_the_density() {
        let scale = std::array::from_fn(|i| 0.5 + 0.25 * (i as f64));
        for model in [EightSchools::new(), EightSchools::new().with_scale(scale)] {
            let q = somewhere().q;
            let (_, grad) = model.gradient(&q);
            for i in 0..DIM {
                let h = 1e-5;
                let (mut above, mut below) = (q, q);
                above[i] += h;
                below[i] -= h;
                let slope = (model.gradient(&above).0 - model.gradient(&below).0) / (2.0 * h);
                assert!((slope - grad[i]).abs() < 1e-7 * (1.0 + slope.abs()), "{i}: {slope} {}", grad[i]);
            }
        }
    }

    #[test]
    fn density_is_the_product_of_the_stated_ones() {
        let model = EightSchools::new();
        let log_density = |q: &Vector| {
            let (mu, tau) = (q[0], q[1].exp());
            let normal = |x: f64, m: f64, s: f64| -((x - m) / s).powi(2) / 2.0;
            let cauchy = -(1.0 + (tau / 5.0).powi(2)).ln();
            let schools: f64 = (0..SCHOOLS)
                .map(|i| normal(model.y[i], mu + tau * q[i + 2], model.sigma[i]) + normal(q[i + 2], 0.0, 1.0))
                .sum();
            schools + normal(mu, 0.0, 5.0) + cauchy + q[1]
        };
        let (a, b) = (somewhere().q, [0.2; DIM]);
        let difference = model.gradient(&a).0 - model.gradient(&b).0;
        assert!((difference - (log_density(&a) - log_density(&b))).abs() < 1e-12);
    }

    #[test]
    fn scaling_round_trips() {
        let model = EightSchools::new().with_scale(std::array::from_fn(|i| 2.0 + i as f64));
        let q = somewhere().q;
        let again = model.scaled(&model.unscaled(&q));
        assert!(q.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    #[test]
    fn leapfrog_keeps_the_energy_to_second_order() {
        let model = EightSchools::new();
        let drift = |step: f64, steps: u32| {
            let mut z = somewhere();
            let start = z.energy();
            for _ in 0..steps {
                z = z.leapfrog(&model, step);
            }
            (z.energy() - start).abs()
        };
        let (coarse, fine) = (drift(0.02, 50), drift(0.01, 100));
        assert!(coarse < 1e-2, "{coarse}");
        assert!((3.0..5.0).contains(&(coarse / fine)), "{coarse} {fine}");
    }

    #[test]
    fn leapfrog_is_reversible() {
        let model = EightSchools::new();
        let mut z = somewhere();
        for step in [0.1, 0.1, 0.1, -0.1, -0.1, -0.1] {
            z = z.leapfrog(&model, step);
        }
        let start = somewhere();
        assert!(z.q.iter().zip(&start.q).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(z.p.iter().zip(&start.p).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn a_trajectory_turns_when_an_end_moves_back() {
        let (back, mut front) = (somewhere(), somewhere());
        front.q = std::array::from_fn(|i| back.q[i] + back.p[i]);
        assert!(!turned(&back, &front));
        front.p = std::array::from_fn(|i| -back.p[i]);
        assert!(turned(&back, &front));
        front.p[0] = f64::NAN;
        assert!(turned(&back, &front));
    }
}
