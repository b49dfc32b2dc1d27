use autobatch::autobatch;

#[autobatch]
fn f(x: f64, y: u32) -> f64 {
    x * f64::from(y)
}

fn main() {
    f_batched(&[1.0]);
    f_batched(&[1.0], &[1], &[2]);
    f_batched(1.0, 2);
}
