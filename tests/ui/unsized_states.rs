//! A `&mut` of what has no size is no state per member.

use autobatch::autobatch;

#[autobatch]
fn fill(n: usize, cache: &mut [u64]) -> u64 {
    if n == 0 { cache[0] } else { fill(n - 1, cache) }
}

#[autobatch]
fn upper(n: usize, text: &mut str) -> usize {
    if n == 0 { text.len() } else { upper(n - 1, text) }
}

#[autobatch]
fn draw(n: usize, source: &mut dyn FnMut() -> u64) -> u64 {
    if n == 0 { source() } else { draw(n - 1, source) }
}

/// Inside a program it may be given on.
#[autobatch(strict)]
mod program {
    pub fn entry(n: usize) -> u64 {
        let mut cache = [1; 4];
        inside(n, &mut cache[1..])
    }

    fn inside(n: usize, cache: &mut [u64]) -> u64 {
        if n == 0 {
            cache[0]
        } else {
            cache[0] += n as u64;
            inside(n - 1, cache)
        }
    }
}

fn main() {
    let _ = program::entry_batched(&[3]);
}
