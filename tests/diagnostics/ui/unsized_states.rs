//! A `&mut` of what has no size is no state per member.

use autobatch::autobatch;

#[autobatch]
fn upper(n: usize, text: &mut str) -> usize {
    if n == 0 { text.len() } else { upper(n - 1, text) }
}

#[autobatch]
fn draw(n: usize, source: &mut dyn FnMut() -> u64) -> u64 {
    if n == 0 { source() } else { draw(n - 1, source) }
}

#[autobatch]
fn ask(n: usize, #[each] source: &dyn Fn(usize) -> u64) -> u64 {
    if n == 0 { source(n) } else { ask(n - 1, source) + source(n) }
}

/// Inside a program it may be given on.
#[autobatch(strict)]
mod program {
    pub fn entry(n: usize) -> usize {
        let mut text = String::from("text");
        inside(n, &mut text[1..])
    }

    fn inside(n: usize, text: &mut str) -> usize {
        if n == 0 {
            text.len()
        } else {
            text.make_ascii_uppercase();
            inside(n - 1, text)
        }
    }
}

fn main() {
    let _ = program::entry_batched(&[3]);
}
