//! Lookups in lanes: an index that is out of bounds is noted, and the tile given up behind the lanes.
//!
//! ```text
//! for l in 0..W {                         let nodes = List::of(&nodes);  let mut faults = Faults::new(level);
//!     …                                   for l in 0..W {
//!     at = nodes[at].left;       ──▶          let fault = Fault::new();
//!     …                                       at = nodes.get(at, &fault).left;
//! }                                           faults.note(fault);
//!                                         }
//!                                         faults.give_up_if_any();
//! ```
//!
//! A branch to a panic stops LLVM's vectoriser; this is a comparison, a choice and a gather. The lane goes on with another element until
//! its strip has run, and with it the tile is dropped, so nobody sees what it computes. The tile's members then run as scalar code, which
//! finds the fault. A block that runs lane-interchanged does the same, and runs again lane by lane.
//!
//! **Invariant:** behind the pointer of a [`List`] there is an element, whatever its length.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::resume_unwind;

use crate::lane_interchange::{Loaded, loaded};
use crate::probes::type_id::is_plain;
use crate::simd::{Isa, Level};
use crate::storage::{PcWord, Slots, UnknownZero};

/// Whether a lane has come to something that would be a panic of the scalar function.
#[derive(Default)]
pub struct Fault(Cell<bool>);

impl Fault {
    /// It has not.
    #[cfg_attr(optimised, inline(always))]
    pub fn new() -> Fault {
        Fault::default()
    }

    /// It has, if `fault` says so.
    #[cfg_attr(optimised, inline(always))]
    pub fn note(&self, fault: bool) {
        self.0.set(self.0.get() | fault);
    }

    /// It has, if there was none where `found` has been looked for before.
    #[cfg_attr(optimised, inline(always))]
    pub fn see<'f, T>(&self, outside: &Fault, found: &'f T) -> &'f T {
        self.note(outside.0.get());
        found
    }

    /// It has, if the other has.
    #[cfg_attr(optimised, inline(always))]
    pub fn add(&self, other: Fault) {
        self.note(other.0.get());
    }

    /// What it has come to in a round that may not be its own.
    #[cfg_attr(optimised, inline(always))]
    pub fn of_round(self, is_in: bool) -> Fault {
        Fault(Cell::new(self.0.get() & is_in))
    }

    /// Whether it has.
    #[cfg(test)]
    pub(super) fn is_noted(&self) -> bool {
        self.0.get()
    }
}

/// A list with an element to read for lanes that are out of bounds.
pub struct List<'l, T> {
    first: *const T,
    len: usize,
    list: PhantomData<&'l [T]>,
}

impl<T> Clone for List<'_, T> {
    #[cfg_attr(optimised, inline(always))]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

/// As many zeros as the largest primitive has, aligned as it is.
#[repr(align(16))]
struct Zeros([u8; 16]);

static ZEROS: Zeros = Zeros([0; 16]);

impl<'l, T> List<'l, T> {
    /// The list. An empty one is given up if nothing can be read in its place: who looks for an element faults.
    #[cfg_attr(optimised, inline(always))]
    pub fn of(list: &'l [T]) -> List<'l, T> {
        let first = match (list.is_empty(), is_plain::<T>()) {
            (false, _) => list.as_ptr(),
            (true, true) => ZEROS.0.as_ptr().cast(),
            (true, false) => give_up(),
        };
        List { first, len: list.len(), list: PhantomData }
    }

    /// An element; another one, if there is none at that index, which is noted.
    #[cfg_attr(optimised, inline(always))]
    pub fn get(self, at: usize, fault: &Fault) -> &'l T {
        let at = within(at, self.len, fault);
        // SAFETY: `at` is below the length, or 0. Behind `first` there are as many elements of a list that lives as long as `'l`, and one
        // at least: of an empty list of plain values zeros, which every plain type has, in a static that is as large and as aligned
        // as the largest of them.
        unsafe { &*self.first.add(at) }
    }
}

/// An element that is the same for all lanes, looked at before it is known whether a lane does.
pub struct Guarded<'l, T> {
    element: Loaded<'l, T>,
    is_outside: bool,
}

