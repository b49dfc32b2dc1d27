use autobatch::autobatch;

fn take(_: String) -> u64 {
    1
}

#[autobatch]
fn in_a_for(n: u64, s: String) -> u64 {
    let mut t = 0;
    for i in 0..n {
        t += take(s) + i;
    }
    t
}

#[autobatch]
fn in_a_recursion(n: u64, s: String) -> u64 {
    let mut t = 0;
    for i in 0..n {
        t += take(s);
        t += in_a_recursion(i, String::new());
    }
    t
}

#[autobatch]
fn in_a_while(n: u64, s: String) -> u64 {
    let mut t = 0;
    while t < n {
        t += take(s);
    }
    t
}

#[autobatch]
fn of_what_was_run_through(n: u64, parts: Vec<u64>) -> u64 {
    let mut t = 0;
    for x in parts {
        t += x;
    }
    t + parts.len() as u64 + of_what_was_run_through(n - 1, vec![])
}

#[autobatch]
fn borrowed(n: u64, mut parts: Vec<u64>) -> u64 {
    let mut t = n;
    for x in &parts {
        parts.push(*x);
        t += x;
    }
    t
}

trait Walk {
    fn walk(&self, n: u64) -> u64;
}

struct Tree(Vec<u64>);

#[autobatch]
impl Walk for Tree {
    fn walk(&self, n: u64) -> u64 {
        self.0.push(1);
        if n == 0 { 1 } else { self.walk(n - 1) }
    }
}

fn main() {}
