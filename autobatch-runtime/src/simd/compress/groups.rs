//! Where no instruction moves lanes together: four lanes at a time, by tables.
//!
//! What callers see is not generic: users' builds don't compile it. `size` is that of a slot, and one that [`is_size`] knows.

use std::array::from_fn;
use std::mem::MaybeUninit;
use std::ptr;

/// The lanes of a group.
const GROUP: usize = 4;

/// For four lanes, by mask: the lanes that are set, ascending.
static FRONT: [[u8; GROUP]; 16] = table(true);
/// For four lanes, by mask: how many lanes before each are set.
static BEFORE: [[u8; GROUP]; 16] = table(false);

const fn table(front: bool) -> [[u8; GROUP]; 16] {
    let mut table = [[0; GROUP]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut lane, mut nth) = (0, 0);
        while lane < GROUP {
            if !front {
                table[mask][lane] = nth as u8;
            }
            if mask >> lane & 1 == 1 {
                if front {
                    table[mask][nth] = lane as u8;
                }
                nth += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

/// The lanes that are set in a group's mask.
#[cfg_attr(optimised, inline(always))]
fn many(group: usize) -> usize {
    (0x4332_3221_3221_2110_u64 >> (4 * group)) as usize & 7
}

/// # Safety
/// `wide` and `dense` have four slots each.
#[cfg_attr(optimised, inline(always))]
unsafe fn press<S: Copy>(dense: *mut MaybeUninit<S>, wide: *const MaybeUninit<S>, group: usize) {
    // SAFETY: the table has lanes of the group. All is read before anything is written.
    unsafe {
        let values = FRONT[group].map(|lane| ptr::read_unaligned(wide.add(usize::from(lane))));
        ptr::write_unaligned(dense.cast(), values);
    }
}

/// # Safety
/// `wide` has four slots, `dense` as many as are set in the group; they don't overlap.
#[cfg_attr(optimised, inline(always))]
unsafe fn spread<S: Copy>(wide: *mut MaybeUninit<S>, dense: *const MaybeUninit<S>, group: usize) {
    // SAFETY: a lane that is set has so many before it; the others are read where they are.
    unsafe {
        let values: [MaybeUninit<S>; GROUP] = from_fn(|lane| {
            let (old, new) = (wide.cast_const().add(lane), dense.add(usize::from(BEFORE[group][lane])));
            ptr::read_unaligned(if group >> lane & 1 == 1 { new } else { old })
        });
        ptr::write_unaligned(wide.cast(), values);
    }
}

/// # Safety
/// `strip` and `dense` have `lanes` slots, whole groups. The two don't overlap.
#[cfg_attr(optimised, inline(always))]
unsafe fn append_slots<S: Copy>(
    dense: *mut MaybeUninit<S>,
    strip: *const MaybeUninit<S>,
    lanes: usize,
    here: u64,
) {
    let (mut rest, mut to) = (here, 0);
    for lane in (0..lanes).step_by(GROUP) {
        let group = (rest & 15) as usize;
        // SAFETY: no more slots have been written than lanes have been read, so that a group fits behind them.
        unsafe { press(dense.add(to), strip.add(lane), group) };
        to += many(group);
        rest >>= GROUP;
    }
}

/// # Safety
/// As for [`append_slots`].
#[cfg_attr(optimised, inline(always))]
unsafe fn fetch_slots<S: Copy>(
    strip: *mut MaybeUninit<S>,
    dense: *const MaybeUninit<S>,
    lanes: usize,
    here: u64,
) {
    if here == 0 {
        return;
    }
    if here == !0 >> (64 - lanes) {
        // SAFETY: both have so many slots.
        return unsafe { ptr::copy_nonoverlapping(dense.cast::<u8>(), strip.cast(), lanes * size_of::<S>()) };
    }
    let (mut rest, mut from) = (here, 0);
    for lane in (0..lanes).step_by(GROUP) {
        let group = (rest & 15) as usize;
        // SAFETY: no more slots have been read than lanes have been written.
        unsafe { spread(strip.add(lane), dense.add(from), group) };
        from += many(group);
        rest >>= GROUP;
    }
}

/// # Safety
/// All lanes set in `mask` are within the `len` slots of `wide`; `dense` has `room` for their number, and what it holds
/// behind them may be overwritten; the two don't overlap, or `dense` does not begin behind `wide`.
#[cfg_attr(optimised, inline(always))]
unsafe fn compress_slots<S: Copy>(
    dense: *mut MaybeUninit<S>,
    wide: *const MaybeUninit<S>,
    room: usize,
    len: usize,
    mask: &[u64],
) {
    let mut to = 0;
    for (block, &word) in mask.iter().enumerate() {
        let (mut rest, mut lane) = (word, 64 * block);
        while rest != 0 {
            let mut group = (rest & 15) as usize;
            if lane + GROUP <= len && to + GROUP <= room {
                // SAFETY: the group is in bounds on both sides. Where these overlap, all that is overwritten has been read.
                unsafe { press(dense.add(to), wide.add(lane), group) };
                to += many(group);
            } else {
                while group != 0 {
                    // SAFETY: the lane is in bounds.
                    unsafe {
                        let slot = ptr::read_unaligned(wide.add(lane + group.trailing_zeros() as usize));
                        ptr::write_unaligned(dense.add(to), slot);
                    }
                    to += 1;
                    group &= group - 1;
                }
            }
            rest >>= GROUP;
            lane += GROUP;
        }
    }
}

/// # Safety
/// All lanes set in `mask` are within the `width` slots of `wide`; `dense` has slots for their number; the two don't
/// overlap.
#[cfg_attr(optimised, inline(always))]
unsafe fn expand_slots<S: Copy>(
    wide: *mut MaybeUninit<S>,
    dense: *const MaybeUninit<S>,
    width: usize,
    len: usize,
    mask: &[u64],
) {
    let mut from = 0;
    for (block, &word) in mask.iter().enumerate() {
        let (mut rest, mut lane) = (word, 64 * block);
        while rest != 0 {
            let mut group = (rest & 15) as usize;
            if lane + GROUP <= width && from + GROUP <= len {
                // SAFETY: the group is in bounds on both sides.
                unsafe { spread(wide.add(lane), dense.add(from), group) };
                from += many(group);
            } else {
                while group != 0 {
                    let to = lane + group.trailing_zeros() as usize;
                    // SAFETY: the lane is in bounds.
                    unsafe { ptr::write_unaligned(wide.add(to), ptr::read_unaligned(dense.add(from))) };
                    from += 1;
                    group &= group - 1;
                }
            }
            rest >>= GROUP;
            lane += GROUP;
        }
    }
}

/// Whether there are functions for slots of this size.
pub(super) const fn is_size(size: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8 | 16)
}

/// Runs a function on slots of this size.
macro_rules! of_size {
    ($size:ident, $run:ident($to:ident, $from:ident, $($rest:ident),*)) => {
        match $size {
            1 => $run::<u8>($to.cast(), $from.cast(), $($rest),*),
            2 => $run::<u16>($to.cast(), $from.cast(), $($rest),*),
            4 => $run::<u32>($to.cast(), $from.cast(), $($rest),*),
            8 => $run::<u64>($to.cast(), $from.cast(), $($rest),*),
            _ => $run::<u128>($to.cast(), $from.cast(), $($rest),*),
        }
    };
}

/// # Safety
/// As for [`append_slots`].
pub(super) unsafe fn append(size: usize, dense: *mut u8, strip: *const u8, lanes: usize, here: u64) {
    // SAFETY: the caller's.
    unsafe { of_size!(size, append_slots(dense, strip, lanes, here)) }
}

/// # Safety
/// As for [`fetch_slots`].
pub(super) unsafe fn fetch(size: usize, strip: *mut u8, dense: *const u8, lanes: usize, here: u64) {
    // SAFETY: the caller's.
    unsafe { of_size!(size, fetch_slots(strip, dense, lanes, here)) }
}

/// # Safety
/// As for [`compress_slots`].
pub(super) unsafe fn compress(
    size: usize,
    (dense, room): (*mut u8, usize),
    (wide, len): (*const u8, usize),
    mask: &[u64],
) {
    // SAFETY: the caller's.
    unsafe { of_size!(size, compress_slots(dense, wide, room, len, mask)) }
}

/// # Safety
/// As for [`expand_slots`].
pub(super) unsafe fn expand(
    size: usize,
    (wide, width): (*mut u8, usize),
    (dense, len): (*const u8, usize),
    mask: &[u64],
) {
    // SAFETY: the caller's.
    unsafe { of_size!(size, expand_slots(wide, dense, width, len, mask)) }
}
