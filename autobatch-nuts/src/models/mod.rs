//! Posteriors to sample: two with published reference values, and those of the experiments of Radul et al. (2020).

mod eight_schools;
mod gaussian;
mod gaussian_process;
mod logistic;

pub use eight_schools::EightSchools;
pub use gaussian::{Autoregressive, Gaussian};
pub use gaussian_process::GaussianProcess;
pub use logistic::LogisticRegression;

#[cfg(test)]
pub(crate) mod testing {
    use ndarray::Array2;

    use crate::{Model, Real};

    /// The gradient is the slope of the density, up to `tolerance` times the slope or one.
    pub(crate) fn is_the_slope(model: &dyn Model<f64>, q: &[f64], tolerance: f64) {
        let mut grad = vec![0.0; model.dim()];
        let mut unused = grad.clone();
        model.gradient(q, &mut grad);
        for i in 0..model.dim() {
            let h = 1e-5;
            let mut density = |step: f64| {
                let mut q = q.to_vec();
                q[i] += step;
                model.gradient(&q, &mut unused)
            };
            let slope = (density(h) - density(-h)) / (2.0 * h);
            let close = (slope - grad[i]).abs() < tolerance * (1.0 + slope.abs());
            assert!(close, "{i}: {slope} {}", grad[i]);
        }
    }

    /// The largest relative difference between the batched kernel and the scalar gradient.
    pub(crate) fn difference<T: Real>(model: &dyn Model<T>, chains: usize, width: f64) -> f64 {
        let at = |i: usize, k: usize| T::of(width * ((i * 29 + k * 13 + 5) % 31) as f64 / 31.0 - width / 2.0);
        let q = Array2::from_shape_fn((chains, model.dim()), |(i, k)| at(i, k));
        let mut lp = vec![T::zero(); chains];
        let mut grad = Array2::from_elem(q.raw_dim(), T::nan());
        model.gradients(q.view(), &mut lp, grad.view_mut());
        let mut largest = 0.0_f64;
        for (i, q) in q.rows().into_iter().enumerate() {
            let mut one = vec![T::nan(); model.dim()];
            let lp_one = model.gradient(q.as_slice().unwrap(), &mut one);
            let scale = one.iter().fold(1.0, |max: f64, x| max.max(x.double().abs()));
            let off = |a: T, b: T, scale: f64| (a.double() - b.double()).abs() / scale;
            let gradients = grad.row(i).into_iter().zip(&one).map(|(a, b)| off(*a, *b, scale));
            largest = gradients.fold(largest, |max, x| if x >= max || x.is_nan() { x } else { max });
            largest = largest.max(off(lp[i], lp_one, lp_one.double().abs().max(1.0)));
        }
        largest
    }
}
