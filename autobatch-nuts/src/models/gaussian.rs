//! Correlated normal distributions.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Slice};
use pulp::Arch;
use rand::SeedableRng as _;

use crate::{Generator, Model, Real};

/// A normal distribution with a dense precision matrix and mean zero.
///
/// ```
/// use autobatch_nuts::{Model, models::Gaussian};
/// use ndarray::array;
///
/// let model = Gaussian::new(array![[2.0, 1.0], [1.0, 2.0]]);
/// let mut grad = [0.0; 2];
/// assert_eq!(model.gradient(&[1.0, 0.0], &mut grad), -1.0);
/// assert_eq!(grad, [-2.0, -1.0]);
/// ```
///
/// The batched kernel is a product of matrices that adds in the order in which the scalar one does, so that
/// results are the same bit for bit.
#[derive(Clone, Debug)]
pub struct Gaussian<T> {
    precision: Array2<T>,
}

impl<T: Real> Gaussian<T> {
    /// The distribution with the given precision, i.e. inverse covariance.
    ///
    /// # Panics
    ///
    /// If the matrix is not square and symmetric.
    pub fn new(precision: Array2<T>) -> Self {
        assert!(precision.is_square(), "a precision matrix is square");
        assert!(precision == precision.t(), "a precision matrix is symmetric");
        Self { precision: precision.as_standard_layout().into_owned() }
    }

    /// A precision drawn from the Wishart distribution with the identity as its scale, as in Hoffman and Gelman
    /// (2014), who take 250 dimensions and as many degrees of `freedom`.
    pub fn wishart(dim: usize, freedom: usize, seed: u64) -> Self {
        let mut rng = Generator::seed_from_u64(seed);
        let factor = Array2::from_shape_simple_fn((dim, freedom), || f64::normal(&mut rng));
        let product = factor.dot(&factor.t());
        Self::new(Array2::from_shape_fn((dim, dim), |(i, j)| T::of(product[[i.min(j), i.max(j)]])))
    }

    /// A draw of the distribution itself. It factors the matrix each time.
    ///
    /// # Panics
    ///
    /// If the precision matrix is not positive definite.
    pub fn exact(&self, rng: &mut Generator) -> Array1<T> {
        // With the Cholesky factor L of the precision, x = L⁻ᵀz has its inverse as covariance.
        let dim = self.precision.nrows();
        let mut l = self.precision.clone();
        for j in 0..dim {
            for i in j..dim {
                let known = l.slice_axis(Axis(1), Slice::from(..j));
                let rest = l[[i, j]] - known.row(i).dot(&known.row(j));
                l[[i, j]] = if i == j { rest.sqrt() } else { rest / l[[j, j]] };
            }
            assert!(l[[j, j]] > T::zero(), "the precision matrix is positive definite");
        }
        let mut x = Array1::from_shape_simple_fn(dim, || T::normal(rng));
        for i in (0..dim).rev() {
            let sum = (i + 1..dim).fold(x[i], |sum, j| sum - l[[j, i]] * x[j]);
            x[i] = sum / l[[i, i]];
        }
        x
    }
}

/// Elements of a row of the result that are summed at once, for so many rows.
const ELEMENTS: usize = 16;
const ROWS: usize = 4;

/// `-q P` for a symmetric `P`, each element summed from the first to the last.
///
/// Not a closure: the shim through which those are called is not inlined, and then not compiled for the widest
/// instruction set.
struct Product<'a, T> {
    precision: ArrayView2<'a, T>,
    q: ArrayView2<'a, T>,
    out: ArrayViewMut2<'a, T>,
}

impl<T: Real> pulp::NullaryFnOnce for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        product(self.precision, self.q, self.out.view_mut());
    }
}

#[inline(always)]
fn product<T: Real>(precision: ArrayView2<'_, T>, q: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
    let dim = precision.ncols();
    let (p, q) = (precision.to_slice().expect("standard layout"), q.to_slice().expect("standard layout"));
    let out = out.as_slice_mut().expect("standard layout");
    for (q, out) in q.chunks(ROWS * dim).zip(out.chunks_mut(ROWS * dim)) {
        let mut from = 0;
        while from < dim {
            if q.len() == ROWS * dim && from + ELEMENTS <= dim {
                let mut sums = [[T::zero(); ELEMENTS]; ROWS];
                for j in 0..dim {
                    let p = &p[j * dim + from..][..ELEMENTS];
                    for r in 0..ROWS {
                        let x = q[r * dim + j];
                        for e in 0..ELEMENTS {
                            sums[r][e] -= p[e] * x;
                        }
                    }
                }
                for r in 0..ROWS {
                    out[r * dim + from..][..ELEMENTS].copy_from_slice(&sums[r]);
                }
            } else {
                let some = ELEMENTS.min(dim - from);
                for (q, out) in q.chunks(dim).zip(out.chunks_mut(dim)) {
                    let mut sums = [T::zero(); ELEMENTS];
                    for (j, x) in q.iter().enumerate() {
                        for (sum, p) in sums.iter_mut().zip(&p[j * dim + from..][..some]) {
                            *sum -= *p * *x;
                        }
                    }
                    out[from..from + some].copy_from_slice(&sums[..some]);
                }
            }
            from += ELEMENTS;
        }
    }
}

/// Half the product of two vectors, in ndarray's order.
fn half_dot<T: Real>(a: ArrayView1<'_, T>, b: ArrayView1<'_, T>) -> T {
    a.dot(&b) / T::of(2.0)
}

impl<T: Real> Model<T> for Gaussian<T> {
    fn dim(&self) -> usize {
        self.precision.nrows()
    }

