use autobatch::primitive;

#[primitive(batched = takes_another_type)]
fn one(x: f64) -> f64 {
    x
}

fn takes_another_type(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

#[primitive(batched = returns_another_type)]
fn two(x: f64) -> f64 {
    x
}

fn returns_another_type(x: &[f64]) -> f64 {
    x[0]
}

struct Model;

#[primitive(batched = takes_one)]
fn three(_model: &Model, x: f64) -> f64 {
    x
}

fn takes_one(x: &[f64]) -> Vec<f64> {
    x.to_vec()
}

fn main() {}
