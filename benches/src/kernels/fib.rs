//! Fibonacci numbers by the definition: nothing but calls.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

counterpart! {
    fn ispc_fib(columns(n: u64)) -> u64
}

/// Arguments from 15 to 24 in turn.
pub struct Fib {
    n: Vec<u64>,
}

impl Kernel for Fib {
    type Value = u64;
    const NAME: &'static str = "fib";
    const MEMBERS: usize = 4096;
    const FEW: usize = 7;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        Fib { n: (0..members).map(|i| 15 + i as u64 % 10).collect() }
    }

    fn members(&self) -> usize {
        self.n.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u64 {
        fib(self.n[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u64>, BatchError> {
        fib_batched_with(&self.n, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u64]) {
        ispc_fib(target, first, &self.n, out);
    }
}
