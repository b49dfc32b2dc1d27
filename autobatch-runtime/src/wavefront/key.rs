//! Keys of records: call site, depth and lane.

use std::mem::MaybeUninit;
use std::ptr;

use crate::simd::Level;
use crate::storage::Aligned;
use crate::storage::pc_word::mask;

/// Bits for depth and lane.
pub(super) const INDEX_BITS: u32 = 24;

/// The keys of a strip of records.
pub struct Keys<const W: usize>(pub(super) Aligned<[u32; W]>);

impl<const W: usize> Keys<W> {
    /// (`map` of arrays is not always inlined.)
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn each(&self, f: impl Fn(u32) -> u32) -> Self {
        let mut all = Aligned([0; W]);
        all.0.iter_mut().zip(&self.0.0).for_each(|(new, key)| *new = f(*key));
        Keys(all)
    }

    /// Where their frames begin, for frames of so many slots.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn slots(&self, size: usize) -> Self {
        let size = size as u32;
        self.each(|key| index(key) as u32 * size)
    }

    #[cfg_attr(optimised, inline(always))]
    pub(super) fn strip(&self) -> &[MaybeUninit<u32>; W] {
        // SAFETY: a `MaybeUninit` has the layout of its value.
        unsafe { &*ptr::from_ref(&self.0.0).cast() }
    }

    /// The call sites that their activations have been called from.
    #[cfg_attr(optimised, inline(always))]
    pub fn sites(&self) -> Sites<W> {
        Sites(self.each(|key| key >> INDEX_BITS).0)
    }
}

/// The index of a key on the stack.
#[cfg_attr(optimised, inline(always))]
pub(super) fn index(key: u32) -> usize {
    (key & ((1 << INDEX_BITS) - 1)) as usize
}

/// The call sites of a strip's records.
pub struct Sites<const W: usize>(Aligned<[u32; W]>);

impl<const W: usize> Sites<W> {
    /// Those of the lanes `here` that `site` has called.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(&self, site: u8, here: u64, level: Level) -> u64 {
        here & mask(&self.0.0, u32::from(site), level)
    }
}
