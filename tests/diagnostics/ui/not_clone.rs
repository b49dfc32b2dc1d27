use autobatch::autobatch;

struct Big(Vec<u64>);

#[autobatch]
fn digits(x: Big) -> usize {
    x.0.len()
}

fn main() {
    let numbers = vec![Big(vec![1])];
    digits_batched(&numbers);
}
