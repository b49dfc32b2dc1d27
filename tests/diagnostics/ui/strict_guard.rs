use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u64) -> u64 {
    match Some(vec![n]) {
        Some(v) if f(v[0] - 1) > 3 => 1,
        _ => n,
    }
}

fn main() {}
