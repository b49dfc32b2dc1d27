//! What can't go to other threads is refused by the parameter's name.

use std::cell::Cell;
use std::rc::Rc;

use autobatch::autobatch;

#[autobatch]
fn owned(x: u64, noise: Rc<u64>) -> u64 {
    x + *noise
}

#[autobatch]
fn looked_at(x: u64, seen: &Cell<u64>) -> u64 {
    seen.set(x);
    x
}

#[autobatch]
fn state(x: u64, list: &mut Vec<Rc<u64>>) -> u64 {
    list.push(Rc::new(x));
    x
}

#[autobatch]
fn made(x: u64) -> Rc<u64> {
    Rc::new(x)
}

#[autobatch]
fn called(x: u64, f: &dyn Fn(u64) -> u64) -> u64 {
    f(x)
}

struct Pool {
    last: Cell<u64>,
}

#[autobatch]
impl Pool {
    pub fn draw(&self, x: u64) -> u64 {
        self.last.replace(x)
    }
}

fn main() {}
