//! AVX2: a permutation per group of lanes, looked up in a table by the group's mask.

use std::arch::asm;
use std::arch::x86_64::__m256i;
use std::mem::MaybeUninit;
use std::ptr;

use super::halves::{before, by_size, halves};

/// For 8 lanes of 4 bytes, by mask: where each lane's value comes from.
static PRESS4: [[u32; 8]; 256] = table(4, true);
static SPREAD4: [[u32; 8]; 256] = table(4, false);
/// For 4 lanes of 8 bytes, in units of 4 bytes.
static PRESS8: [[u32; 8]; 16] = table(8, true);
static SPREAD8: [[u32; 8]; 16] = table(8, false);
/// The lane's bit of the mask.
static BITS4: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
static BITS8: [u32; 8] = [1, 1, 2, 2, 4, 4, 8, 8];

const fn table<const N: usize>(bytes: usize, press: bool) -> [[u32; 8]; N] {
    let (lanes, units) = (32 / bytes, bytes / 4);
    let mut table = [[0; 8]; N];
    let mut mask = 0;
    while mask < N {
        let (mut lane, mut nth) = (0, 0);
        while lane < lanes {
            if mask >> lane & 1 == 1 {
                let mut unit = 0;
                while unit < units {
                    let (to, from) = if press { (nth, lane) } else { (lane, nth) };
                    // `vpermd` looks at the lowest bits; the highest says where a value is put.
                    let set = if press { 0 } else { 1 << 31 };
                    table[mask][to * units + unit] = (from * units + unit) as u32 | set;
                    unit += 1;
                }
                nth += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

/// # Safety
/// The CPU has AVX2. `T` has 4, 8 or 16 bytes. All lanes set in `mask` are within the `len` slots of `wide`;
/// `dense` has `room` for their number, and what it holds behind them may be overwritten; the two don't
/// overlap, or `dense` does not begin behind `wide`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
pub(super) unsafe fn compress<T>(
    dense: *mut MaybeUninit<T>,
    room: usize,
    wide: *const MaybeUninit<T>,
    len: usize,
    mask: &[u64],
) {
    let (wide_end, dense_end) = (wide.wrapping_add(len).cast::<u8>(), dense.wrapping_add(room).cast::<u8>());
    let mut dense = dense.cast::<u8>();
    let mut wide = wide.cast::<u8>();
    for &word in mask {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                4 => dense = compress4(dense, dense_end, wide, wide_end, word),
                8 => dense = compress8(dense, dense_end, wide, wide_end, word),
                _ => {
                    let [low, high] = halves(word);
                    dense = compress8(dense, dense_end, wide, wide_end, low);
                    dense = compress8(dense, dense_end, wide.wrapping_add(512), wide_end, high);
                }
            }
        }
        wide = wide.wrapping_add(64 * size_of::<T>());
    }
}

/// # Safety
/// The CPU has AVX2. `T` has 4, 8 or 16 bytes. `dense` has `W` slots, which may all be overwritten; the two don't
/// overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
pub(super) unsafe fn append<T, const W: usize>(
    dense: &mut [MaybeUninit<T>],
    strip: &[MaybeUninit<T>; W],
    here: u64,
) {
    let (dense, strip) = (dense.as_mut_ptr().cast::<u8>(), strip.as_ptr().cast::<u8>());
    // SAFETY: a vector is written no further than where its lanes would be if all before them were set.
    unsafe { by_size!(T, W, append4, append8, strip, dense, here) }
}

/// # Safety
/// The CPU has AVX2. `T` has 4, 8 or 16 bytes. `dense` has `W` slots; the two don't overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
pub(super) unsafe fn fetch<T, const W: usize>(
    strip: &mut [MaybeUninit<T>; W],
    dense: &[MaybeUninit<T>],
    here: u64,
) {
    let (strip, dense) = (strip.as_mut_ptr().cast::<u8>(), dense.as_ptr().cast::<u8>());
    // SAFETY: a vector is read no further than where its lanes would be if all before them were set.
    unsafe { by_size!(T, W, fetch4, fetch8, strip, dense, here) }
}

/// # Safety
/// The CPU has AVX2. `T` has 4, 8 or 16 bytes. All lanes set in `mask` are within the `width` slots of `wide`;
/// `dense` has `len` slots, at least their number; the two don't overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
pub(super) unsafe fn expand<T>(
    wide: *mut MaybeUninit<T>,
    width: usize,
    dense: *const MaybeUninit<T>,
    len: usize,
    mask: &[u64],
) {
    let wide_end = wide.wrapping_add(width).cast_const().cast::<u8>();
    let ends = (wide_end, dense.wrapping_add(len).cast::<u8>());
    let mut dense = dense.cast::<u8>();
    let mut wide = wide.cast::<u8>();
    for &word in mask {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                4 => dense = expand4(wide, dense, ends, word),
                8 => dense = expand8(wide, dense, ends, word),
                _ => {
                    let [low, high] = halves(word);
                    dense = expand8(wide, dense, ends, low);
                    dense = expand8(wide.wrapping_add(512), dense, ends, high);
                }
            }
        }
        wide = wide.wrapping_add(64 * size_of::<T>());
    }
}

