use autobatch::autobatch;

struct Tree;

#[autobatch]
impl Tree {
    pub fn inherent(&self, n: u64) -> u64 {
        let width: u32 = "text";
        if n == 0 { missing(n) } else { self.inherent(n - 1) }
    }
}

trait Walk {
    fn walk(&self, n: u64) -> u64;
}

#[autobatch]
impl Walk for Tree {
    fn walk(&self, n: u64) -> u64 {
        let width: u32 = "text";
        if n == 0 { missing(n) } else { self.walk(n - 1) }
    }
}

#[autobatch]
mod module {
    pub struct Leaf;

    impl Leaf {
        pub fn of_a_module(&self, n: u64) -> u64 {
            let width: u32 = "text";
            if n == 0 { missing(n) } else { self.of_a_module(n - 1) }
        }
    }
}

struct Pair<T>(T);

#[autobatch]
impl<T: Send + Sync> Pair<T> {
    pub fn generic(&self, n: u64) -> u64 {
        let width: u32 = "text";
        if n == 0 { missing(n) } else { self.generic(n - 1) }
    }
}

fn main() {}
