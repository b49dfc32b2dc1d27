//! The No-U-Turn Sampler on Eight Schools, whose gradients are a primitive.

use autobatch_nuts::models::EightSchools;
use autobatch_nuts::{Chains, StepSize};

use crate::costs::Program;

pub(crate) fn program() -> Program {
    let model: &'static EightSchools<f64> = Box::leak(Box::new(EightSchools::new()));
    let start =
        Chains::begin(model, 200, 7, StepSize::fixed(0.3), |_| (0..10).map(|i| 0.1 * f64::from(i)).collect());
    Program::new("the sampler", move |o| {
        let mut chains = start.clone();
        drop(chains.run(6, o).unwrap());
    })
}
