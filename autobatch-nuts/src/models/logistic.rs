//! Bayesian logistic regression.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice};
use pulp::Arch;
use rand::SeedableRng as _;

use crate::{Generator, Model, Real};

/// Logistic regression `P(y_i = 1) = 1 / (1 + exp(-x_i · beta))` with the prior `beta ~ N(0, 1)`.
///
/// The batched kernel is two products of matrices. It does not add in the order in which the scalar gradient
/// does, and so the two agree to rounding only: batched chains and scalar ones begin alike, and then are different
/// draws from the same posterior, as chains of a program on two machines are.
///
/// ```
/// use autobatch_nuts::{Model, models::LogisticRegression};
///
/// let model = LogisticRegression::<f64>::synthetic(1_000, 10, 1); // points, regressors, seed
/// assert_eq!(model.dim(), 10);
/// ```
#[derive(Clone, Debug)]
pub struct LogisticRegression<T> {
    x: Array2<T>,
    /// Zeros and ones.
    y: Vec<T>,
}

/// Numbers of a block of `x · beta` for all chains, so that it stays in the second-level cache.
const BLOCK: usize = 1 << 15;

impl<T: Real> LogisticRegression<T> {
    /// A row of `x` per point, and whether it was a success.
    ///
    /// # Panics
    ///
    /// If there is not one `y` per row.
    pub fn new(x: Array2<T>, y: &[bool]) -> Self {
        assert_eq!(x.nrows(), y.len(), "one outcome per row of x");
        let y = y.iter().map(|&success| if success { T::one() } else { T::zero() }).collect();
        Self { x: x.as_standard_layout().into_owned(), y }
    }

    /// Made up: regressors and coefficients are standard normal, those divided by the root of their number.
    pub fn synthetic(points: usize, regressors: usize, seed: u64) -> Self {
        Self::made(points, regressors, seed, |_| 1.0, 0.0)
    }

    /// Made up: as [`synthetic`](Self::synthetic), but neighbouring regressors have the correlation 0.9, and
    /// they are scaled from 0.1 to 10. Trajectories of different chains differ in length.
    pub fn correlated(points: usize, regressors: usize, seed: u64) -> Self {
        let scale = |k: usize| 10.0_f64.powf(2.0 * k as f64 / (regressors.max(2) - 1) as f64 - 1.0);
        Self::made(points, regressors, seed, scale, 0.9)
    }

    fn made(points: usize, regressors: usize, seed: u64, scale: impl Fn(usize) -> f64, rho: f64) -> Self {
        let mut rng = Generator::seed_from_u64(seed);
        let width = (regressors as f64).sqrt();
        let beta: Vec<f64> = (0..regressors).map(|k| f64::normal(&mut rng) / width / scale(k)).collect();
        let mut x = Array2::zeros((points, regressors));
        let mut y = Vec::with_capacity(points);
        for mut row in x.rows_mut() {
            let (mut last, mut eta) = (0.0, 0.0);
            for (k, x) in row.iter_mut().enumerate() {
                let share = if k == 0 { 0.0 } else { rho };
                last = share * last + (1.0 - share * share).sqrt() * f64::normal(&mut rng);
                *x = T::of(last * scale(k));
                eta += last * scale(k) * beta[k];
            }
            y.push(f64::uniform(&mut rng) < 1.0 / (1.0 + (-eta).exp()));
        }
        Self::new(x, &y)
    }

    /// The two products of [`Model::gradients`] alone: what the rest is measured against.
    pub fn bare_products(&self, q: ArrayView2<'_, T>, mut grad: ArrayViewMut2<'_, T>) {
        grad.fill(T::zero());
        self.blocks(q, grad, |_, _| ());
    }

    /// For each block of points, `x · q`, what `between` makes of it, and that times `x` added to `grad`.
    fn blocks(
        &self,
        q: ArrayView2<'_, T>,
        mut grad: ArrayViewMut2<'_, T>,
        mut between: impl FnMut(ArrayViewMut2<'_, T>, &[T]),
    ) {
        let chains = q.nrows();
        let points = (BLOCK / chains.max(1)).clamp(64, 1024);
        let mut eta = Array2::zeros((points, chains));
        for (x, y) in self.x.axis_chunks_iter(Axis(0), points).zip(self.y.chunks(points)) {
            let mut eta = eta.slice_axis_mut(Axis(0), Slice::from(..y.len()));
            general_mat_mul(T::one(), &x, &q.t(), T::zero(), &mut eta);
            between(eta.view_mut(), y);
            general_mat_mul(T::one(), &eta.t(), &x, T::one(), &mut grad);
        }
    }
}

/// Turns `x · beta` of some points in all chains into residuals, and adds up the log likelihood: in `lp` the part
/// that is linear, in `odds` the factors of which it has the logarithm.
///
/// Not a closure: the shim through which those are called is not inlined, and then not compiled for the widest
/// instruction set.
struct Link<'a, T> {
    /// A row per point, an element per chain.
    eta: &'a mut [T],
    y: &'a [T],
    lp: &'a mut [T],
    odds: &'a mut [T],
}

