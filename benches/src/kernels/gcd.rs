//! Greatest common divisors by Euclid: a loop of one 64-bit division.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::Numbers;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

counterpart! {
    fn ispc_gcd(columns(a: u64, b: u64)) -> u64
}

/// Pairs of random numbers of 16 to 64 bits.
pub struct Gcd {
    a: Vec<u64>,
    b: Vec<u64>,
}

impl Kernel for Gcd {
    type Value = u64;
    const NAME: &'static str = "gcd";
    const MEMBERS: usize = 262_144;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        let mut numbers = Numbers::new(6);
        let mut number = || numbers.bits() >> numbers.below(49);
        let (a, b) = (0..members).map(|_| (number(), number())).unzip();
        Gcd { a, b }
    }

    fn members(&self) -> usize {
        self.a.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u64 {
        gcd(self.a[i], self.b[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u64>, BatchError> {
        gcd_batched_with(&self.a, &self.b, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u64]) {
        ispc_gcd(target, first, &self.a, &self.b, out);
    }
}
