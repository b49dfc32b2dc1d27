//! Attributes, visibility, names.

use autobatch::autobatch;

/// With docs, in front of and behind the attribute.
#[autobatch(strict)]
#[must_use]
#[inline]
pub fn documented(n: u32) -> u32 {
    let mut i = 0;
    while i * i < n {
        i += 1;
    }
    i
}

/// Constant.
#[autobatch(strict)]
#[must_use]
pub const fn constant(mut n: u32) -> u32 {
    const MASK: u32 = 1;
    const fn low(n: u32) -> u32 {
        n & MASK
    }
    let mut count = 0;
    while n > 0 {
        count += low(n);
        n >>= 1;
    }
    count
}

/// Deprecated, and recursive: it calls itself.
#[autobatch(strict)]
#[deprecated(since = "1.0.0", note = "use another")]
#[must_use]
pub fn old(n: u32) -> u32 {
    if n < 2 { n } else { old(n - 1).wrapping_add(old(n - 2)) }
}

/// Deprecated, with a loop, and hidden.
#[deprecated(since = "1.0.0", note = "use another")]
#[doc(hidden)]
#[autobatch(strict)]
#[cfg_attr(not(any()), must_use, allow(clippy::cast_lossless))]
pub fn old_loop(n: u32) -> u64 {
    let mut k = n;
    while k > 5 {
        k -= 5;
    }
    k as u64
}

/// Lints of the user's own.
#[autobatch(strict)]
#[allow(clippy::cast_possible_truncation, non_snake_case)]
#[must_use]
pub fn casts(N: u64) -> u32 {
    let mut Big = N;
    while Big > 0xffff_ffff {
        Big /= 2;
    }
    Big as u32
}

/// An expectation that the scalar function fulfils.
#[autobatch(strict)]
#[expect(clippy::many_single_char_names, reason = "a formula")]
#[must_use]
pub fn single_letters(a: f64, b: f64, c: f64, d: f64, e: f64) -> f64 {
    let (f, g) = (a * b, c * d);
    if f > g { f + e } else { g - e }
}

/// Where it panics.
///
/// # Panics
///
/// At zero.
#[autobatch(strict)]
#[track_caller]
#[must_use]
pub fn picky(n: u32) -> u32 {
    assert!(n > 0, "no zero");
    let mut k = n;
    while k.is_multiple_of(2) {
        k /= 2;
    }
    k
}

/// Under a condition that holds.
#[cfg(not(any()))]
#[autobatch(strict)]
#[must_use]
pub fn conditional(n: u32) -> u32 {
    let mut k = n;
    #[cfg(any())]
    {
        k = missing(k);
    }
    #[cfg(not(any()))]
    {
        k += 1;
    }
    while k > 9 {
        k -= 9;
    }
    k
}

/// Under a condition that does not hold: nothing of it exists.
#[autobatch(strict)]
#[cfg(any())]
#[must_use]
pub fn absent(n: Missing) -> Missing {
    n
}

/// A name that is a keyword, and parameters that are.
#[autobatch(strict)]
#[must_use]
pub fn r#match(r#type: u32, r#in: u32) -> u32 {
    if r#type > r#in { r#match(r#type - 1, r#in) } else { r#type }
}

/// Its own name and the defaults of its options.
#[autobatch(name = "all_of_them", executor = Masked, schedule = MostLanes, lanes = 32, max_depth = 10_000)]
#[must_use]
pub fn one_of_them(x: f32) -> f32 {
    if x > 1.0 { one_of_them(x * 0.5) } else { x }
}

/// Elementary functions from the crate's own list.
#[autobatch(strict, vector_math)]
#[must_use]
pub fn elementary(x: f64) -> f64 {
    let mut y = x;
    while y.abs() > 1.0 {
        y = y.sin() + y.exp().ln() * 0.25;
    }
    y
}

/// Visible in parts of the crate only.
pub mod inner {
    use autobatch::autobatch;

    #[autobatch(strict)]
    fn private(n: u32) -> u32 {
        if n > 3 { private(n / 2) } else { n }
    }

    #[autobatch(strict)]
    pub(super) fn above(n: u32) -> u32 {
        private(n) + 1
    }

    #[autobatch(strict)]
    pub(crate) fn of_the_crate(n: u32) -> u32 {
        above(n) + 1
    }

    #[autobatch(strict)]
    pub(in crate::attributes) fn of_a_module(n: u32) -> u32 {
        of_the_crate(n) + 1
    }

    #[autobatch(strict)]
    #[allow(clippy::needless_pub_self)]
    pub(self) fn of_this_module(n: u32) -> u32 {
        of_a_module(n) + 1
    }

    pub(super) fn all(n: &[u32]) -> [Vec<u32>; 5] {
        [
            private_batched(n),
            above_batched(n),
            of_the_crate_batched(n),
            of_a_module_batched(n),
            of_this_module_batched(n),
        ]
    }
}

/// Functions inside functions, and by macros.
#[must_use]
pub fn nested(n: &[u32]) -> [Vec<u32>; 3] {
    #[autobatch(strict)]
    fn local(n: u32) -> u32 {
        if n > 5 { local(n - 5) } else { n }
    }
    let _unused = (inner::of_the_crate_batched(n), inner::of_a_module_batched(n), inner::above_batched(n));
    let [first, ..] = inner::all(n);
    [first, local_batched(n), by_macro_batched(n)]
}

macro_rules! function {
    ($name:ident, $ty:ty, $limit:expr) => {
        #[autobatch(strict)]
        fn $name(n: $ty) -> $ty {
            let mut k = n;
            while k > $limit {
                k -= $limit;
            }
            k
        }
    };
}

function!(by_macro, u32, 1 + 2);
