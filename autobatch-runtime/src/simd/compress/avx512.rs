//! AVX-512: compress and expand are instructions.

use std::arch::asm;
use std::arch::x86_64::__m512i;
use std::mem::MaybeUninit;
use std::ptr;

use super::halves::{before, by_size, halves};

/// # Safety
/// The CPU has AVX-512. `T` has 4, 8 or 16 bytes. All lanes set in `mask` are within `wide`; `dense` has
/// room for their number; the two don't overlap, or `dense` does not begin behind `wide`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(super) unsafe fn compress<T>(dense: *mut MaybeUninit<T>, wide: *const MaybeUninit<T>, mask: &[u64]) {
    let mut dense = dense.cast::<u8>();
    let mut wide = wide.cast::<u8>();
    for &word in mask {
        // SAFETY: as the caller promises; lanes are in order, so that room is left for those that follow.
        unsafe {
            match size_of::<T>() {
                4 => dense = compress4(dense, wide, word),
                8 => dense = compress8(dense, wide, word),
                _ => {
                    let [low, high] = halves(word);
                    dense = compress8(dense, wide, low);
                    dense = compress8(dense, wide.wrapping_add(512), high);
                }
            }
        }
        wide = wide.wrapping_add(64 * size_of::<T>());
    }
}

/// # Safety
/// The CPU has AVX-512. `T` has 4, 8 or 16 bytes. `dense` has `W` slots, which may all be overwritten; the two don't
/// overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
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
/// The CPU has AVX-512. `T` has 4, 8 or 16 bytes. `dense` has `W` slots; the two don't overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
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
/// As for [`compress`], with the roles exchanged, and without overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(super) unsafe fn expand<T>(wide: *mut MaybeUninit<T>, dense: *const MaybeUninit<T>, mask: &[u64]) {
    let mut dense = dense.cast::<u8>();
    let mut wide = wide.cast::<u8>();
    for &word in mask {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                4 => dense = expand4(wide, dense, word),
                8 => dense = expand8(wide, dense, word),
                _ => {
                    let [low, high] = halves(word);
                    dense = expand8(wide, dense, low);
                    dense = expand8(wide.wrapping_add(512), dense, high);
                }
            }
        }
        wide = wide.wrapping_add(64 * size_of::<T>());
    }
}

/// # Safety
/// The CPU has AVX-512. `T` has 4, 8 or 16 bytes. All lanes set in `mask` are within `to` and `from`, which
/// don't overlap.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub(super) unsafe fn merge<T>(to: *mut MaybeUninit<T>, from: *const MaybeUninit<T>, mask: &[u64]) {
    let mut to = to.cast::<u8>();
    let mut from = from.cast::<u8>();
    for &word in mask {
        // SAFETY: as the caller promises.
        unsafe {
            match size_of::<T>() {
                4 => merge4(to, from, word),
                8 => merge8(to, from, word),
                _ => {
                    let [low, high] = halves(word);
                    merge8(to, from, low);
                    merge8(to.wrapping_add(512), from.wrapping_add(512), high);
                }
            }
        }
        to = to.wrapping_add(64 * size_of::<T>());
        from = from.wrapping_add(64 * size_of::<T>());
    }
}

