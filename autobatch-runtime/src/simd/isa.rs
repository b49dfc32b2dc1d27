//! Instruction sets, and which of them this CPU has.
//!
//! **Invariant:** a [`Level`] is of what the CPU has (see the folder). Its field is for this folder only.

/// An instruction set: a ceiling for [`Options::isa`](crate::Options::isa), or what a run used ([`Report::isa`](crate::Report::isa)).
///
/// The batched code is compiled for each, without compiler flags; the run takes the widest that the CPU has.
///
/// ```
/// use autobatch::{Isa, Options};
///
/// let options = Options::default().isa(Isa::Baseline);
/// # let _ = options;
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// What every CPU of the target has: SSE2 on x86-64. Its vectors hold two numbers of 64 bits, or four of 32. Loops and
    /// independent recursion gain with four, straight code on `f64` and recursion that computes much with two. Other programs
    /// of numbers run as scalar code, whatever executor is asked for.
    Baseline,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 F, VL, DQ, BW, CD.
    Avx512,
    /// NEON, the baseline of aarch64.
    Neon,
}

impl Isa {
    /// The widest instruction set of this CPU that batches make use of.
    ///
    /// ```
    /// println!("{:?}", autobatch::Isa::detect());
    /// ```
    pub fn detect() -> Isa {
        ceiling(None)
    }
}

/// An instruction set that this CPU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level(pub(super) Isa);

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
    #[cfg_attr(optimised, inline(always))]
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

/// As `level_avx2`, for what every CPU of the target has.
#[inline]
pub fn level() -> Level {
    Level(if cfg!(target_arch = "aarch64") { Isa::Neon } else { Isa::Baseline })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_hold() {
        assert_eq!(Level::new(Isa::Baseline).isa() == Isa::Neon, cfg!(target_arch = "aarch64"));
        assert_ne!(Level::new(Isa::Avx2).isa(), Isa::Avx512);
        assert_eq!(ceiling(None), Level::new(Isa::Avx512).isa());
        assert_eq!(level(), Level::new(Isa::Baseline));
    }
}
