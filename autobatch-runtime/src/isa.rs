//! Instruction sets: detection, entering code compiled for them, and the kernels that need one.

use std::ops::Range;

use crate::machine::Core;
use crate::nest::Nest;
use crate::options::Isa;
use crate::store::Store;

mod moves;
pub use moves::{append, fetch};
pub(crate) use moves::{compact, compact_words, compress, expand, merge};

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

    /// The bytes of a vector, where words are compared by vectors of a known size.
    #[inline(always)]
    pub(crate) fn bytes(self) -> usize {
        match self.0 {
            Isa::Avx512 => 64,
            Isa::Avx2 => 32,
            _ => usize::MAX,
        }
    }
}

/// What the caller is compiled for: inlined, all that depends on it is decided there.
///
/// # Safety
/// The CPU has AVX2 and what comes with it. (Safe to call where the caller is compiled for it.)
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
pub fn level_avx2() -> Level {
    Level(Isa::Avx2)
}

/// As [`level_avx2`].
///
/// # Safety
/// The CPU has AVX-512 and what comes with it.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
pub fn level_avx512() -> Level {
    Level(Isa::Avx512)
}

/// As `level_avx2`, where there is one instruction set.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn level() -> Level {
    Level::new(Isa::Avx512)
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

impl Nest<'_> {
    /// As [`Core::dispatch`], for the generated code of nested frames.
    #[cfg(target_arch = "x86_64")]
    pub fn dispatch<A>(
        &mut self,
        args: A,
        avx2: unsafe fn(&mut Nest<'_>, A),
        avx512: unsafe fn(&mut Nest<'_>, A),
    ) {
        match self.level().0 {
            // SAFETY: as for `Core::dispatch`.
            Isa::Avx512 => unsafe { avx512(self, args) },
            // SAFETY: as above.
            Isa::Avx2 => unsafe { avx2(self, args) },
            _ => unreachable!("the machine runs programs without vectors"),
        }
    }

    /// Enters the generated code.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn dispatch<A>(&mut self, args: A, base: fn(&mut Nest<'_>, A)) {
        base(self, args)
    }
}

/// Whether quotients without divisions pay. See [`crate::lockstep::Divisor`].
#[inline(always)]
pub(crate) fn has_quick_quotients(level: Level) -> bool {
    level.0 == Isa::Avx512
}

/// The kernels of one width of words, where the CPU has them: see [`avx512`].
macro_rules! scans {
    ($lowest:ident, $mask:ident, $spread:ident, $word:ty) => {
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
            } else if level.0 == Isa::Avx2 {
                // SAFETY: as above.
                return Some(unsafe { avx2::$mask(words, to) });
            }
            let _ = (words, to, level);
            None
        }

        /// All bits of the words (at most 64) that are set in `bits`, none of the others; whether there is a
        /// kernel.
        #[inline(always)]
        pub(crate) fn $spread(words: &mut [$word], bits: u64, level: Level) -> bool {
            #[cfg(target_arch = "x86_64")]
            if level.0 == Isa::Avx512 {
                // SAFETY: a `Level` exists only for what the CPU has.
                unsafe { avx512::$spread(words, bits) };
                return true;
            } else if level.0 == Isa::Avx2 {
                // SAFETY: as above.
                unsafe { avx2::$spread(words, bits) };
                return true;
            }
            let _ = (words, bits, level);
            false
        }
    };
}
scans!(lowest32, mask32, spread32, u32);
scans!(lowest64, mask64, spread64, u64);

/// One bit per byte (at most 64): whether it is negative.
#[inline(always)]
pub(crate) fn signs<const W: usize>(bytes: &[u8; W], level: Level) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if matches!(level.0, Isa::Avx2 | Isa::Avx512) {
        // SAFETY: a `Level` exists only for what the CPU has.
        return unsafe { avx2::signs(bytes) };
    }
    let _ = level;
    bytes.iter().rev().fold(0, |mask, byte| mask << 1 | u64::from(byte >> 7))
}

/// The number of lanes set.
#[inline(always)]
pub(crate) fn count(mask: &[u64]) -> usize {
    mask.iter().map(|word| word.count_ones() as usize).sum()
}

