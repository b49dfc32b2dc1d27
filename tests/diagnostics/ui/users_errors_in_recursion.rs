use autobatch::autobatch;

#[autobatch]
fn few(n: u64, x: f64) -> f64 {
    if n == 0 { x } else { few(n - 1) }
}

#[autobatch]
fn wrong(n: u64, x: f64) -> f64 {
    if n == 0 { x } else { 1.0 + wrong(n - 1, "text") }
}

#[autobatch]
fn unknown(n: u64) -> u64 {
    if n == 0 { missing(n) } else { unknown(n - 1) + n.absent() }
}

#[autobatch]
fn closed(n: u64) -> u64 {
    if n == 0 { 1 } else { (0..n).map(|i| closed(i as u32)).sum() }
}

struct Tree(u64);

#[autobatch]
impl Tree {
    fn walk(&self, n: u64) -> u64 {
        if n == 0 { self.1 } else { self.walk(0u8) }
    }
    pub fn enter(&self, n: u64) -> u64 {
        self.walk(n)
    }
}

fn main() {}
