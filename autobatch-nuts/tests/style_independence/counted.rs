//! A model that counts the calls of its batched gradient.

use std::sync::atomic::{AtomicUsize, Ordering};

use autobatch_nuts::Model;
use ndarray::{ArrayView2, ArrayViewMut2};

/// A model, with the calls of its batched gradient and their rows.
pub(crate) struct Counted<M> {
    pub(crate) model: M,
    calls: AtomicUsize,
    rows: AtomicUsize,
}

impl<M> Counted<M> {
    pub(crate) fn new(model: M) -> Self {
        Counted { model, calls: AtomicUsize::new(0), rows: AtomicUsize::new(0) }
    }

    /// Calls and rows since they were asked for last.
    pub(crate) fn take(&self) -> (usize, usize) {
        (self.calls.swap(0, Ordering::Relaxed), self.rows.swap(0, Ordering::Relaxed))
    }
}

impl<M: Model<f64>> Model<f64> for Counted<M> {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn gradient(&self, q: &[f64], grad: &mut [f64]) -> f64 {
        self.model.gradient(q, grad)
    }

    fn gradients(&self, q: ArrayView2<'_, f64>, lp: &mut [f64], grad: ArrayViewMut2<'_, f64>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(q.nrows(), Ordering::Relaxed);
        self.model.gradients(q, lp, grad);
    }
}
