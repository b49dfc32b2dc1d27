use autobatch::autobatch;

#[autobatch(strict)]
fn sum(n: u64, total: &mut u64) {
    if n > 0 {
        let mut here = 0;
        sum(n - 1, &mut here);
        *total += here + n;
    }
}

fn main() {}