    fn gradient(&self, q: &[T], grad: &mut [T]) -> T {
        let mut lp = [T::zero()];
        let shape = (1, q.len());
        let q = ArrayView2::from_shape(shape, q).expect("one row");
        self.gradients(q, &mut lp, ArrayViewMut2::from_shape(shape, grad).expect("one row"));
        lp[0]
    }

    fn gradients(&self, q: ArrayView2<'_, T>, lp: &mut [T], mut grad: ArrayViewMut2<'_, T>) {
        Arch::new().dispatch(Product { precision: self.precision.view(), q, out: grad.view_mut() });
        for ((lp, q), grad) in lp.iter_mut().zip(q.rows()).zip(grad.rows()) {
            *lp = half_dot(q, grad);
        }
    }
}

/// A stationary autoregressive process of order one with unit variances: neighbours have the correlation `rho`.
///
/// ```
/// use autobatch_nuts::{Model, models::Autoregressive};
///
/// assert_eq!(Autoregressive::<f64>::new(100, 0.9).dim(), 100);
/// ```
#[derive(Clone, Debug)]
pub struct Autoregressive<T> {
    dim: usize,
    rho: T,
}

impl<T: Real> Autoregressive<T> {
    /// The process at `dim` times.
    ///
    /// # Panics
    ///
    /// If `rho` is not between -1 and 1, or `dim` is less than 2.
    pub fn new(dim: usize, rho: f64) -> Self {
        assert!(rho.abs() < 1.0, "a correlation between -1 and 1, not {rho}");
        assert!(dim > 1, "a process of at least two times, not {dim}");
        Self { dim, rho: T::of(rho) }
    }

    /// A draw of the process itself.
    pub fn exact(&self, rng: &mut Generator) -> Array1<T> {
        let mut x = T::normal(rng);
        let noise = (T::one() - self.rho * self.rho).sqrt();
        let rest = (1..self.dim).map(|_| {
            x = self.rho * x + noise * T::normal(rng);
            x
        });
        let rest: Vec<T> = rest.collect();
        std::iter::once(x).chain(rest).collect()
    }
}

impl<T: Real> Model<T> for Autoregressive<T> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, q: &[T], grad: &mut [T]) -> T {
        let (rho, last) = (self.rho, self.dim - 1);
        let scale = T::one() / (T::one() - rho * rho);
        let middle = T::one() + rho * rho;
        grad[0] = scale * (rho * q[1] - q[0]);
        for i in 1..last {
            grad[i] = scale * (rho * (q[i - 1] + q[i + 1]) - middle * q[i]);
        }
        grad[last] = scale * (rho * q[last - 1] - q[last]);
        half_dot(ArrayView1::from(q), ArrayView1::from(&*grad))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::testing::{difference, is_the_slope};

    #[test]
    fn gradients_are_slopes_and_kernels_agree_bit_for_bit() {
        let q: Vec<f64> = (0..37).map(|i| f64::from(i * i % 11) / 4.0 - 1.0).collect();
        let model = Gaussian::wishart(37, 40, 5);
        is_the_slope(&model, &q, 1e-6);
        is_the_slope(&Autoregressive::new(37, 0.9), &q, 1e-7);
        for chains in [1, 4, 11] {
            assert_eq!(difference(&model, chains, 3.0), 0.0);
            assert_eq!(difference(&Gaussian::<f32>::wishart(32, 40, 5), chains, 3.0), 0.0);
        }
        assert_eq!(difference(&Autoregressive::<f32>::new(9, 0.5), 3, 3.0), 0.0);
    }

    #[test]
    fn the_dense_product_is_ndarrays() {
        let model = Gaussian::<f64>::wishart(37, 40, 6);
        let q = Array2::from_shape_fn((9, 37), |(i, j)| ((i * 7 + j * 3) % 13) as f64 - 6.0);
        let mut grad = Array2::zeros((9, 37));
        product(model.precision.view(), q.view(), grad.view_mut());
        assert!((grad + q.dot(&model.precision)).iter().all(|x| x.abs() < 1e-9));
    }

    #[test]
    fn exact_draws_have_the_inverse_covariance() {
        let precision = ndarray::array![[2.0, -0.6, 0.0], [-0.6, 1.0, 0.3], [0.0, 0.3, 1.5]];
        let model = Gaussian::new(precision.clone());
        let mut rng = Generator::seed_from_u64(3);
        let draws: Vec<Array1<f64>> = (0..20_000).map(|_| model.exact(&mut rng)).collect();
        let covariance = Array2::from_shape_fn((3, 3), |(i, j)| {
            draws.iter().map(|x| x[i] * x[j]).sum::<f64>() / draws.len() as f64
        });
        let off = covariance.dot(&precision) - Array2::<f64>::eye(3);
        assert!(off.iter().all(|x| x.abs() < 0.06), "{off}");
    }

    #[test]
    fn the_process_has_the_stated_covariance() {
        // Its precision, times the covariance rho^|i - j|, is the identity.
        let model = Autoregressive::new(6, 0.7);
        for i in 0..6 {
            let column: Vec<f64> = (0..6_i32).map(|j| 0.7_f64.powi(j.abs_diff(i) as i32)).collect();
            let mut grad = [0.0; 6];
            model.gradient(&column, &mut grad);
            for (j, slope) in grad.iter().enumerate() {
                assert!((slope + if j == i as usize { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
        let mut rng = Generator::seed_from_u64(1);
        let draws: Vec<Array1<f64>> = (0..20_000).map(|_| model.exact(&mut rng)).collect();
        let covariance = |i: usize, j: usize| draws.iter().map(|x| x[i] * x[j]).sum::<f64>() / 20_000.0;
        assert!((covariance(0, 0) - 1.0).abs() < 0.05 && (covariance(5, 5) - 1.0).abs() < 0.05);
        assert!((covariance(1, 3) - 0.49).abs() < 0.05);
    }
}
