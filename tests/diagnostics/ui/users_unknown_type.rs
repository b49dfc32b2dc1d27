use autobatch::autobatch;

#[autobatch]
fn f(x: Missing, n: u32) -> Absent {
    let mut k = n;
    while k > 0 {
        k -= 1;
    }
    x
}

fn main() {}
