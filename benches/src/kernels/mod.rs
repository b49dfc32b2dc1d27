//! The kernels, one file each: a scalar function under `#[autobatch]`, its inputs, and its counterpart.

use crate::case::{Case, Kernel};

pub mod ackermann;
pub mod binomial;
pub mod black_scholes;
pub mod collatz;
pub mod fib;
pub mod gcd;
pub mod knapsack;
pub mod mandel;
pub mod newton;
pub mod ode;
mod options;
pub mod path_tracer;
pub mod queens;
pub mod roots;
pub mod simpson;
pub mod tree_walk;

/// A kernel of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The members of the full benchmark.
    pub members: usize,
    /// The members of a quick check.
    pub few: usize,
    /// Makes its inputs for a number of members.
    pub build: fn(usize) -> Box<dyn Case>,
}

const fn entry<K: Kernel>() -> Entry {
    Entry { name: K::NAME, members: K::MEMBERS, few: K::FEW, build: |members| Box::new(K::new(members)) }
}

/// All kernels.
pub const ALL: &[Entry] = &[
    entry::<mandel::Mandel<false>>(),
    entry::<mandel::Mandel<true>>(),
    entry::<collatz::Collatz>(),
    entry::<fib::Fib>(),
    entry::<simpson::Simpson<false>>(),
    entry::<simpson::Simpson<true>>(),
    entry::<black_scholes::BlackScholes>(),
    #[cfg(feature = "vector_math")]
    entry::<black_scholes::BlackScholesVectorMath>(),
    entry::<binomial::Binomial>(),
    #[cfg(feature = "vector_math")]
    entry::<binomial::BinomialVectorMath>(),
    entry::<gcd::Gcd>(),
    entry::<newton::Newton>(),
    entry::<ode::Ode>(),
    entry::<path_tracer::PathTracer>(),
    entry::<queens::Queens>(),
    entry::<tree_walk::TreeWalk>(),
    entry::<roots::Roots>(),
    entry::<roots::FirstRoot>(),
    entry::<knapsack::Knapsack>(),
    entry::<ackermann::Ackermann>(),
];