/// The bits of `bits` that are set in `mask`, side by side.
#[inline(always)]
pub(crate) fn extract(bits: u64, mask: u64, level: Level) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if matches!(level.0, Isa::Avx2 | Isa::Avx512) {
        // SAFETY: a `Level` exists only for what the CPU has, and these have BMI2.
        return unsafe { std::arch::x86_64::_pext_u64(bits, mask) };
    }
    let _ = level;
    let (mut rest, mut all, mut at) = (mask, 0, 0);
    while rest != 0 {
        all |= (bits >> rest.trailing_zeros() & 1) << at;
        rest &= rest - 1;
        at += 1;
    }
    all
}

/// One more than the highest lane set.
#[inline(always)]
pub(crate) fn extent(mask: &[u64]) -> usize {
    let last = mask.iter().rposition(|&word| word != 0);
    last.map_or(0, |at| 64 * at + 64 - mask[at].leading_zeros() as usize)
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

/// Neighbours that are set, each time as many as there are, ascending.
pub(crate) fn runs(mask: &[u64]) -> impl Iterator<Item = Range<usize>> {
    let mut until = 0;
    std::iter::from_fn(move || {
        let from = next(mask, until, |word| word);
        until = next(mask, from, |word| !word);
        (from < until).then_some(from..until)
    })
}

/// The first lane from `from` on that is set in `of` of its word; behind the last one if there is none.
#[inline(always)]
fn next(mask: &[u64], from: usize, of: impl Fn(u64) -> u64) -> usize {
    let mut above = !0 << (from % 64);
    for (block, &word) in mask.iter().enumerate().skip(from / 64) {
        match of(word) & above {
            0 => above = !0,
            found => return 64 * block + found.trailing_zeros() as usize,
        }
    }
    64 * mask.len()
}

/// The AVX-512 scans.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// The scans over words that the scheduler lives on; what the compiler makes of the portable ones
    /// is several times slower.
    macro_rules! scans {
        ($lowest:ident, $mask:ident, $spread:ident, $word:ty, $signed:ty, $lanes:literal, $load:ident,
         $store:ident, $all:ident, $min:ident, $reduce:ident, $equal:ident, $move:ident) => {
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

            /// All bits of the words (at most 64) that are set in `bits`, none of the others.
            #[inline]
            #[target_feature(
                enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
            )]
            pub(super) fn $spread(words: &mut [$word], mut bits: u64) {
                let (chunks, rest) = words.as_chunks_mut::<$lanes>();
                for chunk in chunks {
                    // SAFETY: the chunk has as many words as the vector.
                    unsafe { $store(chunk.as_mut_ptr().cast(), $move(bits as _)) };
                    bits >>= $lanes;
                }
                for (at, word) in rest.iter_mut().enumerate() {
                    *word = if bits >> at & 1 == 1 { !0 } else { 0 };
                }
            }
        };
    }
    scans!(
        lowest32,
        mask32,
        spread32,
        u32,
        i32,
        16,
        _mm512_loadu_epi32,
        _mm512_storeu_epi32,
        _mm512_set1_epi32,
        _mm512_min_epi32,
        _mm512_reduce_min_epi32,
        _mm512_cmpeq_epi32_mask,
        _mm512_movm_epi32
    );
    scans!(
        lowest64,
        mask64,
        spread64,
        u64,
        i64,
        8,
        _mm512_loadu_epi64,
        _mm512_storeu_epi64,
        _mm512_set1_epi64,
        _mm512_min_epi64,
        _mm512_reduce_min_epi64,
        _mm512_cmpeq_epi64_mask,
        _mm512_movm_epi64
    );
}

