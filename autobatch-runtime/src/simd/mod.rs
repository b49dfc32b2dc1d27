//! Instruction sets: which one the CPU has, code compiled for it, and the kernels that need one.
//!
//! In: the ceiling that the user sets. Out: a [`Level`], the proof that the CPU has an instruction set, and what can be done with it: run a
//! function compiled for it ([`vectorize`]), compare words (`scan/`), move lanes together and apart (`compress/`). And operations of lane code in a
//! form that LLVM makes vectors of, whatever the level (`saturating_casts.rs`, `wide_division.rs`).
//!
//! A new instruction set gets a variant of [`Isa`], its detection in `isa.rs`, and a file beside `avx2.rs` in `scan/` and `compress/`.
//!
//! **Invariant:** there is a [`Level`] only of an instruction set that this CPU has. [`Level::new`] upholds it, and `level`, `level_avx2` and
//! `level_avx512`, of which the last two are functions that code without these features can't call. Every kernel with `target_feature` relies on it.

mod compress;
mod dispatch;
mod isa;
mod mask;
mod saturating_casts;
mod scan;
mod uniform_guard;
mod wide_division;

pub use compress::{append, fetch};
pub(crate) use compress::{compact, compact_words, compress, compress_words, expand, expand_words, merge};
pub(crate) use dispatch::vectorize;
pub use isa::{Isa, level};
pub(crate) use isa::{Level, ceiling};
#[cfg(target_arch = "x86_64")]
pub use isa::{level_avx2, level_avx512};
pub(crate) use mask::{count, extent, extract, lanes, of_word, runs};
pub use saturating_casts::saturated;
pub(crate) use scan::{choose32, choose64, lowest32, lowest64, mask32, mask64, signs};
pub use uniform_guard::{same_for_all, same_slice_for_all};
pub use wide_division::{is_multiple_of_by, quotient_by, rem_euclid_by, remainder_by};
