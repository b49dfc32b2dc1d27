//! Compress and expand, by whatever the CPU has for it.

use std::mem::MaybeUninit;
use std::ptr;

#[cfg(target_arch = "x86_64")]
use super::super::isa::Isa;
use super::super::isa::Level;
use super::super::mask::{count, extent, lanes};
use super::groups;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// Moves the slots of `wide` that are set in `mask` to the front of `dense`, in order. What `dense` holds
/// behind them is lost.
#[inline]
pub(crate) fn compress<T>(dense: &mut [MaybeUninit<T>], wide: &[MaybeUninit<T>], mask: &[u64], level: Level) {
    if dense.len() < count(mask) || wide.len() < extent(mask) {
        return compress_checked(dense, wide, mask);
    }
    // SAFETY: the lengths have been checked, and the slices are disjoint.
    unsafe { compress_raw(dense.as_mut_ptr(), dense.len(), wide.as_ptr(), wide.len(), mask, level) }
}

/// Moves the slots that are set in `mask` to the front, in order. What is behind them is lost.
#[inline]
pub(crate) fn compact<T>(slots: &mut [MaybeUninit<T>], mask: &[u64], level: Level) {
    if slots.len() < extent(mask) {
        // Lanes that have never written the variable: their slots don't exist.
        let there = slots.len();
        for (to, from) in lanes(mask).take_while(|from| *from < there).enumerate() {
            slots.swap(to, from);
        }
        return;
    }
    let (first, len) = (slots.as_mut_ptr(), slots.len());
    // SAFETY: the length has been checked, and both sides begin at the same slot.
    unsafe { compress_raw(first, len, first, len, mask, level) }
}

/// [`compact`] for plain numbers.
#[inline]
pub(crate) fn compact_words<P: Copy>(words: &mut [P], mask: &[u64], level: Level) {
    compact(slots_of(words), mask, level);
}

/// [`compress`] for plain numbers.
#[inline]
pub(crate) fn compress_words<P: Copy>(dense: &mut [P], wide: &[P], mask: &[u64], level: Level) {
    compress(slots_of(dense), init_slots_of(wide), mask, level);
}

/// [`expand`] for plain numbers.
#[inline]
pub(crate) fn expand_words<P: Copy>(wide: &mut [P], dense: &[P], mask: &[u64], level: Level) {
    expand(slots_of(wide), init_slots_of(dense), mask, level);
}

/// Plain numbers as slots, for moves between such.
fn slots_of<P: Copy>(words: &mut [P]) -> &mut [MaybeUninit<P>] {
    // SAFETY: a `MaybeUninit` has the layout of its value, and slots only get values of other slots, or
    // keep theirs.
    unsafe { &mut *(ptr::from_mut(words) as *mut [MaybeUninit<P>]) }
}

/// The same, to be read.
fn init_slots_of<P: Copy>(words: &[P]) -> &[MaybeUninit<P>] {
    // SAFETY: a `MaybeUninit` has the layout of its value.
    unsafe { &*(ptr::from_ref(words) as *const [MaybeUninit<P>]) }
}

/// Moves the front of `dense` to the slots of `wide` that are set in `mask`, in order.
#[inline]
pub(crate) fn expand<T>(wide: &mut [MaybeUninit<T>], dense: &[MaybeUninit<T>], mask: &[u64], level: Level) {
    if dense.len() < count(mask) || wide.len() < extent(mask) {
        return expand_checked(wide, dense, mask);
    }
    // SAFETY: the lengths have been checked, and the slices are disjoint.
    unsafe { expand_raw(wide.as_mut_ptr(), wide.len(), dense.as_ptr(), dense.len(), mask, level) }
}

