//! Nested frames: how programs that only compute run calls, by native recursion over columns. For generated
//! code only.
//!
//! Every function of such a program is, once per instruction set, a native function from columns to columns
//! ([`Arena::column`]): it runs for the lanes of a [`Set`]. A call is a native call; its callee works in the
//! caller's lanes for as long as it takes to see who returns at once, then goes on in a dense frame of its
//! own if few are left ([`is_sparse`]), or by scalar code if very few are ([`is_few`]). Loops run in
//! columns of their own, which lose the lanes that have left (`loops`). Functions whose calls can all be made at
//! once run level by level instead ([`Tower`]), in an order in which neighbours are alike ([`Order`]).
//!
//! *Only compute* means that running a piece of the program once more, or on a copy of a member, shows
//! nowhere: values are numbers, `bool`s, `char`s, and tuples and arrays of them. So pads may compute, and a
//! panic drops the whole tile, whose members then run one by one, as scalar code.
//!
//! These functions are safe to call because generated code contains no `unsafe`; they are sound under the
//! protocol that a slot is read only in lanes in which the variable is live.

use std::hint::black_box;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::ptr;

use crate::depth::Depth;
use crate::isa::{self, Level};
use crate::rooms::Rules;
use crate::source::Source;
use crate::strip::Home;
pub use crate::strip::{Local, Partial, Strip};

mod arena;
mod beside;
mod dense;
mod fork;
mod gang;
mod loops;
mod order;
mod set;

#[cfg(not(target_arch = "x86_64"))]
pub use crate::isa::level;
pub use crate::isa::{append, fetch};
#[cfg(target_arch = "x86_64")]
pub use crate::isa::{level_avx2, level_avx512};
pub(crate) use arena::Memory;
pub use arena::{Arena, align};
pub use beside::{SideBySide, side_by_side};
pub use dense::{copied, gather, scatter};
pub use fork::{Grown, Levels, Tower, copy};
pub use gang::{Columns, Gang, Here, Lanes, alone, bits, body, kind, merge, part};
pub use loops::{Flags, Words, Work, put, rounds, rounds_of};
pub use order::{Order, back, decides, differs, ordered};
pub use set::{Set, full, spread, squeeze};

/// What a tile is run with.
pub struct Nest<'r> {
    pub(crate) memory: &'r mut Memory,
    pub(crate) members: Range<usize>,
    pub(crate) depth: Depth,
    pub(crate) level: Level,
    /// If it runs in rooms ([`crate::rooms`]).
    pub(crate) rules: Option<Rules<'r>>,
}

/// Neighbouring members.
#[derive(Clone, Copy)]
pub struct Members {
    first: usize,
    len: usize,
}

impl Members {
    /// How many.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.len
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.first..self.first + self.len
    }
}

impl Nest<'_> {
    /// The members of the tile.
    #[inline(always)]
    pub fn members(&self) -> Members {
        Members { first: self.members.start, len: self.members.len() }
    }

    /// The depth of the entry function.
    #[inline(always)]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The memory of its frames.
    #[inline(always)]
    pub fn arena(&mut self) -> Arena<'_> {
        self.memory.arena(self.level)
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }
}

/// Whether so few lanes run faster as scalar code, where that is so for up to `most`.
#[inline(always)]
pub fn is_few(lanes: usize, most: usize) -> bool {
    // Tests shall meet frames of few lanes.
    lanes <= if cfg!(debug_assertions) { 4 } else { most }
}

/// Whether `count` members shall leave a frame of `lanes` for one of their own.
#[inline(always)]
pub fn is_sparse(count: usize, lanes: usize) -> bool {
    4 * count < 3 * lanes
}

/// The lanes of a frame for `count` members: whole strips.
#[inline(always)]
pub fn width<const W: usize>(count: usize) -> usize {
    count.next_multiple_of(W)
}

/// The column of a parameter for the members of a tile: where the caller of the batch has it if there are no
/// pads.
#[inline(always)]
pub fn load<'a, T>(
    arena: &mut Arena<'a>,
    source: &'a impl Source<T>,
    members: Members,
    lanes: usize,
) -> &'a [MaybeUninit<T>] {
    if members.len == lanes
        && !needs_drop::<T>()
        && let Some(values) = source.slice(members.range())
    {
        // SAFETY: a value is a `MaybeUninit`; what is read is a copy, and nothing is dropped.
        return unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) };
    }
    let column = arena.column(lanes);
    source.fill(members.first, &mut column[..members.len]);
    pad(column, members.len);
    column
}

/// The column of a parameter that is the same for all members.
#[inline(always)]
pub fn load_same<'a, T>(arena: &mut Arena<'a>, value: T, lanes: usize) -> &'a mut [MaybeUninit<T>] {
    let column = arena.column(lanes);
    if let [first, ..] = &mut *column {
        first.write(value);
        pad(column, 1);
    }
    column
}

