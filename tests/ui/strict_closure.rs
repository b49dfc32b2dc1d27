use autobatch::autobatch;

#[autobatch(strict)]
fn catalan(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    (0..n).map(|i| catalan(i) * catalan(n - 1 - i)).sum()
}

fn main() {}
