use autobatch::autobatch;

#[autobatch(stricct, lane = 64)]
fn f(x: f64) -> f64 {
    x
}

fn main() {}
