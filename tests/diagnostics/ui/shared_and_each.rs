use autobatch::autobatch;

#[autobatch]
fn f(x: f64, #[shared] #[each] weights: &[f64]) -> f64 {
    x + weights[0]
}

fn main() {}
