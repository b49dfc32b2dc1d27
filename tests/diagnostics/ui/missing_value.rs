use autobatch::autobatch;

#[autobatch(lanes, name)]
fn f(x: f64) -> f64 {
    x
}

fn main() {}
