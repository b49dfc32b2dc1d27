use autobatch::autobatch;

#[autobatch]
fn square(x: f64) -> f64 {
    x * x
}

fn call() {
    square_batched(&["one", "two"]);
}

fn main() {}
