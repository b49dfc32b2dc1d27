//! Nothing comes from the prelude.
#![no_implicit_prelude]

use ::core::ops::Fn;

/// Loops, branches, recursion.
#[::autobatch::autobatch(strict)]
#[must_use]
pub fn loops(n: u32, x: f64, weight: &(dyn Fn(u32) -> f64 + ::core::marker::Sync)) -> f64 {
    let mut sum = x;
    for i in 0..n {
        if weight(i) > 4.0 {
            break;
        }
        sum += weight(i);
    }
    while sum > 9.0 {
        sum /= 2.0;
    }
    if n > 2 { sum + loops(n - 2, x, weight) } else { sum }
}

/// Two programs in one.
#[::autobatch::autobatch]
pub mod parity {
    #![no_implicit_prelude]
    /// Whether `n` is even.
    #[must_use]
    pub fn even(n: u32) -> bool {
        n == 0 || odd(n - 1)
    }

    /// Whether `n` is odd.
    #[must_use]
    pub fn odd(n: u32) -> bool {
        n != 0 && even(n - 1)
    }
}

/// Counts.
#[::core::prelude::v1::derive(::core::fmt::Debug)]
pub struct Counter {
    at: u32,
}

#[::autobatch::autobatch]
impl Counter {
    /// Counts.
    pub fn count(&mut self, until: u32) -> u32 {
        while self.at < until {
            self.at += 1;
        }
        self.at
    }
}
