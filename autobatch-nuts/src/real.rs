//! The numbers that a chain computes with.

use std::fmt::{Debug, Display};
use std::sync::Arc;

use autobatch::{BatchError, Options, Outcome};
use ndarray::LinalgScalar;
use num_traits::{Float, NumAssign};
use rand::RngExt as _;
use rand_distr::StandardNormal;

use crate::Generator;
use crate::nuts::{Draw, Nuts, Point};
use crate::warmup::StepSize;

/// `f32` or `f64`.
pub trait Real: Float + NumAssign + LinalgScalar + Debug + Display + Send + Sync + sealed::Sealed {
    /// The nearest number.
    fn of(x: f64) -> Self;

    /// The number in double precision.
    fn double(self) -> f64;

    /// e^`self`, compiled to SIMD code where it stands in a loop ([`autobatch::math`]).
    fn vector_exp(self) -> Self;

    /// A standard normal variate.
    fn normal(rng: &mut Generator) -> Self;

    /// Uniform on `[0, 1)`.
    fn uniform(rng: &mut Generator) -> Self;

    /// [`Nuts::chain`] for all chains, compiled here once for every crate that samples.
    #[doc(hidden)]
    fn chains(
        nuts: &Nuts<'_, Self>,
        states: &mut [Arc<Point<Self>>],
        steps: &mut [StepSize],
        generators: &mut [Generator],
        options: &Options,
    ) -> Result<Outcome<Vec<Draw<Self>>>, BatchError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! real {
    ($T:ty) => {
        impl Real for $T {
            #[inline]
            fn of(x: f64) -> Self {
                x as $T
            }

            #[inline]
            fn double(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn vector_exp(self) -> Self {
                autobatch::math::exp(self)
            }

            fn normal(rng: &mut Generator) -> Self {
                rng.sample(StandardNormal)
            }

            fn uniform(rng: &mut Generator) -> Self {
                rng.random()
            }

            fn chains(
                nuts: &Nuts<'_, Self>,
                states: &mut [Arc<Point<Self>>],
                steps: &mut [StepSize],
                generators: &mut [Generator],
                options: &Options,
            ) -> Result<Outcome<Vec<Draw<Self>>>, BatchError> {
                nuts.chain_batched_with(states, steps, generators, options)
            }
        }
    };
}
real!(f32);
real!(f64);
