use autobatch::autobatch;

fn through(n: u64, f: fn(u64) -> u64) -> u64 {
    f(n)
}

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    if n < 3 {
        return n;
    }
    let make = [|| f(n - 1)];
    assert!(f(n - 2) > 0);
    through(n - 3, f) + make[0]()
}

fn main() {
    f(1);
}
