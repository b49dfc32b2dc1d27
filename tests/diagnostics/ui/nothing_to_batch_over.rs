use autobatch::autobatch;

#[autobatch]
fn f(xs: &[f64]) -> f64 {
    xs.iter().sum()
}

fn main() {}
