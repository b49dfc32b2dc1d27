//! What is wrong with what a `for` goes over, and calls of what is no function, is said once, as rustc says it.

use autobatch::autobatch;

#[autobatch]
fn no_iterator(n: u32) -> u32 {
    let mut sum = 0;
    for x in n {
        sum += no_iterator(x);
    }
    sum
}

#[autobatch]
fn mixed(n: u32, x: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..x {
        sum += mixed(n - 1, x);
    }
    sum
}

#[autobatch]
fn long(n: u32, limit: i64) -> u32 {
    let mut sum = 0;
    for i in (0..=limit).rev() {
        sum += long(n - 1, i) + i;
    }
    for i in 0..n {
        sum += i * limit;
    }
    sum
}

#[autobatch]
fn generic<T: Copy + Send + Sync>(n: u32, x: T) -> u32 {
    let mut sum = 0;
    for _ in x {
        sum += generic(n - 1, x);
    }
    sum
}

#[autobatch]
fn called(n: u32) -> u32 {
    let m = n(3);
    if n == 0 { m } else { called(n - 1) }
}

fn main() {}
