//! Lengths of Collatz sequences: a short loop whose trip counts differ wildly.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::spread;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
fn collatz(x: u64) -> u32 {
    let mut n = x;
    let mut steps = 0;
    while n != 1 {
        n = if n & 1 == 0 { n >> 1 } else { n.wrapping_mul(3).wrapping_add(1) };
        steps += 1;
    }
    steps
}

counterpart! {
    fn ispc_collatz(columns(x: u64)) -> u32
}

/// The numbers from 1 on.
pub struct Collatz {
    x: Vec<u64>,
}

impl Kernel for Collatz {
    type Value = u32;
    const NAME: &'static str = "collatz";
    const MEMBERS: usize = 400_000;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        Collatz { x: spread(members, Self::MEMBERS).map(|i| i as u64 + 1).collect() }
    }

    fn members(&self) -> usize {
        self.x.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u32 {
        collatz(self.x[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u32>, BatchError> {
        collatz_batched_with(&self.x, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u32]) {
        ispc_collatz(target, first, &self.x, out);
    }
}
