//! Methods in modules: of traits, generic ones, under conditions, of types that stand elsewhere; what functions hand on.

use autobatch::autobatch;

/// What can be walked.
pub trait Walk {
    /// A number.
    type Number;
    /// Walks.
    fn walk(&self, n: u64) -> Self::Number;
}

/// A point.
#[derive(Clone, Copy, Debug)]
pub struct Point(pub u64);

/// Methods of all kinds.
#[autobatch(strict)]
pub mod program {
    use super::{Point, Walk};

    /// A pair.
    #[derive(Clone, Copy, Debug)]
    pub struct Pair<T>(pub T, pub T);

    impl<T: Into<u64> + Copy + Send + Sync> Walk for Pair<T> {
        type Number = u64;
        fn walk(&self, n: u64) -> Self::Number {
            if n == 0 { self.0.into() } else { self.walk(n - 1).wrapping_mul(3) ^ self.1.into() }
        }
    }

    /// Steps.
    #[derive(Clone, Copy, Debug)]
    pub struct Steps {
        /// How far.
        pub far: u64,
    }

    impl Walk for Steps {
        type Number = u64;
        fn walk(&self, n: u64) -> u64 {
            if n < 2 { self.far } else { Walk::walk(self, n - 1) ^ <Steps as Walk>::walk(self, n - 2) }
        }
    }

    #[cfg(not(any()))]
    impl Steps {
        /// Is there.
        #[must_use]
        pub fn there(&self, n: u64) -> u64 {
            if n == 0 { self.far } else { self.there(n - 1) ^ n }
        }

        /// Is not there.
        #[cfg(any())]
        #[must_use]
        pub fn gone(&self, n: u64) -> u64 {
            if n == 0 { self.far } else { self.gone(n - 1) ^ n }
        }

        /// Takes itself in another way.
        #[must_use]
        pub fn taken(self, n: u64) -> u64 {
            if n == 0 { self.far } else { self.taken(n - 1) ^ n }
        }
    }

    impl Point {
        /// Doubles.
        #[must_use]
        pub fn doubled(&self, n: u64) -> u64 {
            if n == 0 { self.0 } else { self.doubled(n - 1).wrapping_mul(2) }
        }
    }

    fn tail(values: &[u64]) -> &[u64] {
        values.split_first().map_or(values, |(_, rest)| rest)
    }

    fn sum(values: &[u64], n: u64) -> u64 {
        if n == 0 { values.iter().sum() } else { sum(values, n - 1) ^ n }
    }

    /// Calls all of them.
    #[must_use]
    pub fn all(steps: &Steps, point: &Point, values: &[u64], n: u64) -> u64 {
        let step = n % 3 + 1;
        let mut found = sum(tail(values), n % 5);
        for x in (0..n).map(|i| i * step) {
            if x > 9 {
                break;
            }
            found ^= steps.walk(x) ^ steps.there(x) ^ point.doubled(x) ^ steps.taken(x);
        }
        found
    }
}

/// A type's lifetime has no name, and what its methods yield has it.
#[autobatch]
pub mod rows {
    /// A row.
    #[derive(Clone, Copy, Debug)]
    pub struct Row<'a>(pub &'a [f64]);

    impl Row<'_> {
        /// What is left.
        #[must_use]
        pub fn rest(self, n: u32) -> Self {
            if n == 0 || self.0.len() < 2 { self } else { Row(&self.0[1..]).rest(n - 1) }
        }

        /// Two of them.
        #[must_use]
        pub fn turns(self, other: Self, n: u32) -> (Self, f64) {
            if n == 0 { (self, other.0[0]) } else { other.turns(self, n - 1) }
        }

        /// A part.
        #[must_use]
        pub fn first(&self, n: u32) -> &f64 {
            if n == 0 { &self.0[0] } else { self.first(n - 1) }
        }
    }
}
