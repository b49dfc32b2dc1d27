use autobatch::autobatch;

#[autobatch]
extern "C" fn f(x: f64) -> f64 {
    x
}

fn main() {}
