use autobatch::autobatch;

#[autobatch]
fn sum(#[each] xs: &[f64]) -> f64 {
    xs.iter().sum()
}

fn main() {
    sum_batched(&[1.0, 2.0]);
}
