use autobatch::autobatch;

#[autobatch(strict)]
fn f(n: u32) -> u32 {
    let values = vec![n, 2];
    let first = &values[0];
    let mut i = 0;
    while i < n {
        i += *first + values.repeat(2).len() as u32;
    }
    i
}

fn main() {
    f(1);
}
