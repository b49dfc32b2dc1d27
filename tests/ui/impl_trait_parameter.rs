use autobatch::autobatch;

#[autobatch]
fn f(x: f64, noise: impl Fn(f64) -> f64) -> f64 {
    noise(x)
}

fn main() {}
