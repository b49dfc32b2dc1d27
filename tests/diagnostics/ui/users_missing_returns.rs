use autobatch::autobatch;

#[autobatch]
fn no_else(n: u64) -> u64 {
    if n == 0 { 1 }
}

#[autobatch]
fn ends_with_a_loop(n: u64) -> u64 {
    for i in 0..n {
        if ends_with_a_loop(i) == 3 {
            return i;
        }
    }
}

#[autobatch]
fn empty(n: u64) -> u64 {}

#[autobatch]
fn wrong_unit(n: u64, out: &mut f64) {
    *out += 1.0;
    if n > 0 {
        wrong_unit(n - 1, out);
    }
    n
}

#[autobatch]
fn wrong_return(n: u64, out: &mut f64) {
    *out += 1.0;
    if n == 0 {
        return 3;
    }
    wrong_return(n - 1, out)
}

struct Point {
    x: f64,
}

#[autobatch]
fn wrong_struct(n: u64) -> Point {
    if n == 0 { 1.0 } else { wrong_struct(n - 1) }
}

fn main() {
    let _ = Point { x: 1.0 }.x;
}
