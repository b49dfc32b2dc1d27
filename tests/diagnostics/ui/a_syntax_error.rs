use autobatch::autobatch;

#[autobatch]
fn f(x: f64) -> f64 {
    let y = x + ;
    y
}

fn main() {
    f(1.0);
}
