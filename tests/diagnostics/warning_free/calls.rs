//! Modules whose functions are one program, and code that runs per member.

use autobatch::autobatch;

/// Two functions that call each other.
#[autobatch(strict)]
pub mod parity {
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

    /// Reached through another.
    fn helper(n: u32, by: u32) -> u32 {
        if n < by { n } else { helper(n - by, by) }
    }

    /// Calls it.
    #[must_use]
    pub fn sum(n: u32) -> u32 {
        helper(n, 3) + helper(n, 5)
    }
}

/// A call in a closure.
#[autobatch]
#[must_use]
pub fn catalan(n: u64) -> u64 {
    if n == 0 {
        return 1;
    }
    (0..n).map(|i| catalan(i) * catalan(n - 1 - i)).sum()
}

/// A call in a macro's tokens.
///
/// # Panics
///
/// Never.
#[autobatch]
#[must_use]
pub fn in_a_macro(n: u32) -> u32 {
    if n == 0 {
        return 0;
    }
    let below = [in_a_macro(n - 1), 0].to_vec();
    assert!(in_a_macro(n / 2) <= n);
    below[0] + 1
}

/// A local lent to the call, a function as a value, a borrow across a loop.
#[autobatch]
#[must_use]
pub fn lent(n: u32) -> u32 {
    fn into(n: u32, total: &mut u32) {
        *total += n;
    }
    let mut total = 0;
    into(n, &mut total);
    let slice = [n, total];
    let first = &slice[0];
    let mut i = 0;
    while i < *first {
        i += 3;
    }
    if n == 0 { 0 } else { Some(n / 2).map_or(0, lent) + i }
}

/// In the closures of iterators.
#[autobatch(strict)]
#[must_use]
pub fn triangulations(n: u64) -> u64 {
    if n == 0 { 1 } else { (0..n).map(|i| triangulations(i) * triangulations(n - 1 - i)).sum() }
}

/// In those that end early, of `Option`s, and with patterns of every kind.
#[autobatch(strict)]
#[must_use]
pub fn adapted(n: u32, limit: u32) -> Option<u32> {
    let below = n.checked_sub(2).and_then(|m| adapted(m, limit)).unwrap_or(n / 2);
    let pairs = [(n / 2, 1), (n / 3, 2)];
    let best = pairs
        .into_iter()
        .enumerate()
        .filter(|&(i, (m, _))| i < 2 && m > 3)
        .filter_map(|(_, (m, k))| adapted(m, limit).map(|v| v * k))
        .max_by(|a, b| a.cmp(b).reverse());
    let all: Option<Vec<u32>> = (0..n % 4).map(|m| adapted(m / 2, limit)).collect();
    let none = !(0..n % 3).any(|m| adapted(m / 3, limit).is_some_and(|v| v > limit));
    let sum: Option<u32> = (0..n % 2).map(|m| adapted(m, limit)).sum();
    Some(below.max(best?) + u32::try_from(all?.len()).ok()? + u32::from(none) + sum?)
}

/// A total of a type that may be a number.
#[autobatch::autobatch]
pub fn total<T: Copy + ::core::iter::Sum>(n: u32, x: T) -> T {
    if n == 0 { x } else { (0..n).map(|k| total(k, x)).sum() }
}
