use autobatch::autobatch;

#[autobatch]
unsafe extern "C" fn several(n: u64, more: ...) -> u64 {
    n
}

fn main() {}
