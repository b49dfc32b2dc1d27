//! Strips: `W` neighbouring lanes of a variable, and the copies of them that lane code works on.
//!
//! **Invariant:** a copy stays where it was filled (see [`Local`]).

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;

use super::pc_word::PcWord;
use super::plain_stores::{PlainStores, Structures};
use super::slots::{Lanewise, select, split};
use crate::probes::type_id::is_plain;

/// An array on a cache line of its own: vector accesses that cross lines are slow, those that cross pages
/// very slow.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Aligned<A>(pub(crate) A);

/// The values of a variable in a strip.
pub struct Strip<T, const W: usize>(Aligned<[MaybeUninit<T>; W]>);

impl<T, const W: usize> Strip<T, W> {
    /// Without values.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Strip(Aligned([const { MaybeUninit::uninit() }; W]))
    }

    /// Without values, and without those that it had in a loop's last round: LLVM would keep them for lanes that do not run.
    #[cfg_attr(optimised, inline(always))]
    pub fn cleared() -> Self {
        Strip(Aligned([const { MaybeUninit::zeroed() }; W]))
    }

    /// The same value for all lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn filled(value: T) -> Self
    where
        T: Copy,
    {
        Strip(Aligned([MaybeUninit::new(value); W]))
    }

    /// Those of a column, from `first` on.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(column: &[MaybeUninit<T>], first: usize) -> Self {
        Strip::copied(column[first..].first_chunk().expect("columns have room for whole strips"))
    }

    /// The same again.
    #[cfg_attr(optimised, inline(always))]
    pub fn copied(lanes: &[MaybeUninit<T>; W]) -> Self {
        // SAFETY: any bits are a `MaybeUninit`; values that only compute may be copied.
        Strip(Aligned(unsafe { ptr::read(lanes) }))
    }

    /// The lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes(&self) -> &[MaybeUninit<T>; W] {
        &self.0.0
    }

    /// The lanes, to be written.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes_mut(&mut self) -> &mut [MaybeUninit<T>; W] {
        &mut self.0.0
    }
}

/// A strip of a column, found but not copied yet: between copying and lane code nothing shall unwind.
pub struct Home<'c, T, const W: usize, const BACK: bool>(pub(crate) &'c mut [MaybeUninit<T>; W]);

impl<'c, T, const W: usize, const BACK: bool> Home<'c, T, W, BACK> {
    /// The strip's lanes, to work on.
    #[cfg_attr(optimised, inline(always))]
    pub fn open(self) -> Local<'c, T, W, BACK, true> {
        self.local()
    }

    /// The same as an array.
    #[cfg_attr(optimised, inline(always))]
    pub fn open_rows(self) -> Local<'c, T, W, BACK, false> {
        self.local()
    }

    #[cfg_attr(optimised, inline(always))]
    fn local<const SPLIT: bool>(self) -> Local<'c, T, W, BACK, SPLIT> {
        Local { copy: MaybeUninit::uninit(), filled: false, home: self.0 }
    }

    /// The same for a variable that only the lanes in `was` have: the others keep what they hold in the
    /// column, whatever happens to the copy.
    #[cfg_attr(optimised, inline(always))]
    pub fn open_where<'w, P: PcWord>(self, was: &'w LaneMask<P, W>) -> Partial<'c, 'w, T, P, W> {
        Partial { local: ManuallyDrop::new(Home::<T, W, false>(self.0).open()), was }
    }
}

/// Which lanes of a strip are meant: all bits set or none, in words as wide as the data.
pub struct LaneMask<P, const W: usize>(pub(crate) Aligned<[P; W]>);

/// [`Local`] of which only some lanes are written back.
pub struct Partial<'c, 'w, T, P: PcWord, const W: usize> {
    /// Never dropped: it would write all lanes back.
    local: ManuallyDrop<Local<'c, T, W, false, true>>,
    was: &'w LaneMask<P, W>,
}

impl<T, P: PcWord, const W: usize> Partial<'_, '_, T, P, W> {
    /// The lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes(&mut self) -> &mut Lanewise<T, W> {
        self.local.lanes()
    }

    /// The lanes, to be stored to by [`PlainStores::store`]. Those that are not meant hold zeros.
    #[cfg_attr(optimised, inline(always))]
    pub fn known_lanes(&mut self, stores: PlainStores<impl Structures>) -> &mut Lanewise<T, W> {
        let lanes = self.local.lanes();
        if stores.takes::<T>() {
            for (lane, was) in self.was.0.0.iter().enumerate() {
                let bits = if was.is_set() { lanes.get(lane) } else { MaybeUninit::zeroed() };
                lanes.put(lane, bits);
            }
        }
        lanes
    }
}

