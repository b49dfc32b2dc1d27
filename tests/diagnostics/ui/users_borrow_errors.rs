use autobatch::autobatch;

struct Tree {
    parts: Vec<u64>,
    label: String,
}

fn take(_: String) {}

#[autobatch]
fn free(n: u64, text: String) -> u64 {
    let label = text;
    take(label);
    take(label);
    if n == 0 { 1 } else { free(n - 1, String::new()) }
}

#[autobatch]
fn free_borrow(n: u64, mut parts: Vec<u64>) -> u64 {
    let first = &parts[0];
    parts.push(n);
    let one = *first;
    if n == 0 { one } else { free_borrow(n - 1, parts) }
}

#[autobatch]
impl Tree {
    pub fn moved(&self, n: u64) -> u64 {
        let label = self.label.clone();
        take(label);
        take(label);
        if n == 0 { 1 } else { self.moved(n - 1) }
    }

    pub fn borrowed(&mut self, n: u64) -> u64 {
        let first = &self.parts[0];
        self.parts.push(n);
        let one = *first;
        if n == 0 { one } else { self.borrowed(n - 1) }
    }
}

#[autobatch]
mod module {
    pub struct Leaf {
        pub parts: Vec<u64>,
        pub label: String,
    }

    impl Leaf {
        pub fn moved(&self, n: u64) -> u64 {
            let label = self.label.clone();
            super::take(label);
            super::take(label);
            if n == 0 { 1 } else { self.moved(n - 1) }
        }

        pub fn borrowed(&mut self, n: u64) -> u64 {
            let first = &self.parts[0];
            self.parts.push(n);
            let one = *first;
            if n == 0 { one } else { self.borrowed(n - 1) }
        }
    }
}

trait Walk {
    fn walk(&self, n: u64) -> u64;
    fn change(&mut self, n: u64) -> u64;
}

#[autobatch]
impl Walk for Tree {
    fn walk(&self, n: u64) -> u64 {
        let label = self.label.clone();
        take(label);
        take(label);
        if n == 0 { 1 } else { self.walk(n - 1) }
    }

    fn change(&mut self, n: u64) -> u64 {
        let first = &self.parts[0];
        self.parts.push(n);
        let one = *first;
        if n == 0 { one } else { self.change(n - 1) }
    }
}

#[autobatch]
fn in_a_loop(n: u64, mut parts: Vec<u64>) -> u64 {
    let mut i = 0;
    while i < n {
        let first = &parts[0];
        parts.push(in_a_loop(n - 1, Vec::new()));
        i += *first;
    }
    i
}

#[autobatch]
fn in_a_closure(n: u64, label: String) -> u64 {
    let len = move || label.len();
    take(label);
    if n == 0 { len() as u64 } else { in_a_closure(n - 1, String::new()) }
}

#[autobatch]
fn assigned(n: u64) -> u64 {
    n += 1;
    if n == 0 { 1 } else { assigned(n - 1) }
}

#[autobatch]
fn too_short(n: u64) -> u64 {
    let last;
    {
        let here = n;
        last = &here;
    }
    if n == 0 { *last } else { too_short(n - 1) }
}

fn main() {}
