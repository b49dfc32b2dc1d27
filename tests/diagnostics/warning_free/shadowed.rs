//! Names of the standard library with other meanings.

/// Modules in the way.
pub mod modules {
    use ::autobatch::autobatch;

    /// Not the crate.
    pub mod std {}
    /// Not the crate.
    pub mod core {}
    /// Not the crate.
    pub mod autobatch {}

    /// Recursive, with loops.
    #[::autobatch::autobatch(strict)]
    #[must_use]
    pub fn digits(n: u64) -> u64 {
        let mut sum = 0;
        for i in 0..n % 7 {
            sum += i;
        }
        if n > 9 { digits(n / 10) + n % 10 + sum } else { n }
    }

    /// A `?`.
    #[autobatch(strict)]
    #[must_use]
    pub fn tried(n: u64) -> Option<u64> {
        let below = tried(n.checked_sub(3)?)?;
        Some(below + 1)
    }
}

/// Types, functions, macros and traits in the way.
#[allow(dead_code, unused_macros, clippy::pedantic)]
pub mod names {
    use autobatch::autobatch;

    macro_rules! panic { () => { compile_error!("the user's own") }; }
    macro_rules! vec { () => { compile_error!("the user's own") }; }
    macro_rules! matches { () => { compile_error!("the user's own") }; }
    macro_rules! assert { () => { compile_error!("the user's own") }; }
    macro_rules! unreachable { () => { compile_error!("the user's own") }; }
    macro_rules! debug_assert { () => { compile_error!("the user's own") }; }

    struct Vec;
    struct Box;
    struct Option;
    struct Result;
    struct String;
    struct Default;
    struct Iterator;
    struct IntoIterator;
    struct Clone;
    struct Send;
    struct Sync;
    struct Sized;
    struct Copy;
    struct Drop;
    struct FnOnce;
    struct Some;
    struct None;
    struct Ok;
    struct Err;
    fn drop() {}

    /// Loops, branches, recursion.
    #[autobatch(strict)]
    pub(crate) fn loops(n: u32, #[each] xs: &[u32], seen: &mut u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            if i * i > n {
                break;
            }
            sum += i;
        }
        for x in xs {
            if *x > 3 {
                return sum;
            }
            sum += x;
        }
        *seen += sum;
        if n > 2 && loops(n - 2, xs, seen) > 3 { sum + loops(n / 2, xs, seen) } else { sum }
    }

    pub(super) fn call(xs: &[[u32; 2]], seen: &mut [u32]) -> u32 {
        loops_batched(&[1, 2, 3], xs, seen)[0]
    }
}

/// Nothing comes from the prelude.
pub mod without_prelude;

/// Calls one.
#[must_use]
pub fn call() -> u32 {
    names::call(&[[1, 2], [3, 4], [5, 6]], &mut [0; 3])
}
