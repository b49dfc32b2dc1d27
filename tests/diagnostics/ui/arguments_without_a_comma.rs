use autobatch::autobatch;

#[autobatch(strict lanes = 32)]
fn f(x: f64) -> f64 {
    x
}

fn main() {
    f(1.0);
}
