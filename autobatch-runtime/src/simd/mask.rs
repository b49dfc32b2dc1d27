//! Sets of lanes, a bit for each: 64 to a word, the first lane lowest.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::isa::Isa;
use super::isa::Level;

/// The number of lanes set.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn count(mask: &[u64]) -> usize {
    mask.iter().map(|word| word.count_ones() as usize).sum()
}

/// The bits of `bits` that are set in `mask`, side by side.
#[cfg_attr(optimised, inline(always))]
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
#[cfg_attr(optimised, inline(always))]
pub(crate) fn extent(mask: &[u64]) -> usize {
    let last = mask.iter().rposition(|&word| word != 0);
    last.map_or(0, |at| 64 * at + 64 - mask[at].leading_zeros() as usize)
}

/// The lanes set, ascending.
pub(crate) fn lanes(mask: &[u64]) -> impl Iterator<Item = usize> {
    mask.iter().enumerate().flat_map(|(block, &word)| of_word(word).map(move |lane| 64 * block + lane))
}

/// The lanes set in one word, ascending.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn of_word(word: u64) -> impl Iterator<Item = usize> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(lane)
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
#[cfg_attr(optimised, inline(always))]
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
