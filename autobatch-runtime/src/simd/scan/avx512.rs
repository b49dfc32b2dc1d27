//! The AVX-512 scans.

use std::arch::x86_64::*;

/// The scans over words that the scheduler lives on; what the compiler makes of the portable ones
/// is several times slower.
macro_rules! scans {
    ($lowest:ident, $mask:ident, $choose:ident, $word:ty, $signed:ty, $lanes:literal, $load:ident,
     $store:ident, $all:ident, $min:ident, $reduce:ident, $equal:ident, $blend:ident) => {
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

        /// Makes the words (at most 64) that are set in `bits` the one, the others the other.
        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
        )]
        pub(super) fn $choose(words: &mut [$word], mut bits: u64, set: $word, clear: $word) {
            let (chunks, rest) = words.as_chunks_mut::<$lanes>();
            for chunk in chunks {
                let words = $blend(bits as _, $all(clear as $signed), $all(set as $signed));
                // SAFETY: the chunk has as many words as the vector.
                unsafe { $store(chunk.as_mut_ptr().cast(), words) };
                bits >>= $lanes;
            }
            for (at, word) in rest.iter_mut().enumerate() {
                *word = if bits >> at & 1 == 1 { set } else { clear };
            }
        }
    };
}
scans!(
    lowest32,
    mask32,
    choose32,
    u32,
    i32,
    16,
    _mm512_loadu_epi32,
    _mm512_storeu_epi32,
    _mm512_set1_epi32,
    _mm512_min_epi32,
    _mm512_reduce_min_epi32,
    _mm512_cmpeq_epi32_mask,
    _mm512_mask_blend_epi32
);
scans!(
    lowest64,
    mask64,
    choose64,
    u64,
    i64,
    8,
    _mm512_loadu_epi64,
    _mm512_storeu_epi64,
    _mm512_set1_epi64,
    _mm512_min_epi64,
    _mm512_reduce_min_epi64,
    _mm512_cmpeq_epi64_mask,
    _mm512_mask_blend_epi64
);
