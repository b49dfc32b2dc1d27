use autobatch::autobatch;

fn through(n: u64, f: fn(u64) -> u64) -> u64 {
    f(n)
}

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    through(n - 1, f)
}

fn main() {}
