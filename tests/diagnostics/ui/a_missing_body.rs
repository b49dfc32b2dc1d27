use autobatch::autobatch;

#[autobatch]
fn f(x: f64) -> f64;

fn main() {}
