use autobatch::autobatch;

#[autobatch]
fn f(x: f64) -> f64 {
    x
}

fn main() {
    let mut wrong = vec![0_u32; 2];
    f_batched_into(&[1.0, 2.0], &mut wrong);
    let results = vec![0.0; 2];
    f_batched_into(&[1.0, 2.0], &results);
}
