use autobatch::autobatch;

macro_rules! both {
    ($a:expr, $b:expr) => {
        $a + $b
    };
}

#[autobatch(strict)]
fn depth(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    assert!(depth(n / 2) < n + 5);
    both!(depth(n - 1), depth(n / 2))
}

fn main() {}