impl<'l, T> Guarded<'l, T> {
    /// Looks at an element; at another one, if there is none.
    #[cfg_attr(optimised, inline(always))]
    pub fn element(list: List<'l, T>, at: usize) -> Guarded<'l, T> {
        let fault = Fault::new();
        Guarded { element: loaded(list.get(at, &fault)), is_outside: fault.0.get() }
    }

    /// Whether it is another one.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_outside(&self) -> bool {
        self.is_outside
    }
}

impl<T> Deref for Guarded<'_, T> {
    type Target = T;

    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &T {
        &self.element
    }
}

/// A number narrower than those that instructions gather.
pub trait Narrow: Copy {
    /// The lowest bits of a word, of which they are one.
    #[doc(hidden)]
    fn of(word: u32) -> Self;
}

macro_rules! narrow {
    ($($t:ty)*) => {$(
        impl Narrow for $t {
            #[cfg_attr(optimised, inline(always))]
            fn of(word: u32) -> Self {
                word as $t
            }
        }
    )*};
}

narrow!(u8 i8 u16 i16);

impl Narrow for bool {
    #[cfg_attr(optimised, inline(always))]
    fn of(word: u32) -> Self {
        word as u8 != 0
    }
}

impl<T: Narrow> List<'_, T> {
    /// The elements of a word.
    const OF_WORD: usize = size_of::<u32>() / size_of::<T>();

    /// An element, out of the word of the list that has it: words are gathered, what is narrower is not. A list without a word is a fault
    /// of the lane.
    #[cfg_attr(optimised, inline(always))]
    pub fn narrow(self, at: usize, fault: &Fault) -> T {
        let at = within(at, self.len, fault);
        let short = self.len < Self::OF_WORD;
        fault.note(short);
        let first = if short { ZEROS.0.as_ptr().cast() } else { self.first };
        let start = if short { 0 } else { at.min(self.len - Self::OF_WORD) };
        // SAFETY: a list that isn't short has a word at `start`, whose last element is the list's last at most. Of a short one the zeros
        // are read, which have one. Every byte of a narrow number is initialised.
        let word = unsafe { first.add(start).cast::<u32>().read_unaligned() };
        T::of(u32::from_le(word) >> (8 * size_of::<T>() * (at.wrapping_sub(start) & 3)))
    }
}

/// The index if it is below `len`, else 0, which is noted.
#[cfg_attr(optimised, inline(always))]
pub fn within(at: usize, len: usize, fault: &Fault) -> usize {
    let inside = at < len;
    fault.note(!inside);
    if inside { at } else { 0 }
}

/// An element of an array that a lane has, where it lies: nothing is copied but the element.
#[cfg_attr(optimised, inline(always))]
pub fn element<E: Copy, const N: usize>(
    lanes: &impl Slots<Value = [E; N]>,
    lane: usize,
    at: usize,
    fault: &Fault,
) -> E {
    lanes.element(lane, within(at, N, fault))
}

/// Whether any of the lanes of a strip has a fault.
pub struct Faults<P> {
    /// Whether the instruction set has registers for masks; elsewhere words as wide as the data are all there is.
    masks: bool,
    any: bool,
    words: P,
}

impl<P: PcWord> Faults<P> {
    /// None has.
    #[cfg_attr(optimised, inline(always))]
    pub fn new(level: Level) -> Self {
        Faults { masks: level.isa() == Isa::Avx512, any: false, words: P::of(0) }
    }

    /// Another lane.
    #[cfg_attr(optimised, inline(always))]
    pub fn note(&mut self, fault: Fault) {
        if self.masks {
            self.any |= fault.0.get();
        } else {
            self.words = self.words.or(P::set(fault.0.get()));
        }
    }

    /// Drops the tile if a lane has.
    #[cfg_attr(optimised, inline(always))]
    pub fn give_up_if_any(self) {
        if self.any || self.words != P::of(0) {
            give_up();
        }
    }
}

/// What each lane of a strip has noted, for code that runs in many pieces.
pub struct LaneFaults<P, const W: usize> {
    words: [P; W],
    /// So that LLVM does not store under a mask.
    zero: UnknownZero,
}

