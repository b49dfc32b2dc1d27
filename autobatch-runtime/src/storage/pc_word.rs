//! Program-counter words: where each lane waits.
//!
//! A word is as wide as the program's data, so that masks made of words need no conversion. It holds the number of a program point, or
//! [`PcWord::IDLE`].

use crate::simd::{self, Level};

/// Where a lane goes, as lane code says it at its end: nothing that a `return` hidden in a user's macro could make.
#[derive(Clone, Copy)]
pub struct Next<P>(pub(crate) P);

/// The lane goes to `point`.
#[cfg_attr(optimised, inline(always))]
pub fn next<P: PcWord>(point: P) -> Next<P> {
    Next(point)
}

/// A lane's program point, as wide as the program's data: `u32` or `u64`.
pub trait PcWord: Copy + Eq + Ord + Send + 'static {
    /// The lane has no member, or its member is dead. Larger than every point; points and this fit
    /// the signed type, whose comparison every instruction set has.
    const IDLE: Self;
    /// The word for a point.
    fn of(point: u32) -> Self;
    /// The point, or the largest `u32`s for [`PcWord::IDLE`].
    fn point(self) -> u32;
    /// The smaller of two.
    fn least(self, other: Self) -> Self;
    /// 1 if equal.
    fn same(self, other: Self) -> Self;
    /// All bits or none.
    fn set(on: bool) -> Self;
    /// Whether the bits are set.
    fn is_set(self) -> bool;
    /// How far this is above `point`, wrapping around below.
    fn above(self, point: u32) -> Self;
    /// Wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// As a small number.
    fn number(self) -> usize;
    /// The kernel of the instruction set for `lowest`, if it has one.
    fn wide_lowest(words: &[Self], level: Level) -> Option<Self>;
    /// The same for `mask`.
    fn wide_mask(words: &[Self], point: Self, level: Level) -> Option<u64>;
    /// The same for `choose`.
    fn wide_choose(words: &mut [Self], bits: u64, set: Self, clear: Self, level: Level) -> bool;
    /// The arena of this type.
    fn arena(words: &PcWords) -> &Vec<Self>;
    /// The arena of this type.
    fn arena_mut(words: &mut PcWords) -> &mut Vec<Self>;
}

/// The words of all lanes; only one arena is in use.
#[derive(Default)]
pub struct PcWords {
    narrow: Vec<u32>,
    wide: Vec<u64>,
}

/// [`PcWord::IDLE`] as a point.
pub(crate) const IDLE: u32 = i32::MAX as u32;

macro_rules! word {
    ($word:ty, $signed:ty, $arena:ident, $lowest:ident, $mask:ident, $choose:ident) => {
        impl PcWord for $word {
            const IDLE: Self = IDLE as $word;
            #[cfg_attr(optimised, inline(always))]
            fn of(point: u32) -> Self {
                point as $word
            }
            #[cfg_attr(optimised, inline(always))]
            fn point(self) -> u32 {
                self as u32
            }
            #[cfg_attr(optimised, inline(always))]
            fn least(self, other: Self) -> Self {
                (self as $signed).min(other as $signed) as $word
            }
            #[cfg_attr(optimised, inline(always))]
            fn same(self, other: Self) -> Self {
                (self == other) as $word
            }
            #[cfg_attr(optimised, inline(always))]
            fn set(on: bool) -> Self {
                -(on as $signed) as $word
            }
            #[cfg_attr(optimised, inline(always))]
            fn is_set(self) -> bool {
                (self as $signed) < 0
            }
            #[cfg_attr(optimised, inline(always))]
            fn above(self, point: u32) -> Self {
                self.wrapping_sub(point as $word + 1)
            }
            #[cfg_attr(optimised, inline(always))]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[cfg_attr(optimised, inline(always))]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[cfg_attr(optimised, inline(always))]
            fn number(self) -> usize {
                self as usize
            }
            #[cfg_attr(optimised, inline(always))]
            fn wide_lowest(words: &[Self], level: Level) -> Option<Self> {
                simd::$lowest(words, level)
            }
            #[cfg_attr(optimised, inline(always))]
            fn wide_mask(words: &[Self], point: Self, level: Level) -> Option<u64> {
                simd::$mask(words, point, level)
            }
            #[cfg_attr(optimised, inline(always))]
            fn wide_choose(words: &mut [Self], bits: u64, set: Self, clear: Self, level: Level) -> bool {
                simd::$choose(words, bits, set, clear, level)
            }
            #[cfg_attr(optimised, inline(always))]
            fn arena(words: &PcWords) -> &Vec<Self> {
                &words.$arena
            }
            #[cfg_attr(optimised, inline(always))]
            fn arena_mut(words: &mut PcWords) -> &mut Vec<Self> {
                &mut words.$arena
            }
        }
    };
}

word!(u32, i32, narrow, lowest32, mask32, choose32);
word!(u64, i64, wide, lowest64, mask64, choose64);

