use autobatch::autobatch;

#[autobatch]
async fn f(x: f64) -> f64 {
    x
}

fn main() {}
