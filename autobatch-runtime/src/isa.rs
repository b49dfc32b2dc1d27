//! Instruction sets: detection, entering code compiled for them, and the kernels that need one.

use std::mem::MaybeUninit;
use std::ptr;

use crate::machine::Core;
use crate::options::Isa;
use crate::store::Store;

/// An instruction set that this CPU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level(Isa);

impl Level {
    /// The best instruction set of the CPU that does not exceed `ceiling`.
    pub(crate) fn new(ceiling: Isa) -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = matches!(ceiling, Isa::Avx2 | Isa::Avx512) && has_avx2();
            let avx512 = ceiling == Isa::Avx512 && avx2 && has_avx512();
            match (avx512, avx2) {
                (true, _) => Level(Isa::Avx512),
                (false, true) => Level(Isa::Avx2),
                (false, false) => Level(Isa::Baseline),
            }
        }
        #[cfg(target_arch = "aarch64")]
        {
            // Part of the baseline there, so that the ceiling makes no difference to the code.
            let _ = ceiling;
            Level(Isa::Neon)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = ceiling;
            Level(Isa::Baseline)
        }
    }

    /// Its public name.
    pub(crate) fn isa(self) -> Isa {
        self.0
    }
}

/// The best instruction set of the CPU that does not exceed what the user allows.
pub(crate) fn ceiling(allowed: Option<Isa>) -> Isa {
    Level::new(allowed.unwrap_or(Isa::Avx512)).isa()
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Runs `f` compiled for `level`, as far as `f` is inlined.
#[inline(always)]
pub(crate) fn vectorize<R>(level: Level, f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    match level.0 {
        // SAFETY: a `Level` exists only for what the CPU has.
        Isa::Avx512 => return unsafe { in_avx512(f) },
        // SAFETY: as above.
        Isa::Avx2 => return unsafe { in_avx2(f) },
        _ => {}
    }
    let _ = level;
    f()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
fn in_avx2<R>(f: impl FnOnce() -> R) -> R {
    f()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn in_avx512<R>(f: impl FnOnce() -> R) -> R {
    f()
}

impl<'r> Core<'r> {
    /// Enters the instance of a generated body for the instruction set in use. `avx2` and `avx512`
    /// require exactly the features that [`crate::machine`] lists.
    #[cfg(target_arch = "x86_64")]
    pub fn dispatch<A>(
        &mut self,
        store: &Store,
        args: A,
        base: fn(&mut Core<'r>, &Store, A),
        avx2: unsafe fn(&mut Core<'r>, &Store, A),
        avx512: unsafe fn(&mut Core<'r>, &Store, A),
    ) {
        match self.level().0 {
            // SAFETY: a `Level` exists only for what the CPU has, and it covers the features that
            // the two instances are compiled with.
            Isa::Avx512 => unsafe { avx512(self, store, args) },
            // SAFETY: as above.
            Isa::Avx2 => unsafe { avx2(self, store, args) },
            _ => base(self, store, args),
        }
    }

    /// Enters a generated body.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn dispatch<A>(&mut self, store: &Store, args: A, base: fn(&mut Core<'r>, &Store, A)) {
        base(self, store, args)
    }
}

/// The kernels of one width of words, where the CPU has them: see [`avx512`].
macro_rules! scans {
    ($lowest:ident, $mask:ident, $word:ty) => {
        /// The least of `words`, if there is a kernel for it; the largest signed number if empty.
        #[inline(always)]
        pub(crate) fn $lowest(words: &[$word], level: Level) -> Option<$word> {
            #[cfg(target_arch = "x86_64")]
            if level.0 == Isa::Avx512 {
                // SAFETY: a `Level` exists only for what the CPU has.
                return Some(unsafe { avx512::$lowest(words) });
            }
            let _ = (words, level);
            None
        }

        /// One bit per word of `words` (at most 64), if there is a kernel: whether it equals `to`.
        #[inline(always)]
        pub(crate) fn $mask(words: &[$word], to: $word, level: Level) -> Option<u64> {
            #[cfg(target_arch = "x86_64")]
            if level.0 == Isa::Avx512 {
                // SAFETY: a `Level` exists only for what the CPU has.
                return Some(unsafe { avx512::$mask(words, to) });
            }
            let _ = (words, to, level);
            None
        }
    };
}
scans!(lowest32, mask32, u32);
scans!(lowest64, mask64, u64);

/// The number of lanes set.
#[inline(always)]
pub(crate) fn count(mask: &[u64]) -> usize {
    mask.iter().map(|word| word.count_ones() as usize).sum()
}

/// One more than the highest lane set.
#[inline(always)]
pub(crate) fn extent(mask: &[u64]) -> usize {
    let last = mask.iter().rposition(|&word| word != 0);
    last.map_or(0, |at| 64 * at + 64 - mask[at].leading_zeros() as usize)
}

/// Moves the slots of `wide` that are set in `mask` to the front of `dense`, in order.
#[inline]
pub(crate) fn compress<T>(dense: &mut [MaybeUninit<T>], wide: &[MaybeUninit<T>], mask: &[u64], level: Level) {
    if dense.len() < count(mask) || wide.len() < extent(mask) {
        return compress_checked(dense, wide, mask);
    }
    #[cfg(target_arch = "x86_64")]
    if level.0 == Isa::Avx512 && matches!(size_of::<T>(), 4 | 8) {
        // SAFETY: the level says that the CPU can, and the lengths have been checked.
        return unsafe { avx512::compress(dense.as_mut_ptr(), wide.as_ptr(), mask) };
    }
    let _ = level;
    let mut to = 0;
    for (block, &word) in mask.iter().enumerate() {
        let from = 64 * block;
        let run = word.trailing_ones() as usize;
        // SAFETY: lanes that are set lie within `wide`, and `dense` has room for all of them. The
        // slices are disjoint, and any bits are a `MaybeUninit`.
        unsafe {
            ptr::copy_nonoverlapping(wide.as_ptr().add(from), dense.as_mut_ptr().add(to), run);
            to += run;
            let mut rest = if run == 64 { 0 } else { word & (!0 << run) };
            while rest != 0 {
                let lane = from + rest.trailing_zeros() as usize;
                ptr::copy_nonoverlapping(wide.as_ptr().add(lane), dense.as_mut_ptr().add(to), 1);
                rest &= rest - 1;
                to += 1;
            }
        }
    }
}

/// Moves the front of `dense` to the slots of `wide` that are set in `mask`, in order.
#[inline]
pub(crate) fn expand<T>(wide: &mut [MaybeUninit<T>], dense: &[MaybeUninit<T>], mask: &[u64], level: Level) {
    if dense.len() < count(mask) || wide.len() < extent(mask) {
        return expand_checked(wide, dense, mask);
    }
    #[cfg(target_arch = "x86_64")]
    if level.0 == Isa::Avx512 && matches!(size_of::<T>(), 4 | 8) {
        // SAFETY: the level says that the CPU can, and the lengths have been checked.
        return unsafe { avx512::expand(wide.as_mut_ptr(), dense.as_ptr(), mask) };
    }
    let _ = level;
    let mut from = 0;
    for (block, &word) in mask.iter().enumerate() {
        let to = 64 * block;
        let run = word.trailing_ones() as usize;
        // SAFETY: as in `compress`, with the roles exchanged.
        unsafe {
            ptr::copy_nonoverlapping(dense.as_ptr().add(from), wide.as_mut_ptr().add(to), run);
            from += run;
            let mut rest = if run == 64 { 0 } else { word & (!0 << run) };
            while rest != 0 {
                let lane = to + rest.trailing_zeros() as usize;
                ptr::copy_nonoverlapping(dense.as_ptr().add(from), wide.as_mut_ptr().add(lane), 1);
                rest &= rest - 1;
                from += 1;
            }
        }
    }
}

/// The lanes set, ascending.
pub(crate) fn lanes(mask: &[u64]) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(block, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let lane = (rest != 0).then(|| 64 * block + rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(lane)
        })
    })
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

/// The AVX-512 forms for slots of 4 and 8 bytes. Assembly rather than intrinsics: slots are raw bytes
/// that may be uninitialised or hold pointers, which an integer vector must not.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::asm;
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    /// # Safety
    /// `T` has 4 or 8 bytes. All lanes set in `mask` are within
    /// `wide`; `dense` has room for their number; the two don't overlap.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    pub(super) unsafe fn compress<T>(
        mut dense: *mut MaybeUninit<T>,
        wide: *const MaybeUninit<T>,
        mask: &[u64],
    ) {
        let lanes = 64 / size_of::<T>();
        for (block, &word) in mask.iter().enumerate() {
            let mut rest = word;
            let mut from = wide.wrapping_add(64 * block);
            while rest != 0 {
                let group = (rest & ((1 << lanes) - 1)) as u32;
                let many = group.count_ones();
                let front = ((1u64 << many) - 1) as u32;
                // SAFETY: masked loads and stores touch the lanes set only, which are in bounds.
                unsafe {
                    if size_of::<T>() == 8 {
                        asm!(
                            "kmovb k1, {group:e}", "kmovb k2, {front:e}",
                            "vmovdqu64 zmm0{{k1}}{{z}}, [{from}]",
                            "vpcompressq zmm0{{k1}}{{z}}, zmm0",
                            "vmovdqu64 [{dense}]{{k2}}, zmm0",
                            group = in(reg) group, front = in(reg) front, from = in(reg) from, dense = in(reg) dense,
                            out("k1") _, out("k2") _, out("zmm0") _, options(nostack, preserves_flags),
                        );
                    } else {
                        asm!(
                            "kmovw k1, {group:e}", "kmovw k2, {front:e}",
                            "vmovdqu32 zmm0{{k1}}{{z}}, [{from}]",
                            "vpcompressd zmm0{{k1}}{{z}}, zmm0",
                            "vmovdqu32 [{dense}]{{k2}}, zmm0",
                            group = in(reg) group, front = in(reg) front, from = in(reg) from, dense = in(reg) dense,
                            out("k1") _, out("k2") _, out("zmm0") _, options(nostack, preserves_flags),
                        );
                    }
                    dense = dense.add(many as usize);
                }
                from = from.wrapping_add(lanes);
                rest >>= lanes;
            }
        }
    }

    /// # Safety
    /// As for [`compress`], with the roles exchanged.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    pub(super) unsafe fn expand<T>(
        wide: *mut MaybeUninit<T>,
        mut dense: *const MaybeUninit<T>,
        mask: &[u64],
    ) {
        let lanes = 64 / size_of::<T>();
        for (block, &word) in mask.iter().enumerate() {
            let mut rest = word;
            let mut to = wide.wrapping_add(64 * block);
            while rest != 0 {
                let group = (rest & ((1 << lanes) - 1)) as u32;
                let many = group.count_ones();
                let front = ((1u64 << many) - 1) as u32;
                // SAFETY: masked loads and stores touch the lanes set only, which are in bounds.
                unsafe {
                    if size_of::<T>() == 8 {
                        asm!(
                            "kmovb k1, {group:e}", "kmovb k2, {front:e}",
                            "vmovdqu64 zmm0{{k2}}{{z}}, [{dense}]",
                            "vpexpandq zmm0{{k1}}{{z}}, zmm0",
                            "vmovdqu64 [{to}]{{k1}}, zmm0",
                            group = in(reg) group, front = in(reg) front, to = in(reg) to, dense = in(reg) dense,
                            out("k1") _, out("k2") _, out("zmm0") _, options(nostack, preserves_flags),
                        );
                    } else {
                        asm!(
                            "kmovw k1, {group:e}", "kmovw k2, {front:e}",
                            "vmovdqu32 zmm0{{k2}}{{z}}, [{dense}]",
                            "vpexpandd zmm0{{k1}}{{z}}, zmm0",
                            "vmovdqu32 [{to}]{{k1}}, zmm0",
                            group = in(reg) group, front = in(reg) front, to = in(reg) to, dense = in(reg) dense,
                            out("k1") _, out("k2") _, out("zmm0") _, options(nostack, preserves_flags),
                        );
                    }
                    dense = dense.add(many as usize);
                }
                to = to.wrapping_add(lanes);
                rest >>= lanes;
            }
        }
    }

    /// The scans over words that the scheduler lives on; what the compiler makes of the portable ones
    /// is several times slower.
    macro_rules! scans {
        ($lowest:ident, $mask:ident, $word:ty, $signed:ty, $lanes:literal, $load:ident, $all:ident,
         $min:ident, $reduce:ident, $equal:ident) => {
            /// The least of `words`; the largest signed number if there is none.
            #[inline]
            #[target_feature(
                enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
            )]
            pub(super) fn $lowest(words: &[$word]) -> $word {
                let (chunks, rest) = words.as_chunks::<$lanes>();
                let mut least = $all(<$signed>::MAX);
                for chunk in chunks {
                    // SAFETY: the chunk has as many words as the vector.
                    least = $min(least, unsafe { $load(chunk.as_ptr().cast()) });
                }
                rest.iter().fold($reduce(least) as $word, |least, &word| least.min(word))
            }

            /// One bit per word of `words` (at most 64): whether it equals `to`.
            #[inline]
            #[target_feature(
                enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
            )]
            pub(super) fn $mask(words: &[$word], to: $word) -> u64 {
                let (chunks, rest) = words.as_chunks::<$lanes>();
                let (mut mask, mut at) = (0, 0);
                for chunk in chunks {
                    // SAFETY: the chunk has as many words as the vector.
                    let words = unsafe { $load(chunk.as_ptr().cast()) };
                    mask |= u64::from($equal(words, $all(to as $signed))) << at;
                    at += $lanes;
                }
                for &word in rest {
                    mask |= u64::from(word == to) << at;
                    at += 1;
                }
                mask
            }
        };
    }
    scans!(
        lowest32,
        mask32,
        u32,
        i32,
        16,
        _mm512_loadu_epi32,
        _mm512_set1_epi32,
        _mm512_min_epi32,
        _mm512_reduce_min_epi32,
        _mm512_cmpeq_epi32_mask
    );
    scans!(
        lowest64,
        mask64,
        u64,
        i64,
        8,
        _mm512_loadu_epi64,
        _mm512_set1_epi64,
        _mm512_min_epi64,
        _mm512_reduce_min_epi64,
        _mm512_cmpeq_epi64_mask
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<T: Clone>(values: &[T]) -> Vec<MaybeUninit<T>> {
        values.iter().cloned().map(MaybeUninit::new).collect()
    }

    fn round_trip<T: Copy + PartialEq + std::fmt::Debug>(make: impl Fn(usize) -> T) {
        let mut state = 1u64;
        for size in [1, 7, 63, 64, 65, 200] {
            for density in [0, 1, 3, 8] {
                let mut mask = vec![0u64; size / 64 + 1];
                for lane in 0..size {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    if density == 8 || (state >> 40) % 8 < density {
                        mask[lane / 64] |= 1 << (lane % 64);
                    }
                }
                let set: Vec<usize> = lanes(&mask).collect();
                assert_eq!((set.len(), set.last().map_or(0, |l| l + 1)), (count(&mask), extent(&mask)));
                let wide = column(&(0..size).map(&make).collect::<Vec<_>>());
                for ceiling in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                    let level = Level::new(ceiling);
                    // Exact lengths: a write past the end would be caught by the guard value.
                    let mut dense = column(&vec![make(999); set.len() + 1]);
                    compress(&mut dense[..set.len()], &wide[..extent(&mask)], &mask, level);
                    let mut back = column(&vec![make(777); size]);
                    expand(&mut back[..extent(&mask)], &dense[..set.len()], &mask, level);
                    // SAFETY: all slots were filled.
                    let value = |slot: &MaybeUninit<T>| unsafe { slot.assume_init_read() };
                    for (at, &lane) in set.iter().enumerate() {
                        assert_eq!(value(&dense[at]), make(lane));
                    }
                    assert_eq!(value(&dense[set.len()]), make(999));
                    for (lane, slot) in back.iter().enumerate() {
                        assert_eq!(value(slot), if set.contains(&lane) { make(lane) } else { make(777) });
                    }
                }
            }
        }
    }

    #[test]
    fn compress_and_expand_are_inverse() {
        round_trip(|i| i as u8);
        round_trip(|i| i as u32);
        round_trip(|i| i as f64);
        round_trip(|i| [i as u64, 1, 2]);
    }

    #[test]
    fn missing_slots_are_skipped() {
        let level = Level::new(Isa::Avx512);
        let mut wide = column(&[0u64; 3]);
        expand(&mut wide, &column(&[5, 6]), &[0b10_0111], level);
        // SAFETY: all slots were filled.
        let wide: Vec<u64> = wide.iter().map(|slot| unsafe { slot.assume_init_read() }).collect();
        assert_eq!(wide, [5, 6, 0]);
    }

    #[test]
    fn ceilings_hold() {
        assert_eq!(Level::new(Isa::Baseline).isa() == Isa::Neon, cfg!(target_arch = "aarch64"));
        assert_ne!(Level::new(Isa::Avx2).isa(), Isa::Avx512);
        assert_eq!(ceiling(None), Level::new(Isa::Avx512).isa());
    }
}