/// The lowest point among `words`, [`IDLE`] if there is none.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn lowest<P: PcWord>(words: &[P], level: Level) -> u32 {
    match P::wide_lowest(words, level) {
        Some(least) => least.least(P::IDLE).point(),
        None => words.iter().fold(P::IDLE, |a, &b| a.least(b)).point(),
    }
}

/// The lowest point above `point` among `words`, something above [`IDLE`] if there is none.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn lowest_above<P: PcWord>(words: &[P], point: u32) -> u32 {
    let all = P::of(0).above(0);
    let least = words.iter().fold(all, |least, word| least.min(word.above(point)));
    least.point().saturating_add(point).saturating_add(1)
}

/// How many of `words` are at `point`.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn count<P: PcWord>(words: &[P], point: u32, level: Level) -> usize {
    let count = |words: &[P]| match P::wide_mask(words, P::of(point), level) {
        Some(mask) => mask.count_ones() as usize,
        None => words.iter().fold(P::of(0), |sum, word| sum.plus(word.same(P::of(point)))).number(),
    };
    words.chunks(64).map(count).sum()
}

/// Makes the words of a strip `set` for the lanes in `bits`, else `clear`.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn choose<P: PcWord, const W: usize>(
    words: &mut [P; W],
    bits: u64,
    set: P,
    clear: P,
    level: Level,
) {
    if P::wide_choose(words, bits, set, clear, level) {
        return;
    }
    for (lane, word) in words.iter_mut().enumerate() {
        *word = if bits >> lane & 1 != 0 { set } else { clear };
    }
}

/// One bit per word of `words` (at most 64): whether it is at `point`.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn mask<P: PcWord>(words: &[P], point: u32, level: Level) -> u64 {
    equal(words, P::of(point), level)
}

/// One bit per word of `words` (at most 64): whether it is this one.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn equal<P: PcWord>(words: &[P], to: P, level: Level) -> u64 {
    if let Some(mask) = P::wide_mask(words, to, level) {
        return mask;
    }
    let mut mask = 0;
    let (chunks, rest) = words.as_chunks::<16>();
    for (at, chunk) in chunks.iter().enumerate() {
        let mut bits = 0u32;
        for (lane, &word) in chunk.iter().enumerate() {
            bits |= u32::from(word == to) << lane;
        }
        mask |= u64::from(bits) << (16 * at);
    }
    for (lane, &word) in rest.iter().enumerate() {
        mask |= u64::from(word == to) << (16 * chunks.len() + lane);
    }
    mask
}

/// The same where they are at most two vectors. The bits of the second begin at [`SECOND`]: else LLVM puts the vectors together
/// before it compares, and what branches on the bits waits for that (measured: a seventh of the time of a recursive quadrature).
#[cfg_attr(optimised, inline(always))]
pub(crate) fn equal_apart<P: PcWord>(words: &[P], to: P, level: Level) -> u64 {
    let (first, second) = words.split_at(in_first::<P>(words.len(), level));
    equal(first, to, level) | equal(second, to, level) << SECOND
}

/// How many of so many words are in the first vector.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn in_first<P: PcWord>(words: usize, level: Level) -> usize {
    words.min(level.bytes() / size_of::<P>())
}

/// Where the bits of a second vector begin.
pub(crate) const SECOND: u32 = 32;

/// The lane of the `nth` bit set in `mask`.
pub(crate) fn select(mask: &[u64], mut nth: usize) -> usize {
    for (block, &word) in mask.iter().enumerate() {
        let ones = word.count_ones() as usize;
        if nth < ones {
            let rest = (0..nth).fold(word, |rest, _| rest & (rest - 1));
            return 64 * block + rest.trailing_zeros() as usize;
        }
        nth -= ones;
    }
    unreachable!("the mask has fewer lanes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;

    #[test]
    fn scans_agree_with_plain_code() {
        let (base, best) = (Level::new(Isa::Baseline), Level::new(Isa::Avx512));
        for (len, level) in
            [0usize, 1, 8, 13, 16, 40, 64].into_iter().flat_map(|len| [(len, base), (len, best)])
        {
            let points: Vec<u32> =
                (0..len).map(|i| if i % 5 == 0 { IDLE } else { (i * 7 % 4) as u32 + 1 }).collect();
            let wide: Vec<u64> = points.iter().map(|&p| u64::from(p)).collect();
            let least = points.iter().copied().min().unwrap_or(IDLE);
            assert_eq!((lowest(&points, level), lowest(&wide, level)), (least, least));
            for point in 0..6 {
                let want: Vec<usize> = (0..len).filter(|&i| points[i] == point).collect();
                let bits = mask(&points, point, level);
                assert_eq!((bits, want.len()), (mask(&wide, point, level), bits.count_ones() as usize));
                assert_eq!(
                    (count(&points, point, level), count(&wide, point, level)),
                    (want.len(), want.len())
                );
                for (nth, &lane) in want.iter().enumerate() {
                    assert_eq!(select(&[0, bits], nth), 64 + lane);
                }
            }
        }
    }
}
