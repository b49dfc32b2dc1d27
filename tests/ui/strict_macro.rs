use autobatch::autobatch;

#[autobatch(strict)]
fn depth(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    let below = vec![depth(n - 1), depth(n / 2)];
    below[0] + below[1]
}

fn main() {}
