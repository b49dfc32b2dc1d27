use autobatch::autobatch;

#[autobatch]
enum E {
    A,
}

#[autobatch]
const N: usize = 3;

#[autobatch]
static M: usize = 3;

#[autobatch]
type T = E;

#[autobatch]
use std::vec::Vec as List;

fn main() {
    let _: List<T> = vec![E::A];
    let _ = N + M;
}
