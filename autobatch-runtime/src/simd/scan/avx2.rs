//! The AVX2 scans.

use std::arch::x86_64::*;

macro_rules! scans {
    ($mask:ident, $choose:ident, $word:ty, $signed:ty, $lanes:literal, $all:ident, $equal:ident,
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

        /// Makes the words (at most 64) that are set in `bits` the one, the others the other.
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        pub(super) fn $choose(words: &mut [$word], mut bits: u64, set: $word, clear: $word) {
            let (chunks, rest) = words.as_chunks_mut::<$lanes>();
            let lanes: [$word; $lanes] = std::array::from_fn(|at| 1 << at);
            // SAFETY: the array has as many words as the vector.
            let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            for chunk in chunks {
                let on = $equal(_mm256_and_si256($all(bits as $signed), lanes), lanes);
                let words = _mm256_blendv_epi8($all(clear as $signed), $all(set as $signed), on);
                // SAFETY: as above.
                unsafe { _mm256_storeu_si256(chunk.as_mut_ptr().cast(), words) };
                bits >>= $lanes;
            }
            for (at, word) in rest.iter_mut().enumerate() {
                *word = if bits >> at & 1 == 1 { set } else { clear };
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
    choose32,
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
    choose64,
    u64,
    i64,
    4,
    _mm256_set1_epi64x,
    _mm256_cmpeq_epi64,
    _mm256_castsi256_pd,
    _mm256_movemask_pd
);