/// Moves the slots of `strip` that are set in `here` to the front of `dense`, in order. What `dense` holds behind
/// them, up to a strip's length, is lost.
#[cfg_attr(optimised, inline(always))]
pub fn append<T, const W: usize>(
    dense: &mut [MaybeUninit<T>],
    strip: &[MaybeUninit<T>; W],
    here: u64,
    level: Level,
) {
    const { assert!(matches!(W, 16 | 32 | 64)) };
    let dense = &mut dense[..W];
    #[cfg(target_arch = "x86_64")]
    match (level.isa(), size_of::<T>()) {
        // SAFETY: the level says that the CPU can; both sides have `W` slots and lie apart.
        (Isa::Avx512, 4 | 8 | 16) => return unsafe { avx512::append(dense, strip, here) },
        // SAFETY: as above.
        (Isa::Avx2, 4 | 8 | 16) => return unsafe { avx2::append(dense, strip, here) },
        _ => {}
    }
    let _ = level;
    if groups::is_size(size_of::<T>()) {
        let (dense, strip) = (dense.as_mut_ptr().cast(), strip.as_ptr().cast());
        // SAFETY: both sides have `W` slots, whole groups, and lie apart.
        return unsafe { groups::append(size_of::<T>(), dense, strip, W, here) };
    }
    let (mut rest, mut to) = (here, 0);
    while rest != 0 {
        // SAFETY: any bits are a `MaybeUninit`.
        dense[to] = unsafe { ptr::read(&strip[rest.trailing_zeros() as usize]) };
        rest &= rest - 1;
        to += 1;
    }
}

/// The reverse of [`append`]: the slots of `strip` that are set in `here` get those at the front of `dense`, in order. It
/// has a strip's length.
#[cfg_attr(optimised, inline(always))]
pub fn fetch<T, const W: usize>(
    strip: &mut [MaybeUninit<T>; W],
    dense: &[MaybeUninit<T>],
    here: u64,
    level: Level,
) {
    const { assert!(matches!(W, 16 | 32 | 64)) };
    let dense = &dense[..W];
    #[cfg(target_arch = "x86_64")]
    match (level.isa(), size_of::<T>()) {
        // SAFETY: the level says that the CPU can; both sides have `W` slots and lie apart.
        (Isa::Avx512, 4 | 8 | 16) => return unsafe { avx512::fetch(strip, dense, here) },
        // SAFETY: as above.
        (Isa::Avx2, 4 | 8 | 16) => return unsafe { avx2::fetch(strip, dense, here) },
        _ => {}
    }
    let _ = level;
    if groups::is_size(size_of::<T>()) {
        let (strip, dense) = (strip.as_mut_ptr().cast(), dense.as_ptr().cast());
        // SAFETY: both sides have `W` slots, whole groups, and lie apart.
        return unsafe { groups::fetch(size_of::<T>(), strip, dense, W, here) };
    }
    let (mut rest, mut from) = (here, 0);
    while rest != 0 {
        // SAFETY: any bits are a `MaybeUninit`.
        strip[rest.trailing_zeros() as usize] = unsafe { ptr::read(&dense[from]) };
        rest &= rest - 1;
        from += 1;
    }
}

/// Moves the slots of `from` that are set in `mask` to the same places of `to`.
#[inline]
pub(crate) fn merge<T>(to: &mut [MaybeUninit<T>], from: &[MaybeUninit<T>], mask: &[u64], level: Level) {
    let reach = extent(mask);
    // Slots that are missing belong to lanes that died: they never wrote them.
    let there = to.len().min(from.len());
    #[cfg(target_arch = "x86_64")]
    if reach <= there {
        let (to, from) = (to.as_mut_ptr(), from.as_ptr());
        match (level.isa(), size_of::<T>()) {
            // SAFETY: the level says that the CPU can, the lengths have been checked, and the slices are
            // disjoint.
            (Isa::Avx512, 4 | 8 | 16) => return unsafe { avx512::merge(to, from, mask) },
            // SAFETY: as above.
            (Isa::Avx2, 4 | 8 | 16) => return unsafe { avx2::merge(to, from, there, mask) },
            _ => {}
        }
    }
    let _ = (reach, level);
    for lane in lanes(mask).take_while(|lane| *lane < there) {
        // SAFETY: any bits are a `MaybeUninit`.
        to[lane] = unsafe { ptr::read(&from[lane]) };
    }
}