/// A mask register with the lanes `here`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn mask(here: u64) -> u64 {
    let mask;
    // SAFETY: nothing but registers is touched.
    unsafe {
        asm!(
            "kmovq {mask}, {here}", mask = out(kreg) mask, here = in(reg) here,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    mask
}

/// The kernels for one word of the mask, whose lanes are in bounds on both sides. They return where the
/// dense side goes on.
macro_rules! kernels {
    ($compress:ident, $append:ident, $fetch:ident, $expand:ident, $merge:ident, $bytes:literal, $kmov:literal, $move:literal, $press:literal, $spread:literal) => {
        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        unsafe fn $append<const W: usize>(strip: *const u8, dense: *mut u8, here: u64) {
            let lanes = 64 / $bytes;
            let mut mask = mask(here);
            for at in (0..W).step_by(lanes) {
                // SAFETY: whole vectors are in bounds on both sides. `kshiftr` leaves the lowest bits.
                unsafe {
                    let values: MaybeUninit<__m512i> = ptr::read_unaligned(strip.add($bytes * at).cast());
                    asm!(
                        concat!($press, " {values}{{{mask}}}{{z}}, {values}"),
                        concat!($move, " [{dense} + ", $bytes, "*{before}], {values}"),
                        mask = in(kreg) mask, values = inout(zmm_reg) values => _, dense = in(reg) dense,
                        before = in(reg) before(here, at), options(nostack, preserves_flags),
                    );
                    asm!(
                        concat!("kshiftrq {mask}, {mask}, 64/", $bytes), mask = inout(kreg) mask,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
            }
        }

        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        unsafe fn $fetch<const W: usize>(strip: *mut u8, dense: *const u8, here: u64) {
            let lanes = 64 / $bytes;
            let mut mask = mask(here);
            for at in (0..W).step_by(lanes) {
                // SAFETY: as for `append`.
                unsafe {
                    let to = strip.add($bytes * at).cast::<MaybeUninit<__m512i>>();
                    let mut values = ptr::read_unaligned(to);
                    let from = dense.add($bytes * before(here, at)).cast::<MaybeUninit<__m512i>>();
                    asm!(
                        concat!($spread, " {values}{{{mask}}}, {from}"),
                        mask = in(kreg) mask, values = inout(zmm_reg) values,
                        from = in(zmm_reg) ptr::read_unaligned(from),
                        options(pure, nomem, nostack, preserves_flags),
                    );
                    ptr::write_unaligned(to, values);
                    asm!(
                        concat!("kshiftrq {mask}, {mask}, 64/", $bytes), mask = inout(kreg) mask,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
            }
        }

        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        unsafe fn $compress(mut dense: *mut u8, mut from: *const u8, mut rest: u64) -> *mut u8 {
            let lanes = 64 / $bytes;
            while rest != 0 {
                let group = (rest & ((1 << lanes) - 1)) as u32;
                let many = group.count_ones();
                let front = ((1u64 << many) - 1) as u32;
                // SAFETY: masked loads and stores touch the lanes set only, which are in bounds.
                unsafe {
                    asm!(
                        concat!($kmov, " k1, {group:e}"),
                        concat!($kmov, " k2, {front:e}"),
                        concat!($move, " zmm0{{k1}}{{z}}, [{from}]"),
                        concat!($press, " zmm0{{k1}}{{z}}, zmm0"),
                        concat!($move, " [{dense}]{{k2}}, zmm0"),
                        group = in(reg) group, front = in(reg) front, from = in(reg) from, dense = in(reg) dense,
                        out("k1") _, out("k2") _, out("zmm0") _, options(nostack, preserves_flags),
                    );
                    dense = dense.add($bytes * many as usize);
                }
                from = from.wrapping_add(64);
                rest >>= lanes;
            }
            dense
        }

        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        unsafe fn $expand(mut to: *mut u8, mut dense: *const u8, mut rest: u64) -> *const u8 {
            let lanes = 64 / $bytes;
            while rest != 0 {
                let group = (rest & ((1 << lanes) - 1)) as u32;
                let many = group.count_ones();
                let front = ((1u64 << many) - 1) as u32;
                // SAFETY: as above.
                unsafe {
                    asm!(
                        concat!($kmov, " k1, {group:e}"),
                        concat!($kmov, " k2, {front:e}"),
                        concat!($move, " zmm0{{k2}}{{z}}, [{dense}]"),
                        concat!($spread, " zmm0{{k1}}{{z}}, zmm0"),
                        concat!($move, " [{to}]{{k1}}, zmm0"),
                        group = in(reg) group, front = in(reg) front, to = in(reg) to, dense = in(reg) dense,
                        out("k1") _, out("k2") _, out("zmm0") _, options(nostack, preserves_flags),
                    );
                    dense = dense.add($bytes * many as usize);
                }
                to = to.wrapping_add(64);
                rest >>= lanes;
            }
            dense
        }

        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        unsafe fn $merge(mut to: *mut u8, mut from: *const u8, mut rest: u64) {
            let lanes = 64 / $bytes;
            while rest != 0 {
                let group = (rest & ((1 << lanes) - 1)) as u32;
                // SAFETY: as above.
                unsafe {
                    asm!(
                        concat!($kmov, " k1, {group:e}"),
                        concat!($move, " zmm0{{k1}}{{z}}, [{from}]"),
                        concat!($move, " [{to}]{{k1}}, zmm0"),
                        group = in(reg) group, from = in(reg) from, to = in(reg) to,
                        out("k1") _, out("zmm0") _, options(nostack, preserves_flags),
                    );
                }
                to = to.wrapping_add(64);
                from = from.wrapping_add(64);
                rest >>= lanes;
            }
        }
    };
}
kernels!(compress4, append4, fetch4, expand4, merge4, 4, "kmovw", "vmovdqu32", "vpcompressd", "vpexpandd");
kernels!(compress8, append8, fetch8, expand8, merge8, 8, "kmovb", "vmovdqu64", "vpcompressq", "vpexpandq");
