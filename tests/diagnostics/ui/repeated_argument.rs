use autobatch::autobatch;

#[autobatch(lanes = 64, strict, lanes = 32)]
fn f(x: f64) -> f64 {
    x
}

fn main() {}
