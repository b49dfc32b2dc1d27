//! Frames: how wide they are, when lanes leave for a denser one, and how the first one is filled. Their memory is the [`arena`](super::arena)'s.

use std::mem::{MaybeUninit, needs_drop};

use super::arena::Arena;
use super::columns::pad;
use super::tile::Members;
use crate::api::column::Source;
use crate::batch::begin_ticks;

/// Whether so few lanes run faster as scalar code, where that is so for up to `most`. In a run with limits only if that counts.
#[cfg_attr(optimised, inline(always))]
pub fn is_few(arena: &Arena<'_>, lanes: usize, most: usize, counts: bool) -> bool {
    // Tests shall meet frames of few lanes.
    let few = lanes <= if cfg!(debug_assertions) { 4 } else { most };
    few && (!arena.is_limited() || counts && begin_few(arena))
}

#[cold]
fn begin_few(arena: &Arena<'_>) -> bool {
    begin_ticks();
    arena.pulse.is_some_and(|pulse| pulse.few)
}

/// Whether `count` members shall leave a frame of `lanes` for one of their own.
#[cfg_attr(optimised, inline(always))]
pub fn is_sparse(count: usize, lanes: usize) -> bool {
    4 * count < 3 * lanes
}

/// The lanes of a frame for `count` members: whole strips.
#[cfg_attr(optimised, inline(always))]
pub fn width<const W: usize>(count: usize) -> usize {
    count.next_multiple_of(W)
}

/// The column of a parameter for the members of a tile: where the caller of the batch has it if there are no
/// pads.
#[cfg_attr(optimised, inline(always))]
pub fn load<'a, T>(
    arena: &mut Arena<'a>,
    source: &'a impl Source<T>,
    members: Members<'_>,
    lanes: usize,
) -> &'a [MaybeUninit<T>] {
    if members.len() == lanes
        && members.is_whole()
        && !needs_drop::<T>()
        && let Some(values) = source.slice(members.range())
    {
        // SAFETY: a value is a `MaybeUninit`; what is read is a copy, and nothing is dropped.
        return unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) };
    }
    let column = arena.column(lanes);
    match members.is_whole() {
        true => source.fill(members.first(), &mut column[..members.len()]),
        false => load_apart(source, members, column),
    }
    pad(column, members.len());
    column
}

/// The values of members between which others stand.
#[inline(never)]
fn load_apart<T>(source: &impl Source<T>, members: Members<'_>, column: &mut [MaybeUninit<T>]) {
    for (place, slot) in members.places().zip(column) {
        slot.write(source.get(place));
    }
}

/// The column of a parameter that is the same for all members.
#[cfg_attr(optimised, inline(always))]
pub fn load_same<'a, T>(arena: &mut Arena<'a>, value: T, lanes: usize) -> &'a mut [MaybeUninit<T>] {
    let column = arena.column(lanes);
    if let [first, ..] = &mut *column {
        first.write(value);
        pad(column, 1);
    }
    column
}

/// The lanes of a tile by default, for programs whose parameters and results take so many bytes; 0 if it
/// does not only compute.
#[cfg_attr(optimised, inline(always))]
pub fn default_lanes(pure: bool, recursive: bool, bytes: usize) -> usize {
    /// Frames of some levels shall stay in the second cache. Measured: with half as much a frame costs more than what its lanes compute.
    const CACHE: usize = 128 << 10;
    /// What a single frame loads shall be memory that is kept from run to run, with its locals. Measured: where it comes from the system each time,
    /// as with rows of 36 numbers, a run takes up to four times as long.
    const FRAME: usize = 1 << 20;
    match (pure, recursive) {
        (false, _) => 0,
        // Nothing waits for memory in a loop, and the longest run decides when a tile ends.
        (true, false) => 1 << (FRAME / bytes.max(1)).clamp(256, 8192).ilog2(),
        (true, true) => 1 << (CACHE / (2 * bytes).max(1)).clamp(64, 2048).ilog2(),
    }
}
