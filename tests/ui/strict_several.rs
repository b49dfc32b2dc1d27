use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    if n < 3 {
        return n;
    }
    let make = || f(n - 1);
    let all = vec![f(n - 2)];
    Some(n - 3).map_or(0, f) + make() + all[0]
}

fn main() {
    f(1);
}