/// # Safety
/// The CPU has AVX2. `T` has 4, 8 or 16 bytes. All lanes set in `mask` are within the `len` slots of `to` and
/// of `from`, which don't overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
pub(super) unsafe fn merge<T>(
    to: *mut MaybeUninit<T>,
    from: *const MaybeUninit<T>,
    len: usize,
    mask: &[u64],
) {
    let end = to.wrapping_add(len).cast_const().cast::<u8>();
    let mut to = to.cast::<u8>();
    let mut from = from.cast::<u8>();
    for &word in mask {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                4 => merge4(to, from, end, word),
                8 => merge8(to, from, end, word),
                _ => {
                    let [low, high] = halves(word);
                    merge8(to, from, end, low);
                    merge8(to.wrapping_add(512), from.wrapping_add(512), end, high);
                }
            }
        }
        to = to.wrapping_add(64 * size_of::<T>());
        from = from.wrapping_add(64 * size_of::<T>());
    }
}

/// A table's row for some lanes, in bytes, is what their bits are when those before `at` have been turned away so far...
const fn turn(at: usize) -> usize {
    (at + 64 - 5) % 64
}

/// ... and only these bits are kept.
const fn rows(bytes: usize) -> usize {
    ((1 << (32 / bytes)) - 1) << 5
}

/// The bytes between two addresses of one slice; 0 if the first is behind the second.
#[cfg_attr(optimised, inline(always))]
fn left(from: *const u8, end: *const u8) -> usize {
    end.addr().saturating_sub(from.addr())
}

