//! Counters of `for` loops over ranges that members leave at different times. For generated code only.
//!
//! A range as an iterator is a struct behind a `next` that returns an option: the lane code would carry it
//! as one value of 16 or more bytes. Its ends as variables of their own are carried in vectors, and the
//! loop vectorises as a `while` does. The steps are those of `Range` and `RangeInclusive` in the standard
//! library, from either end.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What a range can count with: the types that the standard library makes ranges iterators for.
pub trait Counter: Copy + PartialOrd {
    /// A truth value as wide as the counter, so that lanes need no conversion.
    type Flag: Flag;
    /// The next one; there is one.
    fn up(self) -> Self;
    /// The one before; there is one.
    fn down(self) -> Self;
}

/// A truth value.
pub trait Flag: Copy {
    /// Of a condition.
    fn of(truth: bool) -> Self;
    /// Whether it is true.
    fn is(self) -> bool;
}

impl Flag for bool {
    #[cfg_attr(optimised, inline(always))]
    fn of(truth: bool) -> bool {
        truth
    }
    #[cfg_attr(optimised, inline(always))]
    fn is(self) -> bool {
        self
    }
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Flag for $t {
            #[cfg_attr(optimised, inline(always))]
            fn of(truth: bool) -> $t {
                truth as $t
            }
            #[cfg_attr(optimised, inline(always))]
            fn is(self) -> bool {
                self != 0
            }
        }
        impl Counter for $t {
            type Flag = $t;
            #[cfg_attr(optimised, inline(always))]
            fn up(self) -> $t {
                self.wrapping_add(1)
            }
            #[cfg_attr(optimised, inline(always))]
            fn down(self) -> $t {
                self.wrapping_sub(1)
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! through_integers {
    ($($t:ty, $up:expr, $down:expr;)*) => {$(
        impl Counter for $t {
            type Flag = bool;
            #[cfg_attr(optimised, inline(always))]
            fn up(self) -> $t {
                $up(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn down(self) -> $t {
                $down(self)
            }
        }
    )*};
}

through_integers! {
    char, |c: char| (c..=char::MAX).nth(1).unwrap_or(c), |c: char| ('\0'..c).next_back().unwrap_or(c);
    Ipv4Addr, |a: Ipv4Addr| Ipv4Addr::from_bits(a.to_bits().wrapping_add(1)), |a: Ipv4Addr| Ipv4Addr::from_bits(a.to_bits().wrapping_sub(1));
    Ipv6Addr, |a: Ipv6Addr| Ipv6Addr::from_bits(a.to_bits().wrapping_add(1)), |a: Ipv6Addr| Ipv6Addr::from_bits(a.to_bits().wrapping_sub(1));
}

/// `&list[first..]` of a list of so many elements: where a loop over it begins.
#[track_caller]
#[cfg_attr(optimised, inline(always))]
pub fn count_behind(len: &usize, first: usize) -> usize {
    if first > *len {
        begins_behind_the_end(*len, first);
    }
    first
}

/// Panics as the slice does.
#[cold]
#[inline(never)]
#[track_caller]
fn begins_behind_the_end(len: usize, first: usize) {
    let _ = &vec![(); len][first..];
}

/// `at..end`: whether there is another.
#[cfg_attr(optimised, inline(always))]
pub fn count_more<T: Counter>(at: &T, end: &T) -> bool {
    at < end
}

/// `at..end`: the next one, if there is another.
#[cfg_attr(optimised, inline(always))]
pub fn count_up<T: Counter>(at: &mut T) -> T {
    let now = *at;
    *at = now.up();
    now
}

/// `(at..end).rev()`: the next one, if there is another.
#[cfg_attr(optimised, inline(always))]
pub fn count_down<T: Counter>(end: &mut T) -> T {
    *end = end.down();
    *end
}

/// `at..=end`: whether there is one at all.
#[cfg_attr(optimised, inline(always))]
pub fn count_any<T: Counter>(at: &T, end: &T) -> T::Flag {
    T::Flag::of(at <= end)
}

/// `at..=end`: whether there is another.
#[cfg_attr(optimised, inline(always))]
pub fn count_is<F: Flag>(more: &F) -> bool {
    more.is()
}

/// `at..=end`: the next one, if there is another.
#[cfg_attr(optimised, inline(always))]
pub fn count_up_to<T: Counter>(at: &mut T, end: &T, more: &mut T::Flag) -> T {
    let now = *at;
    let another = now < *end;
    *at = if another { now.up() } else { now };
    *more = T::Flag::of(another);
    now
}

/// `(at..=end).rev()`: the next one, if there is another.
#[cfg_attr(optimised, inline(always))]
pub fn count_down_to<T: Counter>(at: &T, end: &mut T, more: &mut T::Flag) -> T {
    let now = *end;
    let another = *at < now;
    *end = if another { now.down() } else { now };
    *more = T::Flag::of(another);
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_too_short_panics_as_its_slice_does() {
        let message = |slices: &dyn Fn()| {
            let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(slices)).unwrap_err();
            *payload.downcast::<String>().expect("a message")
        };
        let list = std::hint::black_box(vec![1u8; 3]);
        assert_eq!(message(&|| _ = count_behind(&3, 4)), message(&|| _ = &list[4..]));
        assert_eq!((count_behind(&3, 3), count_behind(&3, 0)), (3, 0));
    }

    fn same<T: Counter + std::fmt::Debug>(start: T, end: T, open: &[T], closed: &[T]) {
        let (mut at, mut found) = (start, Vec::new());
        while count_more(&at, &end) {
            found.push(count_up(&mut at));
        }
        assert_eq!(found, open);
        let (mut back, mut found) = (end, Vec::new());
        while count_more(&start, &back) {
            found.insert(0, count_down(&mut back));
        }
        assert_eq!(found, open);
        let (mut at, mut more, mut found) = (start, count_any(&start, &end), Vec::new());
        while count_is(&more) {
            found.push(count_up_to(&mut at, &end, &mut more));
        }
        assert_eq!(found, closed);
        let (mut back, mut more, mut found) = (end, count_any(&start, &end), Vec::new());
        while count_is(&more) {
            found.insert(0, count_down_to(&start, &mut back, &mut more));
        }
        assert_eq!(found, closed);
    }

    #[allow(clippy::reversed_empty_ranges)]
    fn empty() {
        same(6u8, 5u8, &[], &[]);
        same(9i64, -9i64, &[], &[]);
    }

    macro_rules! check {
        ($($start:expr, $end:expr;)*) => {$(
            same($start, $end, &($start..$end).collect::<Vec<_>>(), &($start..=$end).collect::<Vec<_>>());
        )*};
    }

    #[test]
    fn as_the_standard_library_counts() {
        empty();
        check! {
            0u8, 255u8;
            250u8, 255u8;
            5u8, 5u8;
            -128i8, -126i8;
            i64::MAX - 2, i64::MAX;
            i128::MIN, i128::MIN + 3;
            0usize, 3usize;
            '\u{d7fe}', '\u{e002}';
            '\u{10fffe}', char::MAX;
            '\0', '\x02';
            Ipv4Addr::new(1, 2, 3, 254), Ipv4Addr::new(1, 2, 4, 2);
            Ipv6Addr::from_bits(u128::MAX - 1), Ipv6Addr::from_bits(u128::MAX);
        }
    }
}
