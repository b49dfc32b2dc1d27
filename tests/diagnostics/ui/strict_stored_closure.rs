use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    let below = [|k: u64| f(k - 1)];
    if n == 0 { 0 } else { below[0](n) + 1 }
}

fn main() {}