/// The kernels for one word of the mask, whose lanes are in bounds on both sides; the sides end at the given
/// addresses. Whole vectors are moved where they fit, single lanes elsewhere. They return where the dense
/// side goes on.
macro_rules! kernels {
    ($compress:ident, $append:ident, $fetch:ident, $expand:ident, $merge:ident, $bytes:literal, $press:ident, $spread:ident, $bits:ident,
     $($at:literal)*) => {
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        unsafe fn $append<const W: usize>(strip: *const u8, dense: *mut u8, here: u64) {
            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
            unsafe fn vector<const AT: usize>(strip: *const u8, dense: *mut u8, here: u64) {
                // SAFETY: whole vectors are in bounds on both sides.
                unsafe {
                    let values: MaybeUninit<__m256i> = ptr::read_unaligned(strip.add($bytes * AT).cast());
                    asm!(
                        "rorx {row}, {here}, {turn}",
                        "and {row:e}, {rows}",
                        "vmovdqu {order}, [{table} + {row}]",
                        "vpermd {values}, {order}, {values}",
                        concat!("vmovdqu [{dense} + ", $bytes, "*{before}], {values}"),
                        turn = const turn(AT), rows = const rows($bytes), row = out(reg) _, here = in(reg) here,
                        table = in(reg) &raw const $press, values = inout(ymm_reg) values => _,
                        order = out(ymm_reg) _, dense = in(reg) dense, before = in(reg) before(here, AT),
                        options(nostack),
                    );
                }
            }
            // SAFETY: as the caller promises.
            unsafe { $(if $at < W { vector::<$at>(strip, dense, here); })* }
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        unsafe fn $fetch<const W: usize>(strip: *mut u8, dense: *const u8, here: u64) {
            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
            unsafe fn vector<const AT: usize>(strip: *mut u8, dense: *const u8, here: u64) {
                // SAFETY: whole vectors are in bounds on both sides.
                unsafe {
                    let to = strip.add($bytes * AT).cast::<MaybeUninit<__m256i>>();
                    let mut values = ptr::read_unaligned(to);
                    asm!(
                        "rorx {row}, {here}, {turn}",
                        "and {row:e}, {rows}",
                        "vmovdqu {order}, [{table} + {row}]",
                        concat!("vpermd {from}, {order}, [{dense} + ", $bytes, "*{before}]"),
                        "vblendvps {values}, {values}, {from}, {order}",
                        turn = const turn(AT), rows = const rows($bytes), row = out(reg) _, here = in(reg) here,
                        table = in(reg) &raw const $spread, order = out(ymm_reg) _, from = out(ymm_reg) _,
                        values = inout(ymm_reg) values, dense = in(reg) dense,
                        before = in(reg) before(here, AT), options(pure, readonly, nostack),
                    );
                    ptr::write_unaligned(to, values);
                }
            }
            // SAFETY: as the caller promises.
            unsafe { $(if $at < W { vector::<$at>(strip, dense, here); })* }
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        unsafe fn $compress(
            mut dense: *mut u8,
            dense_end: *const u8,
            mut from: *const u8,
            wide_end: *const u8,
            mut rest: u64,
        ) -> *mut u8 {
            let lanes = 32 / $bytes;
            while rest != 0 {
                let mut group = (rest & ((1 << lanes) - 1)) as usize;
                if left(from, wide_end) >= 32 && left(dense, dense_end) >= 32 {
                    // SAFETY: whole vectors are in bounds. Where the sides overlap, all that is
                    // overwritten has been read.
                    unsafe {
                        asm!(
                            "vmovdqu ymm0, [{table}]",
                            "vpermd ymm0, ymm0, [{from}]",
                            "vmovdqu [{dense}], ymm0",
                            table = in(reg) &$press[group], from = in(reg) from, dense = in(reg) dense,
                            out("ymm0") _, options(nostack, preserves_flags),
                        );
                        dense = dense.add($bytes * group.count_ones() as usize);
                    }
                } else {
                    while group != 0 {
                        // SAFETY: the lane is in bounds.
                        unsafe {
                            ptr::copy(from.add($bytes * group.trailing_zeros() as usize), dense, $bytes);
                            dense = dense.add($bytes);
                        }
                        group &= group - 1;
                    }
                }
                from = from.wrapping_add(32);
                rest >>= lanes;
            }
            dense
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        unsafe fn $expand(
            mut to: *mut u8,
            mut dense: *const u8,
            (to_end, dense_end): (*const u8, *const u8),
            mut rest: u64,
        ) -> *const u8 {
            let lanes = 32 / $bytes;
            while rest != 0 {
                let mut group = (rest & ((1 << lanes) - 1)) as usize;
                if left(to, to_end) >= 32 && left(dense, dense_end) >= 32 {
                    // SAFETY: the vectors are in bounds. (Masked stores are slow on some CPUs.)
                    unsafe {
                        asm!(
                            "vmovdqu ymm1, [{table}]",
                            "vpermd ymm0, ymm1, [{dense}]",
                            "vmovdqu ymm2, [{to}]",
                            "vblendvps ymm0, ymm2, ymm0, ymm1",
                            "vmovdqu [{to}], ymm0",
                            table = in(reg) &$spread[group], dense = in(reg) dense, to = in(reg) to,
                            out("ymm0") _, out("ymm1") _, out("ymm2") _, options(nostack, preserves_flags),
                        );
                        dense = dense.add($bytes * group.count_ones() as usize);
                    }
                } else {
                    while group != 0 {
                        // SAFETY: the lane is in bounds.
                        unsafe {
                            let lane = group.trailing_zeros() as usize;
                            ptr::copy_nonoverlapping(dense, to.add($bytes * lane), $bytes);
                            dense = dense.add($bytes);
                        }
                        group &= group - 1;
                    }
                }
                to = to.wrapping_add(32);
                rest >>= lanes;
            }
            dense
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        unsafe fn $merge(mut to: *mut u8, mut from: *const u8, end: *const u8, mut rest: u64) {
            let lanes = 32 / $bytes;
            while rest != 0 {
                let mut group = (rest & ((1 << lanes) - 1)) as usize;
                if left(to, end) >= 32 {
                    // SAFETY: the vectors are in bounds.
                    unsafe {
                        asm!(
                            "vmovd xmm1, {group:e}",
                            "vpbroadcastd ymm1, xmm1",
                            "vmovdqu ymm2, [{bits}]",
                            "vpand ymm1, ymm1, ymm2",
                            "vpcmpeqd ymm1, ymm1, ymm2",
                            "vmovdqu ymm0, [{to}]",
                            "vpblendvb ymm0, ymm0, [{from}], ymm1",
                            "vmovdqu [{to}], ymm0",
                            group = in(reg) group, bits = in(reg) &$bits, from = in(reg) from, to = in(reg) to,
                            out("ymm0") _, out("ymm1") _, out("ymm2") _, options(nostack, preserves_flags),
                        );
                    }
                } else {
                    while group != 0 {
                        // SAFETY: the lane is in bounds.
                        unsafe {
                            let at = $bytes * group.trailing_zeros() as usize;
                            ptr::copy_nonoverlapping(from.add(at), to.add(at), $bytes);
                        }
                        group &= group - 1;
                    }
                }
                to = to.wrapping_add(32);
                from = from.wrapping_add(32);
                rest >>= lanes;
            }
        }
    };
}
kernels!(compress4, append4, fetch4, expand4, merge4, 4, PRESS4, SPREAD4, BITS4, 0 8 16 24 32 40 48 56);
kernels!(compress8, append8, fetch8, expand8, merge8, 8, PRESS8, SPREAD8, BITS8, 0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60);
