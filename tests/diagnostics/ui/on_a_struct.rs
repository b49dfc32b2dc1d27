use autobatch::autobatch;

#[autobatch]
struct Point {
    x: f64,
}

fn main() {}
