//! The SSE2 scans.

use std::arch::x86_64::*;

/// A vector of words.
#[inline]
#[target_feature(enable = "sse2")]
fn load<T, const N: usize>(words: &[T; N]) -> __m128i {
    const { assert!(size_of::<[T; N]>() == 16) };
    // SAFETY: the words take as many bytes as the vector.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// One bit per word of `words` (at most 64): whether it equals `to`.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn mask32(words: &[u32], to: u32) -> u64 {
    let all = _mm_set1_epi32(to.cast_signed());
    mask(words, |&word| word == to, |four| _mm_cmpeq_epi32(load(four), all))
}

/// The same for words of 64 bits: those that differ do so in their lower halves, since they are points, or all bits or none.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn mask64(words: &[u64], to: u64) -> u64 {
    let all = _mm_set1_epi32(to as i32);
    mask(
        words,
        |&word| word == to,
        |[a, b, c, d]| {
            let [low, high] = [load(&[*a, *b]), load(&[*c, *d])].map(|two| _mm_castsi128_ps(two));
            _mm_cmpeq_epi32(_mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(low, high)), all)
        },
    )
}

/// `equal` says of four words which are equal, in 32 bits each.
#[inline]
#[target_feature(enable = "sse2")]
fn mask<P>(words: &[P], is_equal: impl Fn(&P) -> bool, equal: impl Fn(&[P; 4]) -> __m128i) -> u64 {
    let (mut bits, mut rest) = (0, words);
    // From the last to the first: of independent parts LLVM would make a vector. Loops, not folds: these are not inlined.
    while rest.len() % 4 != 0
        && let [others @ .., word] = rest
    {
        (bits, rest) = (bits << 1 | u64::from(is_equal(word)), others);
    }
    while rest.len() % 16 != 0
        && let Some((others, four)) = rest.split_last_chunk()
    {
        let equal = _mm_movemask_ps(_mm_castsi128_ps(equal(four)));
        (bits, rest) = (bits << 4 | u64::from(equal.cast_unsigned()), others);
    }
    while let Some((others, chunk)) = rest.split_last_chunk::<16>() {
        let [a, b, c, d] = chunk.as_chunks().0 else { unreachable!("sixteen") };
        let bytes = _mm_packs_epi16(_mm_packs_epi32(equal(a), equal(b)), _mm_packs_epi32(equal(c), equal(d)));
        (bits, rest) = (bits << 16 | u64::from(_mm_movemask_epi8(bytes).cast_unsigned()), others);
    }
    bits
}

/// Makes the words (at most 64) that are set in `bits` the one, the others the other.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn choose32(words: &mut [u32], bits: u64, set: u32, clear: u32) {
    choose(words, bits, [set, clear], &[1, 2, 4, 8]);
}

/// The same for words of 64 bits.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn choose64(words: &mut [u64], bits: u64, set: u64, clear: u64) {
    choose(words, bits, [set, clear], &[1 | 1 << 32, 2 | 2 << 32]);
}

/// `lanes` has the bit of each lane of a vector, in each half of a word.
#[inline]
#[target_feature(enable = "sse2")]
fn choose<P: Copy + 'static, const N: usize>(
    words: &mut [P],
    mut bits: u64,
    [set, clear]: [P; 2],
    lanes: &[P; N],
) {
    let (lanes, all_set, all_clear) = (load(lanes), load(&[set; N]), load(&[clear; N]));
    let (chunks, rest) = words.as_chunks_mut::<N>();
    for chunk in chunks {
        let all = _mm_set1_epi32(bits as i32);
        let on = _mm_cmpeq_epi32(_mm_and_si128(all, lanes), lanes);
        let chosen = _mm_or_si128(_mm_and_si128(on, all_set), _mm_andnot_si128(on, all_clear));
        // SAFETY: the chunk has as many bytes as the vector: `load` has asserted it.
        unsafe { _mm_storeu_si128(chunk.as_mut_ptr().cast(), chosen) };
        bits >>= N;
    }
    for (at, word) in rest.iter_mut().enumerate() {
        *word = if bits >> at & 1 == 1 { set } else { clear };
    }
}

/// One bit per byte (at most 64, whole vectors): whether it is negative.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn signs<const W: usize>(bytes: &[u8; W]) -> u64 {
    let mut bits = 0;
    for chunk in bytes.as_chunks::<16>().0.iter().rev() {
        bits = bits << 16 | u64::from(_mm_movemask_epi8(load(chunk)).cast_unsigned());
    }
    bits
}
