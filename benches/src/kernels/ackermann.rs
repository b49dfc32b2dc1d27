//! Ackermann's function: a call in the argument of a tail call, some hundred calls deep.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

#[autobatch(strict)]
fn ackermann(m: u32, n: u32) -> u32 {
    if m == 0 {
        n + 1
    } else if n == 0 {
        ackermann(m - 1, 1)
    } else {
        ackermann(m - 1, ackermann(m, n - 1))
    }
}

counterpart! {
    fn ispc_ackermann(columns(m: u32, n: u32)) -> u32
}

/// All pairs of `m` below 4 and `n` below 6 in turn.
pub struct Ackermann {
    m: Vec<u32>,
    n: Vec<u32>,
}

impl Kernel for Ackermann {
    type Value = u32;
    const NAME: &'static str = "ackermann";
    const MEMBERS: usize = 16_384;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        let (m, n) = (0..members as u32).map(|i| (i % 4, i / 4 % 6)).unzip();
        Ackermann { m, n }
    }

    fn members(&self) -> usize {
        self.m.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u32 {
        ackermann(self.m[i], self.n[i])
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u32>, BatchError> {
        ackermann_batched_with(&self.m, &self.n, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u32]) {
        ispc_ackermann(target, first, &self.m, &self.n, out);
    }
}

#[cfg(test)]
mod tests {
    use super::ackermann;

    #[test]
    fn closed_forms() {
        for n in 0..5 {
            assert_eq!(ackermann(1, n), n + 2);
            assert_eq!(ackermann(2, n), 2 * n + 3);
            assert_eq!(ackermann(3, n), (1 << (n + 3)) - 3);
        }
    }
}
