use std::iter::Sum;

use autobatch::autobatch;

struct UpTo(u64);

impl Sum for UpTo {
    fn sum<I: Iterator<Item = UpTo>>(all: I) -> UpTo {
        UpTo(all.map(|x| x.0).find(|x| *x > 9).unwrap_or(0))
    }
}

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    (0..n).map(|k| UpTo(f(k) + 1)).sum::<UpTo>().0
}

#[autobatch(strict)]
fn g<T: Copy + Sum>(n: u64, x: T) -> T {
    if n == 0 { x } else { (0..n).map(|k| g(k, x)).sum() }
}

fn main() {}
