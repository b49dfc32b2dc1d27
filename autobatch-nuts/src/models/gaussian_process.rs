//! Regression with a Gaussian process.

#![expect(clippy::needless_range_loop, reason = "matrices are indexed as in the formulas")]

use crate::{Model, Real};

const POINTS: usize = 11;

type Matrix<T> = [[T; POINTS]; POINTS];

/// Gaussian-process regression on eleven points, with a squared-exponential kernel `alpha² exp(-d² / (2 rho²))`,
/// `sigma` added to the diagonal, and priors `rho ~ Gamma(25, 4)`, `alpha ~ half-N(0, 2)`, `sigma ~ half-N(0, 1)`.
///
/// The parameters are `(ln rho, ln alpha, ln sigma)`; reported are `rho`, `alpha` and `sigma`.
///
/// ```
/// use autobatch_nuts::{Model, models::GaussianProcess};
///
/// assert_eq!(GaussianProcess::<f64>::new().quantities(&[0.0, 0.0, 0.0]), [1.0, 1.0, 1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct GaussianProcess<T> {
    y: [T; POINTS],
    /// Squared distances between the points.
    apart: Matrix<T>,
}

impl<T: Real> GaussianProcess<T> {
    /// The data of the posterior `gp_pois_regr-gp_regr` of posteriordb.
    #[expect(clippy::new_without_default, reason = "data, not a default")]
    pub fn new() -> Self {
        let x = |i: usize| 2.0 * i as f64 - 10.0;
        let y = [
            4.75906, 1.59423, 2.99548, 5.27501, 1.66472, 2.24347, 2.8914, 4.08681, 4.60588, 0.802364, 3.92136,
        ];
        let apart = std::array::from_fn(|i| std::array::from_fn(|j| T::of((x(i) - x(j)) * (x(i) - x(j)))));
        Self { y: y.map(T::of), apart }
    }
}

/// The inverse of the Cholesky factor of `k`, and the logarithm of the factor's determinant; not finite if `k`
/// is not positive definite.
fn factor<T: Real>(k: &Matrix<T>) -> (Matrix<T>, T) {
    let mut l = [[T::zero(); POINTS]; POINTS];
    let mut log_det = T::zero();
    for j in 0..POINTS {
        let mut square = k[j][j];
        for x in &l[j][..j] {
            square -= *x * *x;
        }
        l[j][j] = square.sqrt();
        log_det += l[j][j].ln();
        for i in j + 1..POINTS {
            let mut sum = k[i][j];
            for m in 0..j {
                sum -= l[i][m] * l[j][m];
            }
            l[i][j] = sum / l[j][j];
        }
    }
    let mut inverse = [[T::zero(); POINTS]; POINTS];
    for j in 0..POINTS {
        inverse[j][j] = l[j][j].recip();
        for i in j + 1..POINTS {
            let mut sum = T::zero();
            for m in j..i {
                sum -= l[i][m] * inverse[m][j];
            }
            inverse[i][j] = sum / l[i][i];
        }
    }
    (inverse, log_det)
}

impl<T: Real> Model<T> for GaussianProcess<T> {
    fn dim(&self) -> usize {
        3
    }

    fn gradient(&self, q: &[T], grad: &mut [T]) -> T {
        let (zero, two) = (T::zero(), T::of(2.0));
        let (rho, alpha, sigma) = (q[0].exp(), q[1].exp(), q[2].exp());
        let (square, width) = (alpha * alpha, rho * rho);
        let smooth: Matrix<T> =
            std::array::from_fn(|i| self.apart[i].map(|apart| square * (-apart / (two * width)).exp()));
        let mut k = smooth;
        for (i, row) in k.iter_mut().enumerate() {
            row[i] += sigma;
        }
        let (inverse, log_det) = factor(&k);
        // Column i of `inverse` begins at row i. With r = L⁻¹y, the weights K⁻¹y are L⁻ᵀr.
        let mut r = [zero; POINTS];
        for i in 0..POINTS {
            for j in 0..=i {
                r[i] += inverse[i][j] * self.y[j];
            }
        }
        let mut weights = [zero; POINTS];
        for i in 0..POINTS {
            for m in i..POINTS {
                weights[i] += inverse[m][i] * r[m];
            }
        }
        let fit = r.iter().fold(zero, |sum, r| sum + *r * *r);

        let (mut by_rho, mut by_alpha, mut by_sigma) = (zero, zero, zero);
        for i in 0..POINTS {
            for j in 0..=i {
                let mut precision = zero;
                for m in i..POINTS {
                    precision += inverse[m][i] * inverse[m][j];
                }
                // Half the derivative by K of the density, and its mirror image.
                let pull = (weights[i] * weights[j] - precision) / two;
                if i == j {
                    by_sigma += pull * sigma;
                    by_alpha += pull * smooth[i][i] * two;
                } else {
                    by_alpha += two * pull * smooth[i][j] * two;
                    by_rho += two * pull * smooth[i][j] * self.apart[i][j] / width;
                }
            }
        }
        grad[0] = by_rho + T::of(25.0) - T::of(4.0) * rho;
        grad[1] = by_alpha - square / T::of(4.0) + T::one();
        grad[2] = by_sigma - sigma * sigma + T::one();
        let priors =
            T::of(25.0) * q[0] - T::of(4.0) * rho - square / T::of(8.0) + q[1] - sigma * sigma / two + q[2];
        priors - fit / two - log_det
    }

    fn names(&self) -> Vec<String> {
        ["rho", "alpha", "sigma"].map(str::to_owned).to_vec()
    }

    fn quantities(&self, q: &[T]) -> Vec<f64> {
        q.iter().map(|x| x.double().exp()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::testing::{difference, is_the_slope};

    #[test]
    fn gradient_is_the_slope_of_the_density() {
        for q in [[1.9, 0.8, 0.5], [0.3, -1.0, 1.2], [2.5, 1.5, -2.0]] {
            is_the_slope(&GaussianProcess::new(), &q, 1e-6);
        }
        assert_eq!(difference(&GaussianProcess::<f32>::new(), 5, 2.0), 0.0);
    }

    #[test]
    fn the_factor_is_inverted() {
        let k: Matrix<f64> = std::array::from_fn(|i| {
            std::array::from_fn(|j| 0.5_f64.powi(i.abs_diff(j) as i32) + if i == j { i as f64 } else { 0.0 })
        });
        let (inverse, log_det) = factor(&k);
        for i in 0..POINTS {
            for j in 0..POINTS {
                // L⁻¹ K L⁻ᵀ
                let product: f64 = (0..POINTS)
                    .flat_map(|a| (0..POINTS).map(move |b| (a, b)))
                    .map(|(a, b)| inverse[i][a] * k[a][b] * inverse[j][b])
                    .sum();
                assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
        let diagonal: f64 = (0..POINTS).map(|i| -inverse[i][i].ln()).sum();
        assert!((log_det - diagonal).abs() < 1e-12);
        assert!(!factor(&[[1.0; POINTS]; POINTS]).0.iter().flatten().all(|x: &f64| x.is_finite()));
    }
}
