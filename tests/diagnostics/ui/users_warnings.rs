#![deny(warnings)]

use autobatch::autobatch;

#[autobatch]
fn f(n: u32, unused: u32) -> u32 {
    let forgotten = n + 1;
    let mut never_changed = n;
    let mut k = n;
    while (k > 3) {
        k -= 1;
        f(k, k);
    }
    return k;
    k + 1
}

fn main() {
    f(1, 2);
}