/// # Safety
/// All lanes set in `mask` are within the `len` slots of `wide`; `dense` has `room` for their number. The
/// two don't overlap, or `dense` does not begin behind `wide`.
#[inline]
unsafe fn compress_raw<T>(
    dense: *mut MaybeUninit<T>,
    room: usize,
    wide: *const MaybeUninit<T>,
    len: usize,
    mask: &[u64],
    level: Level,
) {
    #[cfg(target_arch = "x86_64")]
    match (level.isa(), size_of::<T>()) {
        // SAFETY: the level says that the CPU can; the rest is the caller's.
        (Isa::Avx512, 4 | 8 | 16) => return unsafe { avx512::compress(dense, wide, mask) },
        // SAFETY: as above.
        (Isa::Avx2, 4 | 8 | 16) => return unsafe { avx2::compress(dense, room, wide, len, mask) },
        _ => {}
    }
    let _ = level;
    if groups::is_size(size_of::<T>()) {
        // SAFETY: the caller's.
        return unsafe { groups::compress(size_of::<T>(), (dense.cast(), room), (wide.cast(), len), mask) };
    }
    let mut to = 0;
    for (block, &word) in mask.iter().enumerate() {
        let from = 64 * block;
        let run = word.trailing_ones() as usize;
        // SAFETY: lanes that are set lie within `wide`, and `dense` has room for all of them. Any bits are
        // a `MaybeUninit`. Where the two overlap, a slot is read before it is written.
        unsafe {
            ptr::copy(wide.add(from), dense.add(to), run);
            to += run;
            let mut rest = if run == 64 { 0 } else { word & (!0 << run) };
            while rest != 0 {
                let lane = from + rest.trailing_zeros() as usize;
                ptr::copy(wide.add(lane), dense.add(to), 1);
                rest &= rest - 1;
                to += 1;
            }
        }
    }
}

/// # Safety
/// All lanes set in `mask` are within the `width` slots of `wide`; `dense` has `len` slots, at least their
/// number. The two don't overlap.
#[inline]
unsafe fn expand_raw<T>(
    wide: *mut MaybeUninit<T>,
    width: usize,
    dense: *const MaybeUninit<T>,
    len: usize,
    mask: &[u64],
    level: Level,
) {
    #[cfg(target_arch = "x86_64")]
    match (level.isa(), size_of::<T>()) {
        // SAFETY: the level says that the CPU can; the rest is the caller's.
        (Isa::Avx512, 4 | 8 | 16) => return unsafe { avx512::expand(wide, dense, mask) },
        // SAFETY: as above.
        (Isa::Avx2, 4 | 8 | 16) => return unsafe { avx2::expand(wide, width, dense, len, mask) },
        _ => {}
    }
    let _ = level;
    if groups::is_size(size_of::<T>()) {
        // SAFETY: the caller's.
        return unsafe { groups::expand(size_of::<T>(), (wide.cast(), width), (dense.cast(), len), mask) };
    }
    let mut from = 0;
    for (block, &word) in mask.iter().enumerate() {
        let to = 64 * block;
        let run = word.trailing_ones() as usize;
        // SAFETY: as in `compress_raw`, with the roles exchanged.
        unsafe {
            ptr::copy_nonoverlapping(dense.add(from), wide.add(to), run);
            from += run;
            let mut rest = if run == 64 { 0 } else { word & (!0 << run) };
            while rest != 0 {
                let lane = to + rest.trailing_zeros() as usize;
                ptr::copy_nonoverlapping(dense.add(from), wide.add(lane), 1);
                rest &= rest - 1;
                from += 1;
            }
        }
    }
}

/// `compress` where slots may be missing: no lane has ever written them, so nothing is lost.
#[cold]
fn compress_checked<T>(dense: &mut [MaybeUninit<T>], wide: &[MaybeUninit<T>], mask: &[u64]) {
    for (to, from) in dense.iter_mut().zip(lanes(mask)) {
        if let Some(from) = wide.get(from) {
            // SAFETY: any bits are a `MaybeUninit`.
            *to = unsafe { ptr::read(from) };
        }
    }
}

/// `expand` where slots may be missing: lanes that died never wrote them.
#[cold]
fn expand_checked<T>(wide: &mut [MaybeUninit<T>], dense: &[MaybeUninit<T>], mask: &[u64]) {
    for (from, to) in dense.iter().zip(lanes(mask)) {
        if let Some(to) = wide.get_mut(to) {
            // SAFETY: any bits are a `MaybeUninit`.
            *to = unsafe { ptr::read(from) };
        }
    }
}
