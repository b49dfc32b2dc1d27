use autobatch::autobatch;

#[autobatch(crate = 3)]
fn f(x: f64) -> f64 {
    x
}

fn main() {
    f(1.0);
}
