use autobatch::{Ragged, autobatch};

#[autobatch]
fn f(x: f64) -> f64 {
    x
}

fn main() {
    f_batched(Ragged::new(&[1.0, 2.0], &[0, 2]));
}
