use autobatch::autobatch;
use std::ops::{Add, Index, IndexMut};

trait Into2<T> {
    fn into2(self) -> T;
}

trait From2<T> {
    fn from2(value: T) -> Self;
}

#[autobatch]
impl<T, U: Into2<T>> From2<U> for T {
    fn from2(value: U) -> Self {
        value.into2()
    }
}

trait Filter<T> {
    fn contains(&self, item: T, n: u64) -> bool;
}

struct Bits(u64);

#[autobatch]
impl<T> Filter<T> for Bits {
    fn contains(&self, _: T, n: u64) -> bool {
        self.0 == n
    }
}

struct Matrix(Vec<f64>);

impl Index<usize> for Matrix {
    type Output = f64;
    fn index(&self, i: usize) -> &f64 {
        &self.0[i]
    }
}

#[autobatch]
impl IndexMut<usize> for Matrix {
    fn index_mut(&mut self, i: usize) -> &mut Self::Output {
        &mut self.0[i]
    }
}

#[derive(Clone, Copy)]
struct V(f64);

#[autobatch]
impl Add<V> for V {
    type Output = V;
    fn add(self, other: V) -> V {
        V(self.0 + other.0)
    }
}

#[autobatch]
impl Add<f64> for V {
    type Output = V;
    fn add(self, other: f64) -> V {
        V(self.0 + other)
    }
}

struct Two<T>(T, T);

#[autobatch]
impl<T: Copy> Index<u8> for Two<T> {
    type Output = T;
    fn index(&self, i: u8) -> &T {
        if i > 0 { &self.1 } else { &self.0 }
    }
}

#[autobatch]
impl<T: Copy> Index<u16> for Two<Two<T>> {
    type Output = T;
    fn index(&self, i: u16) -> &T {
        let half = if i > 1 { &self.1 } else { &self.0 };
        if i % 2 > 0 { &half.1 } else { &half.0 }
    }
}

fn main() {
    let _ = V(1.0) + V(2.0);
    let _ = V(1.0) + 2.0;
}
