use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u32) -> u32 {
    let mut values = vec![n];
    let first = &mut values[0];
    let mut i = 0;
    while i < n {
        *first += i;
        i += 1;
    }
    values.into_iter().sum()
}

fn main() {}
