//! Where the sequences of a ragged column begin and end.

use std::fmt;
use std::ops::Range;

use super::super::fault::{BadOffsets, BatchError};

/// The offsets of a [`Ragged`](super::Ragged) column: a slice, vector or array of `usize`, or of `i32` or `i64`, as Arrow has them, as they are.
///
/// ```
/// use autobatch::{Offsets, Ragged};
///
/// let values = [1.0, 2.0, 3.0];
/// let offsets: Vec<i64> = vec![1, 1, 3];
/// let rows = Ragged::new(&values, &offsets);
/// assert_eq!((rows.len(), rows.row(1)), (2, &[2.0, 3.0][..]));
/// # let _ = Offsets::from(&offsets);
/// ```
#[derive(Clone, Copy)]
pub struct Offsets<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Usize(&'a [usize]),
    I32(&'a [i32]),
    I64(&'a [i64]),
}

macro_rules! offsets {
    ($($kind:ident, $number:ty;)*) => {$(
        impl<'a> From<&'a [$number]> for Offsets<'a> {
            fn from(offsets: &'a [$number]) -> Self {
                Offsets(Kind::$kind(offsets))
            }
        }

        impl<'a> From<&'a Vec<$number>> for Offsets<'a> {
            fn from(offsets: &'a Vec<$number>) -> Self {
                Offsets(Kind::$kind(offsets))
            }
        }

        impl<'a, const N: usize> From<&'a [$number; N]> for Offsets<'a> {
            fn from(offsets: &'a [$number; N]) -> Self {
                Offsets(Kind::$kind(offsets))
            }
        }
    )*};
}

offsets! {
    Usize, usize;
    I32, i32;
    I64, i64;
}

impl fmt::Debug for Offsets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Usize(offsets) => offsets.fmt(f),
            Kind::I32(offsets) => offsets.fmt(f),
            Kind::I64(offsets) => offsets.fmt(f),
        }
    }
}

/// Compared as they are: all of one kind.
fn check<O: Copy + PartialOrd + Into<Wide>>(values: usize, offsets: &[O]) -> Result<(), BadOffsets> {
    let [first, .., last] = offsets else {
        return match offsets {
            [] => Err(BadOffsets::None),
            [only] => check(values, &[*only, *only]),
            _ => unreachable!("two have a first and a last"),
        };
    };
    let wide = |offset: O| offset.into().0;
    if wide(*first) < 0 {
        return Err(BadOffsets::Start { first: wide(*first) });
    }
    // Without an early exit it is vector code.
    let ascend = offsets.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]));
    if !ascend && let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(BadOffsets::Descend { at, offset: wide(offsets[at]), next: wide(offsets[at + 1]) });
    }
    match usize::try_from(wide(*last)) {
        Ok(last) if last <= values => Ok(()),
        _ => Err(BadOffsets::End { last: wide(*last), values }),
    }
}

/// An offset of any kind.
struct Wide(i64);

impl From<usize> for Wide {
    fn from(offset: usize) -> Self {
        // More than there can be values.
        Wide(i64::try_from(offset).unwrap_or(i64::MAX))
    }
}

impl From<i32> for Wide {
    fn from(offset: i32) -> Self {
        Wide(offset.into())
    }
}

impl From<i64> for Wide {
    fn from(offset: i64) -> Self {
        Wide(offset)
    }
}

impl Offsets<'_> {
    /// The number of members that they cut.
    pub(super) fn members(self) -> usize {
        let offsets = match self.0 {
            Kind::Usize(offsets) => offsets.len(),
            Kind::I32(offsets) => offsets.len(),
            Kind::I64(offsets) => offsets.len(),
        };
        offsets.saturating_sub(1)
    }

    /// The first of them, which have been checked.
    pub(super) fn first(self) -> usize {
        match self.0 {
            Kind::Usize(offsets) => offsets[0],
            Kind::I32(offsets) => offsets[0] as usize,
            Kind::I64(offsets) => offsets[0] as usize,
        }
    }

    /// Where a member's values are. Offsets below 0 are larger than there can be values.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn range(self, member: usize) -> Range<usize> {
        match self.0 {
            Kind::Usize(offsets) => offsets[member]..offsets[member + 1],
            Kind::I32(offsets) => offsets[member] as usize..offsets[member + 1] as usize,
            Kind::I64(offsets) => offsets[member] as usize..offsets[member + 1] as usize,
        }
    }

    /// Says what is wrong with them, if anything is.
    pub(super) fn check(self, values: usize, parameter: &'static str) -> Result<(), BatchError> {
        let checked = match self.0 {
            Kind::Usize(offsets) => check(values, offsets),
            Kind::I32(offsets) => check(values, offsets),
            Kind::I64(offsets) => check(values, offsets),
        };
        checked.map_err(|wrong| BatchError::Offsets { parameter, wrong })
    }
}
