use autobatch::{Ragged, autobatch};

#[autobatch]
fn sum(#[each] xs: &[f64]) -> f64 {
    xs.iter().sum()
}

fn main() {
    sum_batched(&[vec![1_u32, 2]]);
    sum_batched(Ragged::new(&[1_u32, 2], &[0, 2]));
}
