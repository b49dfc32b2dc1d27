use autobatch::autobatch;

#[autobatch(lanes = MISSING)]
fn f(x: f64) -> f64 {
    x
}

fn main() {
    f(1.0);
}
