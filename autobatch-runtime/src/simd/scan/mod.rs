//! Comparing many words at once: the least of them, which of them equal one, one or another by a mask.
//!
//! The scheduler lives on these. Where there is no kernel the caller has a loop of its own.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(target_arch = "x86_64")]
use super::isa::Isa;
use super::isa::Level;

/// The kernels of one width of words, where the CPU has them: see [`avx512`].
macro_rules! scans {
    ($lowest:ident, $mask:ident, $choose:ident, $word:ty) => {
        /// The least of `words`, if there is a kernel for it; the largest signed number if empty.
        #[cfg_attr(optimised, inline(always))]
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
        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $mask(words: &[$word], to: $word, level: Level) -> Option<u64> {
            #[cfg(target_arch = "x86_64")]
            return Some(match level.0 {
                // SAFETY: a `Level` exists only for what the CPU has.
                Isa::Avx512 => unsafe { avx512::$mask(words, to) },
                // SAFETY: as above.
                Isa::Avx2 => unsafe { avx2::$mask(words, to) },
                // SAFETY: every x86-64 CPU has SSE2.
                _ => unsafe { sse2::$mask(words, to) },
            });
            #[cfg(not(target_arch = "x86_64"))]
            {
                let _ = (words, to, level);
                None
            }
        }

        /// Makes the words (at most 64) that are set in `bits` the one, the others the other; whether there is a
        /// kernel.
        #[cfg_attr(optimised, inline(always))]
        pub(crate) fn $choose(
            words: &mut [$word],
            bits: u64,
            set: $word,
            clear: $word,
            level: Level,
        ) -> bool {
            #[cfg(target_arch = "x86_64")]
            match level.0 {
                // SAFETY: a `Level` exists only for what the CPU has.
                Isa::Avx512 => unsafe { avx512::$choose(words, bits, set, clear) },
                // SAFETY: as above.
                Isa::Avx2 => unsafe { avx2::$choose(words, bits, set, clear) },
                // SAFETY: every x86-64 CPU has SSE2.
                _ => unsafe { sse2::$choose(words, bits, set, clear) },
            }
            let _ = (words, bits, set, clear, level);
            cfg!(target_arch = "x86_64")
        }
    };
}

scans!(lowest32, mask32, choose32, u32);
scans!(lowest64, mask64, choose64, u64);

/// One bit per byte (at most 64): whether it is negative.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn signs<const W: usize>(bytes: &[u8; W], level: Level) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return match level.0 {
        // SAFETY: a `Level` exists only for what the CPU has.
        Isa::Avx2 | Isa::Avx512 => unsafe { avx2::signs(bytes) },
        // SAFETY: every x86-64 CPU has SSE2.
        _ => unsafe { sse2::signs(bytes) },
    };
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = level;
        bytes.iter().rev().fold(0, |mask, byte| mask << 1 | u64::from(byte >> 7))
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::Isa;
    use super::*;

    #[test]
    fn masks_are_those_of_the_words() {
        let words: Vec<u64> = (0..64u64).map(|at| at * at * 7 % 5).collect();
        let narrow: Vec<u32> = words.iter().map(|word| *word as u32).collect();
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512].map(Level::new) {
            for (from, to) in [(0, 64), (0, 32), (5, 5), (7, 20), (1, 64)] {
                let want = (from..to).map(|at| u64::from(words[at] == 2) << (at - from)).sum::<u64>();
                for found in [mask64(&words[from..to], 2, isa), mask32(&narrow[from..to], 2, isa)] {
                    assert!(found.is_none_or(|found| found == want), "{isa:?} {from}..{to}");
                }
                let (mut wide, mut narrow) = ([1; 64], [1; 64]);
                for (on, off) in [(!0, 0), (7, i32::MAX as u32)] {
                    let word = |at: usize| if want >> (at - from) & 1 == 1 { on } else { off };
                    if choose64(&mut wide[from..to], want, on.into(), off.into(), isa) {
                        assert!((from..to).all(|at| wide[at] == u64::from(word(at))));
                    }
                    if choose32(&mut narrow[from..to], want, on, off, isa) {
                        assert!((from..to).all(|at| narrow[at] == word(at)));
                    }
                }
            }
        }
    }
}
