//! A member's state ends as the scalar function leaves it, to the bit, whether lane code works on the state, on a copy of it, or hands it
//! back as a value.

// The code here is as users write it.
#![allow(clippy::all)]

#[path = "../common/mod.rs"]
mod common;

mod faults;
mod references_that_stay;
mod types;
mod values;

use common::Bits;

/// A generator as many write it: neither `Copy` nor of a library.
#[derive(Clone, Debug)]
pub(crate) struct Xorshift(pub(crate) u64);

impl Xorshift {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform on `0..1`.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

impl Bits for Xorshift {
    fn same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

pub(crate) fn seeds() -> [u64; 37] {
    std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

pub(crate) fn generators() -> Vec<Xorshift> {
    seeds().map(Xorshift).to_vec()
}
