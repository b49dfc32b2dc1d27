use autobatch::{autobatch, primitive};

#[autobatch(unknown)]
fn misspelt(n: u64) -> u64 {
    n + 1
}

#[autobatch]
extern "C" fn hidden(n: u64) -> u64 {
    n + 2
}

#[autobatch(strict)]
fn in_tokens(n: u64) -> u64 {
    if n == 0 { 0 } else { dbg!(in_tokens(n - 1)) }
}

#[autobatch]
mod shared {
    pub fn all_shared(xs: &[u64]) -> u64 {
        xs.len() as u64
    }
}

struct Model(u64);

#[autobatch]
impl Model {
    pub fn get(&self) -> u64 {
        self.0
    }
}

#[primitive(batched = nowhere::kernel, extra = 1)]
fn slope(x: f64) -> f64 {
    x * 2.0
}

// No errors but those of the attributes: all functions are there, with their types.
fn main() {
    let sum: u64 = misspelt(1) + hidden(2) + in_tokens(3) + shared::all_shared(&[4]) + Model(5).get();
    let _: f64 = slope(sum as f64);
}
