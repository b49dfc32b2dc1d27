//! A module of a module.

#[autobatch::primitive(batched = cubes)]
pub(crate) fn cube(x: f64) -> f64 {
    x * x * x
}

fn cubes(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x * x * x).collect()
}
