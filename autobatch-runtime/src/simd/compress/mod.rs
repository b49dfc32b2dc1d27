//! Moving lanes together and apart: compress and expand.
//!
//! In: slots of lanes and a mask of them. Out: the slots that are set in the mask, side by side, or the reverse.
//!
//! Slots are raw bytes that may be uninitialised or hold pointers, which an integer vector must not, so
//! the vector forms are assembly rather than intrinsics. They exist for slots of 4, 8 and 16 bytes, with AVX2 and AVX-512. Elsewhere, NEON
//! included, slots move by tables of four lanes.
//!
//! **Invariant:** every slot that a kernel reads or writes lies within the slices that it is given, and where two slices overlap a slot is
//! read before it is written. The functions in `moves.rs` check lengths, or are `unsafe` and say what their callers check.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod groups;
#[cfg(target_arch = "x86_64")]
mod halves;
mod moves;
#[cfg(test)]
mod tests;

pub use moves::{append, fetch};
pub(crate) use moves::{compact, compact_words, compress, compress_words, expand, expand_words, merge};