impl<T: Real> pulp::NullaryFnOnce for Link<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (eta, &y) in self.eta.chunks_exact_mut(self.lp.len()).zip(self.y) {
            for ((eta, lp), odds) in eta.iter_mut().zip(&mut *self.lp).zip(&mut *self.odds) {
                let small = (-eta.abs()).vector_exp();
                let whole = T::one() + small;
                let positive = *eta > T::zero();
                *lp += y * *eta - if positive { *eta } else { T::zero() };
                *odds *= whole;
                *eta = y - if positive { T::one() } else { small } / whole;
            }
        }
    }
}

/// Factors between one and two whose product does not overflow.
fn factors<T: Real>() -> usize {
    if T::max_value().double() > 1e300 { 1000 } else { 100 }
}

impl<T: Real> Model<T> for LogisticRegression<T> {
    fn dim(&self) -> usize {
        self.x.ncols()
    }

    fn gradient(&self, q: &[T], grad: &mut [T]) -> T {
        let beta = ArrayView1::from(q);
        grad.fill(T::zero());
        let mut lp = -beta.dot(&beta) / T::of(2.0);
        for (x, &y) in self.x.rows().into_iter().zip(&self.y) {
            let eta = x.dot(&beta);
            let small = (-eta.abs()).exp();
            lp += y * eta - eta.max(T::zero()) - small.ln_1p();
            let chance = if eta > T::zero() { T::one() } else { small } / (T::one() + small);
            for (slope, &x) in grad.iter_mut().zip(x) {
                *slope += (y - chance) * x;
            }
        }
        for (slope, &beta) in grad.iter_mut().zip(q) {
            *slope -= beta;
        }
        lp
    }

    fn gradients(&self, q: ArrayView2<'_, T>, lp: &mut [T], mut grad: ArrayViewMut2<'_, T>) {
        for (lp, q) in lp.iter_mut().zip(q.rows()) {
            *lp = -q.dot(&q) / T::of(2.0);
        }
        grad.zip_mut_with(&q, |slope, beta| *slope = -*beta);
        let mut odds = vec![T::one(); q.nrows()];
        let (arch, most) = (Arch::new(), factors::<T>());
        self.blocks(q, grad, |mut eta, y| {
            let eta = eta.as_slice_mut().expect("standard layout");
            for (eta, y) in eta.chunks_mut(most * odds.len()).zip(y.chunks(most)) {
                arch.dispatch(Link { eta, y, lp, odds: &mut odds });
                for (lp, odds) in lp.iter_mut().zip(&mut odds) {
                    *lp -= odds.ln();
                    *odds = T::one();
                }
            }
        });
    }

    fn names(&self) -> Vec<String> {
        (1..=self.x.ncols()).map(|i| format!("beta_{i}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::testing::{difference, is_the_slope};

    #[test]
    fn gradient_is_the_slope_of_the_density() {
        let q: Vec<f64> = (0..7).map(|i| 0.4 * f64::from(i) - 1.0).collect();
        is_the_slope(&LogisticRegression::synthetic(200, 7, 1), &q, 1e-6);
        is_the_slope(&LogisticRegression::correlated(200, 7, 1), &q, 1e-5);
    }

    #[test]
    fn the_kernel_agrees_to_rounding() {
        for chains in [1, 3, 64, 300] {
            let model = LogisticRegression::<f64>::synthetic(1500, 9, 2);
            assert!(difference(&model, chains, 4.0) < 1e-13, "{chains}");
            let model = LogisticRegression::<f32>::correlated(1500, 9, 2);
            assert!(difference(&model, chains, 4.0) < 1e-4, "{chains}");
        }
        assert_eq!(difference(&LogisticRegression::<f64>::synthetic(0, 2, 2), 2, 4.0), 0.0);
    }

    #[test]
    fn certainty_does_not_overflow() {
        let x = Array2::from_shape_fn((2000, 1), |(i, _)| if i % 2 == 0 { 1.0 } else { -1.0 });
        let y: Vec<bool> = (0..2000).map(|i| i % 2 == 0).collect();
        let model = LogisticRegression::<f64>::new(x, &y);
        for (beta, at_most) in [(1e4, -5e7), (-1e4, -5e7), (0.0, -1386.0)] {
            let (mut lp, mut grad) = ([0.0], Array2::zeros((1, 1)));
            model.gradients(Array2::from_elem((1, 1), beta).view(), &mut lp, grad.view_mut());
            assert!(lp[0].is_finite() && lp[0] <= at_most && grad[[0, 0]].is_finite(), "{beta} {lp:?}");
        }
    }
}
