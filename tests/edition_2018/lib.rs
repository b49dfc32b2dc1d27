//! The attribute in a crate of the edition of 2018: closures capture whole variables there, temporaries live longer, and paths are read
//! otherwise.

#![cfg(test)]
#![allow(clippy::needless_lifetimes)] // as it was written in 2018

use autobatch::{autobatch, Executor, Options};

fn executors() -> Vec<Options> {
    let all = [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto];
    all.iter().map(|executor| Options::default().executor(*executor)).collect()
}

struct Builder {
    side: u64,
}

#[autobatch]
impl Builder {
    /// A state that is given back.
    fn side<'a>(&'a mut self, side: u64) -> &'a mut Self {
        self.side = side;
        self
    }

    #[deprecated(note = "it stays")]
    fn add(&mut self, n: u64) -> u64 {
        self.side += n;
        self.side
    }

    fn add_all(&mut self, n: u64) -> u64 {
        let mut k = n;
        while k > 3 {
            self.side ^= k;
            k /= 2;
        }
        #[allow(deprecated)]
        self.add(k)
    }
}

fn rest(a: i64, n: i64) -> i64 {
    a.rem_euclid(n)
}

/// A divisor by Pollard's rho method: nothing behind the loop, other than a panic with a semicolon.
#[autobatch]
fn divisor(n: i64) -> i64 {
    for a in 1..n {
        let f = |x| rest(x * x + a, n);
        let mut x = 2;
        let mut y = 2;
        loop {
            x = f(x);
            y = f(f(y));
            let mut div = (rest(x - y, n), n);
            while div.0 != 0 {
                div = (div.1 % div.0, div.0);
            }
            if div.1 == n {
                break;
            } else if div.1 > 1 {
                return div.1;
            }
        }
    }
    panic!("No divisor found!");
}

#[test]
fn states_are_changed_and_given_back() {
    let numbers: Vec<u64> = (0..200).map(|n| n * n % 53).collect();
    let builders = || numbers.iter().map(|n| Builder { side: n * 3 }).collect::<Vec<_>>();
    let mut expected = builders();
    let added: Vec<u64> = expected.iter_mut().zip(&numbers).map(|(b, n)| b.side(n + 1).add_all(*n)).collect();
    for options in executors() {
        let mut found = builders();
        let sides: Vec<u64> = numbers.iter().map(|n| n + 1).collect();
        let outcome = Builder::side_batched_with(&mut found, &sides, &options).unwrap();
        let given: Vec<u64> = outcome.into_values().unwrap().into_iter().map(|b| b.side).collect();
        assert_eq!(given, sides);
        let outcome = Builder::add_all_batched_with(&mut found, &numbers, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), added);
        assert!(found.iter().zip(&expected).all(|(a, b)| a.side == b.side));
    }
}

#[test]
fn a_function_may_end_in_a_panic_with_a_semicolon() {
    let numbers: Vec<i64> = (0..200).map(|n| (n % 13 + 2) * (n % 11 + 5)).collect();
    let expected: Vec<i64> = numbers.iter().map(|n| divisor(*n)).collect();
    for options in executors() {
        let outcome = divisor_batched_with(&numbers, &options).unwrap();
        assert_eq!(outcome.into_values().unwrap(), expected);
    }
}
