//! Rubin's eight schools.

use crate::{Model, Real};

const SCHOOLS: usize = 8;

/// Rubin's eight schools, non-centred: `y_i ~ N(mu + tau * offset_i, sigma_i)`, `offset_i ~ N(0, 1)`,
/// `mu ~ N(0, 5)`, `tau ~ half-Cauchy(0, 5)`.
///
/// The parameters are `(mu, ln tau, offset_1, …, offset_8)`; reported are `mu`, `tau` and the effects
/// `theta_i = mu + tau * offset_i`.
///
/// ```
/// use autobatch_nuts::{Model, models::EightSchools};
///
/// let model = EightSchools::<f64>::new();
/// assert_eq!((model.dim(), model.names()[0].as_str()), (10, "mu"));
/// ```
#[derive(Clone, Debug)]
pub struct EightSchools<T> {
    y: [T; SCHOOLS],
    sigma: [T; SCHOOLS],
}

impl<T: Real> EightSchools<T> {
    /// The published data.
    #[expect(clippy::new_without_default, reason = "data, not a default")]
    pub fn new() -> Self {
        Self {
            y: [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0].map(T::of),
            sigma: [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0].map(T::of),
        }
    }
}

impl<T: Real> Model<T> for EightSchools<T> {
    fn dim(&self) -> usize {
        SCHOOLS + 2
    }

    fn gradient(&self, x: &[T], grad: &mut [T]) -> T {
        let (one, two) = (T::one(), T::of(2.0));
        let (mu, tau) = (x[0], x[1].exp());
        let heavy = (tau / T::of(5.0)) * (tau / T::of(5.0));
        let mut lp = x[1] - heavy.ln_1p() - mu * mu / T::of(50.0);
        grad[0] = -mu / T::of(25.0);
        let mut by_tau = T::zero();
        for i in 0..SCHOOLS {
            let offset = x[i + 2];
            let residual = (self.y[i] - mu - tau * offset) / self.sigma[i];
            let pull = residual / self.sigma[i];
            lp -= (residual * residual + offset * offset) / two;
            grad[0] += pull;
            by_tau += pull * offset;
            grad[i + 2] = tau * pull - offset;
        }
        // Written so that an overflowing tau gives a limit, not inf / inf.
        grad[1] = one - two / (one + one / heavy) + tau * by_tau;
        lp
    }

    fn names(&self) -> Vec<String> {
        let effects = (1..=SCHOOLS).map(|i| format!("theta_{i}"));
        ["mu", "tau"].map(str::to_owned).into_iter().chain(effects).collect()
    }

    fn quantities(&self, x: &[T]) -> Vec<f64> {
        let (mu, tau) = (x[0].double(), x[1].double().exp());
        [mu, tau].into_iter().chain(x[2..].iter().map(|offset| mu + tau * offset.double())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::testing::{difference, is_the_slope};

    #[test]
    fn gradient_is_the_slope_of_the_density() {
        let q: Vec<f64> = (0..10).map(|i| 0.3 * f64::from(i) - 1.1).collect();
        is_the_slope(&EightSchools::new(), &q, 1e-7);
        assert_eq!(difference(&EightSchools::<f32>::new(), 5, 3.0), 0.0);
    }

    #[test]
    fn density_is_the_product_of_the_stated_ones() {
        let model = EightSchools::<f64>::new();
        let log_density = |q: &[f64]| {
            let (mu, tau) = (q[0], q[1].exp());
            let normal = |x: f64, m: f64, s: f64| -((x - m) / s).powi(2) / 2.0;
            let cauchy = -(1.0 + (tau / 5.0).powi(2)).ln();
            let schools: f64 = (0..SCHOOLS)
                .map(|i| normal(model.y[i], mu + tau * q[i + 2], model.sigma[i]) + normal(q[i + 2], 0.0, 1.0))
                .sum();
            schools + normal(mu, 0.0, 5.0) + cauchy + q[1]
        };
        let (a, b) = (Vec::from_iter((0..10).map(|i| 0.9 - 0.2 * f64::from(i))), [0.2; 10]);
        let mut unused = [0.0; 10];
        let difference = model.gradient(&a, &mut unused) - model.gradient(&b, &mut unused);
        assert!((difference - (log_density(&a) - log_density(&b))).abs() < 1e-12);
    }

    #[test]
    fn a_huge_spread_has_a_finite_slope() {
        let mut grad = [0.0; 10];
        let mut q = [0.0; 10];
        q[1] = 400.0;
        EightSchools::<f64>::new().gradient(&q, &mut grad);
        assert_eq!(grad[1], -1.0);
    }
}
