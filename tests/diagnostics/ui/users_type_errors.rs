use autobatch::autobatch;

#[autobatch]
fn result(n: u64) -> u64 {
    if n == 0 { "text" } else { result(n - 1) }
}

#[autobatch]
fn returned(n: u64) -> u64 {
    if n == 0 {
        return 1.5;
    }
    returned(n - 1)
}

#[autobatch]
fn argument(n: u64) -> u64 {
    if n == 0 { 1 } else { argument("text") }
}

#[autobatch]
fn tail(n: u64) -> u64 {
    let mut i = 0;
    while i < n {
        i += 1;
    }
    i;
}

#[autobatch]
fn no_tail(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    no_tail(n - 1);
}

#[autobatch]
fn no_else_loop(mut n: u64) -> u64 {
    while n > 10 {
        n -= if n > 3 {
            1
        };
    }
    n
}

#[autobatch]
fn wrong_result(n: u64) -> Result<u64, String> {
    if n == 0 { 1 } else { wrong_result(n - 1) }
}

#[autobatch]
fn used(n: u64) -> u64 {
    let x: f64 = used(n - 1);
    if n == 0 { 1 } else { x + 1 }
}

#[autobatch]
fn condition(mut n: u64) -> u64 {
    while n {
        n -= 1;
    }
    if n + 1 { 1 } else { condition(n) }
}

#[autobatch]
fn boxed(n: u64) -> Vec<u64> {
    if n == 0 {
        return vec!["x"];
    }
    let mut v = boxed(n - 1);
    v.push("text");
    v
}

struct Tree(u64);
#[autobatch]
impl Tree {
    pub fn result(&self, n: u64) -> u64 {
        if n == 0 { "text" } else { self.result(n - 1) }
    }
}

#[autobatch]
mod module {
    pub struct Leaf;
    impl Leaf {
        pub fn of_a_module(&self, n: u64) -> u64 {
            if n == 0 { "text" } else { self.of_a_module(n - 1) }
        }
    }
    fn helper(n: u64) -> f32 {
        if n == 0 { "text" } else { helper(n - 1) }
    }
    pub fn enter(n: u64) -> f32 {
        if n > 2 { helper(n) } else { enter(n + 1) + helper("x") }
    }
}

fn main() {}