/// Gives the lanes behind the first `count` the bits of the last of these.
#[inline(always)]
pub fn pad<T>(column: &mut [MaybeUninit<T>], count: usize) {
    let (members, pads) = column.split_at_mut(count);
    if let Some(last) = members.last() {
        // SAFETY: any bits are a `MaybeUninit`; copies of values that only compute are harmless.
        pads.iter_mut().for_each(|pad| *pad = unsafe { ptr::read(last) });
    }
}

/// The first `strips` strips of a column, to be read.
#[inline(always)]
pub fn strips<T, const W: usize>(column: &[MaybeUninit<T>], strips: usize) -> &[[MaybeUninit<T>; W]] {
    &column.as_chunks().0[..strips]
}

/// The same, to be written.
#[inline(always)]
pub fn strips_mut<T, const W: usize>(
    column: &mut [MaybeUninit<T>],
    strips: usize,
) -> &mut [[MaybeUninit<T>; W]] {
    &mut column.as_chunks_mut().0[..strips]
}

/// The lanes of a strip, to work on in a copy that goes back in the end.
#[inline(always)]
pub fn open<T, const W: usize>(strip: &mut [MaybeUninit<T>; W]) -> Home<'_, T, W, true> {
    Home(strip)
}

/// The value of a lane.
#[inline(always)]
pub fn value<T>(column: &[MaybeUninit<T>], lane: usize) -> T {
    // SAFETY: by the protocol the slot holds a value, which only computes, so that it may be copied.
    unsafe { column[lane].assume_init_read() }
}

/// Gives a lane its value.
#[inline(always)]
pub fn give<T>(column: &mut [MaybeUninit<T>], lane: usize, value: T) {
    column[lane].write(value);
}

/// The lanes of a tile by default, for programs whose parameters and results take so many bytes; 0 if it
/// does not only compute.
#[inline(always)]
pub fn lanes(plain: bool, recursive: bool, bytes: usize) -> usize {
    /// Frames of some levels shall stay in the second cache. Measured: with half as much a frame costs more than what its lanes compute.
    const CACHE: usize = 128 << 10;
    match (plain, recursive) {
        (false, _) => 0,
        // Nothing waits for memory in a loop, and the longest run decides when a tile ends.
        (true, false) => 8192,
        (true, true) => 1 << (CACHE / (2 * bytes).max(1)).clamp(64, 2048).ilog2(),
    }
}

/// Calls a function: its arguments are known to be apart from each other.
macro_rules! with {
    ($($name:ident $apart:ident: $($arg:ident $ty:ident),*;)*) => {$(
        /// Calls `f`: inside, the arguments are known to be apart from each other.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        pub fn $name<R, $($ty),*>($($arg: $ty,)* mut f: impl FnMut($($ty),*) -> R) -> R {
            let f: &mut dyn FnMut($($ty),*) -> R = &mut f;
            f($($arg),*)
        }

        /// The same, never inlined: a loop that has all registers to itself.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        pub fn $apart<R, $($ty),*>($($arg: $ty,)* mut f: impl FnMut($($ty),*) -> R) -> R {
            let f: &mut dyn FnMut($($ty),*) -> R = &mut f;
            black_box(f)($($arg),*)
        }
    )*};
}
with! {
    with0 apart0: ;
    with1 apart1: a A;
    with2 apart2: a A, b B;
    with3 apart3: a A, b B, c C;
    with4 apart4: a A, b B, c C, d D;
    with5 apart5: a A, b B, c C, d D, e E;
    with6 apart6: a A, b B, c C, d D, e E, g G;
    with7 apart7: a A, b B, c C, d D, e E, g G, h H;
    with8 apart8: a A, b B, c C, d D, e E, g G, h H, i I;
    with9 apart9: a A, b B, c C, d D, e E, g G, h H, i I, j J;
    with10 apart10: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K;
    with11 apart11: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L;
    with12 apart12: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M;
    with13 apart13: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N;
    with14 apart14: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O;
    with15 apart15: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P;
    with16 apart16: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q;
    with17 apart17: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S;
    with18 apart18: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T;
    with19 apart19: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U;
    with20 apart20: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V;
    with21 apart21: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W;
    with22 apart22: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X;
    with23 apart23: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y;
    with24 apart24: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z;
    with25 apart25: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA;
    with26 apart26: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA, bb BB;
    with27 apart27: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA, bb BB, cc CC;
    with28 apart28: a A, b B, c C, d D, e E, g G, h H, i I, j J, k K, l L, m M, n N, o O, p P, q Q, s S, t T, u U, v V, w W, x X, y Y, z Z, aa AA, bb BB, cc CC, dd DD;
}

#[cfg(test)]
mod tests;