impl<P: PcWord, const W: usize> LaneFaults<P, W> {
    /// Nothing.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        LaneFaults { words: [P::of(0); W], zero: UnknownZero::new() }
    }

    /// What a lane has.
    #[cfg_attr(optimised, inline(always))]
    pub fn note(&mut self, lane: usize, fault: Fault) {
        let noted = self.words[lane].or(self.zero.word());
        self.words[lane] = noted.or(P::set(fault.0.get()));
    }

    /// Gives up if any of them has.
    #[cfg_attr(optimised, inline(always))]
    pub fn give_up_if_any(&self) {
        if self.words.iter().fold(P::of(0), |all, lane| all.or(*lane)) != P::of(0) {
            give_up();
        }
    }
}

/// Drops the tile unless a condition holds: what its code needs is there, or an assertion holds where lanes note no faults.
#[cfg_attr(optimised, inline(always))]
pub fn give_up_unless(fits: bool) {
    if !fits {
        give_up();
    }
}

/// Why a tile is dropped.
struct GivenUp;

#[cold]
#[inline(never)]
pub(super) fn give_up() -> ! {
    resume_unwind(Box::new(GivenUp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked_up<T: Copy>(list: &[T], at: usize) -> (T, bool) {
        let fault = Fault::new();
        (*List::of(list).get(at, &fault), fault.0.get())
    }

    #[test]
    fn what_is_out_of_bounds_is_noted() {
        assert_eq!(looked_up(&[5, 6, 7], 2), (7, false));
        assert_eq!(looked_up(&[5, 6, 7], 3), (5, true));
        assert_eq!(looked_up(&[5.5], usize::MAX), (5.5, true));
        assert_eq!(looked_up::<u128>(&[], 0), (0, true));
        assert_eq!(looked_up::<char>(&[], 4), ('\0', true));
        let empty = std::panic::catch_unwind(|| looked_up::<(u8, u64)>(&[], 0));
        assert!(empty.is_err_and(|payload| payload.is::<GivenUp>()));
    }

    #[test]
    fn an_element_that_is_not_there_is_another_one() {
        let element = |at| Guarded::element(List::of(&[5u8, 7]), at);
        assert_eq!((*element(1), element(1).is_outside()), (7, false));
        assert_eq!((*element(2), element(2).is_outside()), (5, true));
    }

    #[test]
    fn narrow_numbers_come_out_of_words() {
        fn agree<T: Narrow + PartialEq + std::fmt::Debug>(list: &[T]) {
            for at in (0..list.len() + 2).chain([usize::MAX]) {
                let fault = Fault::new();
                let read = List::of(list).narrow(at, &fault);
                let is_short = size_of_val(list) < 4;
                assert_eq!(fault.is_noted(), is_short || at >= list.len(), "{at} of {list:?}");
                assert!(fault.is_noted() || read == list[at], "{at} of {list:?}");
            }
        }
        for len in 0..20u8 {
            let bytes: Vec<u8> = (0..len).map(|n| n.wrapping_mul(37).wrapping_add(130)).collect();
            agree(&bytes);
            agree(&bytes.iter().map(|b| *b as i8).collect::<Vec<_>>());
            agree(&bytes.iter().map(|b| *b as u16 * 257).collect::<Vec<_>>());
            agree(&bytes.iter().map(|b| *b as i16 * -120).collect::<Vec<_>>());
            agree(&bytes.iter().map(|b| b % 3 == 0).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_fault_of_any_lane_counts() {
        for level in [Isa::Baseline, Isa::Avx2, Isa::Avx512].map(Level::new) {
            let faults = |of: [usize; 3]| {
                std::panic::catch_unwind(|| {
                    let mut faults = Faults::<u32>::new(level);
                    for at in of {
                        let fault = Fault::new();
                        within(at, 3, &fault);
                        faults.note(fault);
                    }
                    faults.give_up_if_any();
                })
                .is_err()
            };
            assert!(!faults([0, 2, 1]) && faults([0, 3, 1]) && faults([3, 0, 0]));
        }
    }
}
