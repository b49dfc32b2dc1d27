use autobatch::autobatch;

#[autobatch]
unsafe fn f(x: f64) -> f64 {
    x
}

fn main() {}
