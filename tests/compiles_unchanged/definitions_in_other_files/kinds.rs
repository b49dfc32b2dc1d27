//! Types and functions that the programs use.

use std::ops::Deref;

#[derive(Clone, Debug, Default)]
pub(crate) struct Wide {
    pub(crate) a: Vec<u64>,
    pub(crate) b: u64,
    pub(crate) c: Vec<u64>,
    pub(crate) d: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Items {
    pub(crate) items: Vec<u64>,
    pub(crate) n: u64,
    pub(crate) name: String,
}

pub(crate) fn make(n: u64) -> (Items, Items) {
    let one = |k: u64| Items { items: (0..k % 4).collect(), n: k, name: k.to_string() };
    (one(n), one(n + 1))
}

/// Does something when it is dropped.
pub(crate) struct Guard<'a> {
    of: &'a [u64],
    pub(crate) n: u64,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(of: &'a [u64]) -> Guard<'a> {
        Guard { of, n: of.len() as u64 }
    }
    pub(crate) fn touch(&self) {
        assert!(self.of.len() < 1000);
    }
    pub(crate) fn advance(&mut self) {
        self.n += 1;
    }
    pub(crate) fn count(&self) -> u64 {
        self.of.len() as u64 + self.n
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let sum = self.of.iter().fold(1_u64, |sum, x| sum.wrapping_mul(31).wrapping_add(*x));
        super::SEEN.set(super::SEEN.get().wrapping_mul(1_000_003).wrapping_add(sum));
    }
}

pub(crate) fn lend(of: &[u64]) -> Guard<'_> {
    Guard::new(of)
}

/// Does nothing then.
pub(crate) struct View<'a> {
    pub(crate) of: &'a [u64],
    pub(crate) n: u64,
    pub(crate) list: Vec<u64>,
}

impl<'a> View<'a> {
    pub(crate) fn new(of: &'a [u64]) -> View<'a> {
        View { of, n: of.len() as u64, list: of.to_vec() }
    }
    pub(crate) fn touch(&self) {
        assert!(self.of.len() < 1000);
    }
}

/// Is its list, too.
#[derive(Clone, Debug)]
pub(crate) struct Smart {
    pub(crate) list: Vec<u64>,
    pub(crate) name: Vec<u64>,
    pub(crate) n: u64,
}

impl Deref for Smart {
    type Target = Vec<u64>;
    fn deref(&self) -> &Vec<u64> {
        &self.list
    }
}

pub(crate) fn smart(n: u64) -> Smart {
    Smart { list: vec![n; 3], name: vec![n], n }
}

/// Nothing is moved out of it.
pub(crate) struct Dropped {
    pub(crate) list: Vec<u64>,
    pub(crate) name: Vec<u64>,
    pub(crate) n: u64,
}

impl Drop for Dropped {
    fn drop(&mut self) {
        super::SEEN.set(super::SEEN.get().wrapping_mul(31).wrapping_add(self.n));
    }
}

pub(crate) fn dropped(n: u64) -> Dropped {
    Dropped { list: vec![n; 3], name: vec![n], n }
}