impl<T, P: PcWord, const W: usize> Drop for Partial<'_, '_, T, P, W> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        let Local { copy, filled, home } = &mut *self.local;
        if !*filled {
            return;
        }
        // SAFETY: `filled`, see `Local`.
        let copy = unsafe { &copy.assume_init_ref().0 };
        for at in 0..W {
            // SAFETY: any bits are a `MaybeUninit`, and types with a copy have no drop glue.
            let (new, old) = (copy.get(at), unsafe { ptr::read(&home[at]) });
            home[at] = if self.was.0.0[at].is_set() { new } else { old };
        }
    }
}

/// The lanes of one column that a block works on: a copy on the native stack if `T` is selected (a
/// local array aliases nothing), else the column itself. `BACK`: the copy is written back when this
/// is dropped, on the normal path as well as while unwinding from a lane; other than numbers it always is, as a `Cell` changes
/// without being assigned. `SPLIT`: values of several words may be
/// split in the copy.
///
/// **Invariant:** a copy stays where it was filled. If it were moved, words of split values could be lost: where a value has padding,
/// a move of the array need not keep what is there. No method hands out a `Local` behind its filling, and `copy`, which alone sets
/// `filled`, is called for types that are split or selected, which have no drop glue. Under Miri `values_come_back_whole` fails without it.
pub struct Local<'c, T, const W: usize, const BACK: bool, const SPLIT: bool> {
    copy: MaybeUninit<Aligned<Lanewise<T, W>>>,
    /// Whether `copy` has the lanes: the first use copies them. Never for types that are worked on in the column.
    filled: bool,
    home: &'c mut [MaybeUninit<T>; W],
}

impl<T, const W: usize, const BACK: bool, const SPLIT: bool> Local<'_, T, W, BACK, SPLIT> {
    /// The copy of a type that has one.
    #[cfg_attr(optimised, inline(always))]
    fn copy(&mut self) -> &mut Lanewise<T, W> {
        let copy = &mut self.copy;
        if !self.filled {
            self.filled = true;
            if SPLIT && split::<T>() {
                // SAFETY: an array of `MaybeUninit` may hold any bits, none too.
                let lanes = unsafe { &mut copy.assume_init_mut().0 };
                for (lane, slot) in self.home.iter().enumerate() {
                    // SAFETY: any bits are a `MaybeUninit`, and `T` has no drop glue.
                    lanes.put(lane, unsafe { ptr::read(slot) });
                }
            } else {
                // SAFETY: any bits are a `MaybeUninit`, and `T` has no drop glue.
                copy.write(Aligned(Lanewise(unsafe { ptr::read(self.home) })));
            }
        }
        // SAFETY: it has been filled, here or before.
        unsafe { &mut copy.assume_init_mut().0 }
    }
}

impl<T, const W: usize, const BACK: bool> Local<'_, T, W, BACK, true> {
    /// The lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes(&mut self) -> &mut Lanewise<T, W> {
        if split::<T>() || select::<T>() { self.copy() } else { Lanewise::of(self.home) }
    }
}

impl<T, const W: usize, const BACK: bool> Local<'_, T, W, BACK, false> {
    /// The lanes.
    #[cfg_attr(optimised, inline(always))]
    pub fn lanes(&mut self) -> &mut [MaybeUninit<T>; W] {
        if select::<T>() { &mut self.copy().0 } else { self.home }
    }
}

impl<T, const W: usize, const BACK: bool, const SPLIT: bool> Drop for Local<'_, T, W, BACK, SPLIT> {
    #[cfg_attr(optimised, inline(always))]
    fn drop(&mut self) {
        if !self.filled || !BACK && is_plain::<T>() {
            return;
        }
        if SPLIT && split::<T>() {
            // SAFETY: `filled`.
            let copy = unsafe { &self.copy.assume_init_ref().0 };
            for (lane, slot) in self.home.iter_mut().enumerate() {
                *slot = copy.get(lane);
            }
        } else {
            // SAFETY: `filled`, and the copy lies apart from the column.
            unsafe { ptr::copy_nonoverlapping(&self.copy.assume_init_ref().0.0, self.home, 1) };
        }
    }
}
