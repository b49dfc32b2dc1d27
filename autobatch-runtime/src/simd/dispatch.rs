//! Running code compiled for an instruction set.
//!
//! **Invariant:** `in_avx2` and `in_avx512` are called with a [`Level`] of theirs only.

#[cfg(target_arch = "x86_64")]
use super::isa::Isa;
use super::isa::Level;

/// Runs `f` compiled for `level`, as far as `f` is inlined.
#[cfg_attr(optimised, inline(always))]
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
