use autobatch::autobatch;

fn twice(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    Some(f(n)).map_or(0, &f)
}

#[autobatch(strict)]
fn halves(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    twice(|k| halves(k / 2) + 1, n / 2)
}

fn main() {}
