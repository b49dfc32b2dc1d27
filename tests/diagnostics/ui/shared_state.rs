use autobatch::autobatch;

#[autobatch]
fn f(x: f64, #[shared] total: &mut f64) {
    *total += x;
}

fn main() {}
