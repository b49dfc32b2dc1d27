use autobatch::autobatch;

#[autobatch]
fn f(#[each] x: f64) -> f64 {
    x
}

fn main() {}
