use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    Some(n - 1).map_or(0, f)
}

fn main() {}