/// The AVX2 scans.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    macro_rules! scans {
        ($mask:ident, $spread:ident, $word:ty, $signed:ty, $lanes:literal, $all:ident, $equal:ident,
         $cast:ident, $bits:ident) => {
            /// One bit per word of `words` (at most 64): whether it equals `to`.
            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
            pub(super) fn $mask(words: &[$word], to: $word) -> u64 {
                let (chunks, rest) = words.as_chunks::<$lanes>();
                // From the last to the first: of independent parts LLVM would make a vector.
                let mask = rest.iter().rev().fold(0, |mask, &word| mask << 1 | u64::from(word == to));
                chunks.iter().rev().fold(mask, |mask, chunk| {
                    // SAFETY: the chunk has as many words as the vector.
                    let words = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
                    let equal = $cast($equal(words, $all(to as $signed)));
                    mask << $lanes | u64::from($bits(equal).cast_unsigned())
                })
            }

            /// All bits of the words (at most 64) that are set in `bits`, none of the others.
            #[inline]
            #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
            pub(super) fn $spread(words: &mut [$word], mut bits: u64) {
                let (chunks, rest) = words.as_chunks_mut::<$lanes>();
                let lanes: [$word; $lanes] = std::array::from_fn(|at| 1 << at);
                // SAFETY: the array has as many words as the vector.
                let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
                for chunk in chunks {
                    let words = $equal(_mm256_and_si256($all(bits as $signed), lanes), lanes);
                    // SAFETY: as above.
                    unsafe { _mm256_storeu_si256(chunk.as_mut_ptr().cast(), words) };
                    bits >>= $lanes;
                }
                for (at, word) in rest.iter_mut().enumerate() {
                    *word = if bits >> at & 1 == 1 { !0 } else { 0 };
                }
            }
        };
    }
    /// One bit per byte (at most 64): whether it is negative.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
    pub(super) fn signs<const W: usize>(bytes: &[u8; W]) -> u64 {
        let (chunks, rest) = bytes.as_chunks::<32>();
        let mut mask = 0;
        for chunk in rest.as_chunks::<16>().0 {
            // SAFETY: the chunk has as many bytes as the vector.
            let bytes = unsafe { _mm_loadu_si128(chunk.as_ptr().cast()) };
            mask = u64::from(_mm_movemask_epi8(bytes).cast_unsigned());
        }
        for chunk in chunks.iter().rev() {
            // SAFETY: as above.
            let bytes = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
            mask = mask << 32 | u64::from(_mm256_movemask_epi8(bytes).cast_unsigned());
        }
        mask
    }

    scans!(
        mask32,
        spread32,
        u32,
        i32,
        8,
        _mm256_set1_epi32,
        _mm256_cmpeq_epi32,
        _mm256_castsi256_ps,
        _mm256_movemask_ps
    );
    scans!(
        mask64,
        spread64,
        u64,
        i64,
        4,
        _mm256_set1_epi64x,
        _mm256_cmpeq_epi64,
        _mm256_castsi256_pd,
        _mm256_movemask_pd
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_the_words() {
        let words: Vec<u64> = (0..64u64).map(|at| at * at * 7 % 5).collect();
        let narrow: Vec<u32> = words.iter().map(|word| *word as u32).collect();
        for isa in [Isa::Avx2, Isa::Avx512].map(Level::new) {
            for (from, to) in [(0, 64), (0, 32), (5, 5), (7, 20), (1, 64)] {
                let want = (from..to).map(|at| u64::from(words[at] == 2) << (at - from)).sum::<u64>();
                for found in [mask64(&words[from..to], 2, isa), mask32(&narrow[from..to], 2, isa)] {
                    assert!(found.is_none_or(|found| found == want), "{isa:?} {from}..{to}");
                }
                let (mut wide, mut narrow) = ([1; 64], [1; 64]);
                let set = |at: usize| want >> (at - from) & 1 == 1;
                if spread64(&mut wide[from..to], want, isa) {
                    assert!((from..to).all(|at| wide[at] == if set(at) { !0 } else { 0 }));
                }
                if spread32(&mut narrow[from..to], want, isa) {
                    assert!((from..to).all(|at| narrow[at] == if set(at) { !0 } else { 0 }));
                }
            }
        }
    }

    #[test]
    fn runs_are_the_lanes_that_are_set() {
        let masks =
            [vec![], vec![0; 3], vec![!0; 3], vec![1 << 63, 1, 0, !1], vec![0b1011 << 40, !0 << 9, !0 >> 9]];
        for mask in masks {
            let found: Vec<_> = runs(&mask).collect();
            assert_eq!(found.iter().cloned().flatten().collect::<Vec<_>>(), lanes(&mask).collect::<Vec<_>>());
            assert!(found.windows(2).all(|two| two[0].end < two[1].start), "{found:?}");
        }
    }

    #[test]
    fn ceilings_hold() {
        assert_eq!(Level::new(Isa::Baseline).isa() == Isa::Neon, cfg!(target_arch = "aarch64"));
        assert_ne!(Level::new(Isa::Avx2).isa(), Isa::Avx512);
        assert_eq!(ceiling(None), Level::new(Isa::Avx512).isa());
    }
}
