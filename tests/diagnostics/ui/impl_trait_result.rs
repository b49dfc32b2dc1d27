use autobatch::autobatch;

#[autobatch]
fn f(n: u32) -> impl Iterator<Item = u32> {
    0..n
}

fn main() {}
