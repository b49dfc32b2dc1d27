use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    match n {
        0 => 0,
        n if f(n - 1) > 3 => 1,
        n => n,
    }
}

fn main() {}
