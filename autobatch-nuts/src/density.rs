//! What is sampled: a model, in scaled coordinates.

use ndarray::{Array1, ArrayView2, ArrayViewMut2, Axis};

use crate::Real;

/// A posterior density on ℝⁿ.
///
/// ```
/// use autobatch_nuts::Model;
///
/// /// Two independent normal variables.
/// struct Normal { sd: [f64; 2] }
///
/// impl Model<f64> for Normal {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn gradient(&self, q: &[f64], grad: &mut [f64]) -> f64 {
///         let mut lp = 0.0;
///         for i in 0..2 {
///             let z = q[i] / self.sd[i];
///             lp -= z * z / 2.0;
///             grad[i] = -z / self.sd[i];
///         }
///         lp
///     }
/// }
///
/// let mut grad = [0.0; 2];
/// assert_eq!(Normal { sd: [1.0, 2.0] }.gradient(&[1.0, 2.0], &mut grad), -1.0);
/// assert_eq!(grad, [-1.0, -0.5]);
/// ```
pub trait Model<T: Real>: Send + Sync {
    /// The number of parameters.
    fn dim(&self) -> usize;

    /// The log density at `q` up to a constant; its gradient goes to `grad`. Both slices have
    /// [`dim`](Self::dim) elements. What is not finite ends a trajectory.
    fn gradient(&self, q: &[T], grad: &mut [T]) -> T;

    /// The same for many chains: row i of `q` and of `grad` and element i of `lp` are chain i's. `q` and `grad`
    /// are in standard layout.
    ///
    /// By default this is [`gradient`](Self::gradient), row by row. A model that does better need not round
    /// as that does; where it does not, batched chains are other draws from the same posterior than scalar ones.
    fn gradients(&self, q: ArrayView2<'_, T>, lp: &mut [T], mut grad: ArrayViewMut2<'_, T>) {
        for ((q, mut grad), lp) in q.rows().into_iter().zip(grad.rows_mut()).zip(lp) {
            let (q, grad) = (q.to_slice(), grad.as_slice_mut());
            *lp = self.gradient(q.expect("standard layout"), grad.expect("standard layout"));
        }
    }

    /// The names of the [`quantities`](Self::quantities); by default `q_1`, `q_2`, ….
    fn names(&self) -> Vec<String> {
        (1..=self.dim()).map(|i| format!("q_{i}")).collect()
    }

    /// What a statistician reports about a position; by default the parameters themselves.
    fn quantities(&self, q: &[T]) -> Vec<f64> {
        q.iter().map(|x| x.double()).collect()
    }
}

/// A model in coordinates that are divided by scales.
///
/// That is the same as a diagonal mass matrix, but it leaves the sampler as simple as it is in the paper.
///
/// ```
/// use autobatch_nuts::{Density, models::Autoregressive};
/// use ndarray::array;
///
/// let model = Autoregressive::<f64>::new(2, 0.5);
/// let density = Density::new(&model).with_scale(array![2.0, 4.0]);
/// assert_eq!(density.unscaled(&array![1.0, 1.0]), array![2.0, 4.0]);
/// assert_eq!(density.scaled(&array![2.0, 4.0]), array![1.0, 1.0]);
/// ```
#[derive(Clone)]
pub struct Density<'m, T> {
    model: &'m dyn Model<T>,
    scale: Array1<T>,
}

impl<'m, T: Real> Density<'m, T> {
    /// The model in its own coordinates.
    pub fn new(model: &'m dyn Model<T>) -> Self {
        Self { model, scale: Array1::ones(model.dim()) }
    }

    /// The same model in coordinates that are divided by `scale`.
    ///
    /// # Panics
    ///
    /// If there is not one scale per parameter.
    #[must_use]
    pub fn with_scale(&self, scale: Array1<T>) -> Self {
        assert_eq!(scale.len(), self.model.dim(), "one scale per parameter");
        Self { scale, ..self.clone() }
    }

    /// The model.
    pub fn model(&self) -> &'m dyn Model<T> {
        self.model
    }

    /// One scale per parameter.
    pub fn scale(&self) -> &Array1<T> {
        &self.scale
    }

    /// A position in the model's own coordinates.
    pub fn unscaled(&self, q: &Array1<T>) -> Array1<T> {
        q * &self.scale
    }

    /// The inverse of [`unscaled`](Self::unscaled).
    pub fn scaled(&self, x: &Array1<T>) -> Array1<T> {
        x / &self.scale
    }
}

/// The log density at `q` up to a constant; its gradient goes to `grad`.
///
/// # Panics
///
/// If `grad` is not in standard layout, or the vectors do not have an element per parameter.
#[autobatch::primitive(batched = gradients)]
pub fn gradient<T: Real>(density: &Density<'_, T>, q: &Array1<T>, grad: &mut Array1<T>) -> T {
    let x = density.unscaled(q);
    let (Some(x), Some(slopes)) = (x.as_slice(), grad.as_slice_mut()) else {
        panic!("a gradient in standard layout");
    };
    let lp = density.model.gradient(x, slopes);
    *grad *= &density.scale;
    lp
}

/// The same for many chains, which are the rows.
pub fn gradients<T: Real>(
    density: &Density<'_, T>,
    q: ArrayView2<'_, T>,
    mut grad: ArrayViewMut2<'_, T>,
) -> Vec<T> {
    let x = &q * &density.scale;
    let mut lp = vec![T::zero(); q.nrows()];
    density.model.gradients(x.view(), &mut lp, grad.view_mut());
    for mut row in grad.axis_iter_mut(Axis(0)) {
        row *= &density.scale;
    }
    lp
}
