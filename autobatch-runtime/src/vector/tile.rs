//! The tile: the members that run together, and what they run with.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use super::arena::{Arena, Memory};
use crate::api::column::StateSource;
use crate::api::options::Schedule;
use crate::api::output::Out;
use crate::batch::{Numbering, Pulse};
use crate::native_stack::depth::Depth;
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;
use crate::simd::Level;

/// What a tile is run with.
pub struct Tile<'r> {
    pub(crate) memory: &'r mut Memory,
    pub(crate) members: Range<usize>,
    pub(crate) numbering: Numbering<'r>,
    pub(crate) depth: Depth,
    pub(crate) level: Level,
    /// What counts, if the run has limits.
    pub(crate) pulse: Option<&'r Pulse<'r>>,
    /// If it runs as a wavefront.
    pub(crate) rules: Option<WavefrontRules<'r>>,
}

/// How members run as a wavefront.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WavefrontRules<'r> {
    /// Records at a time, if the user says so.
    pub(crate) lanes: Option<usize>,
    pub(crate) schedule: Schedule,
    /// Whether members are loaded while others are busy.
    pub(crate) refill: bool,
    /// Members before this one have been loaded.
    pub(crate) loaded: &'r Cell<usize>,
}

/// Members that follow each other.
#[derive(Clone, Copy)]
pub struct Members<'r> {
    first: usize,
    len: usize,
    numbering: Numbering<'r>,
}

impl<'r> Members<'r> {
    #[cfg(test)]
    pub(super) fn new(first: usize, len: usize) -> Self {
        Members { first, len, numbering: Numbering::default() }
    }

    /// How many.
    #[cfg_attr(optimised, inline(always))]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.len
    }

    /// The first of them.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn first(self) -> usize {
        self.first
    }

    /// Whether they are neighbours in the columns, too.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn is_whole(self) -> bool {
        self.numbering.is_whole()
    }

    /// Their places in the columns.
    pub(super) fn places(self) -> impl Iterator<Item = usize> {
        self.range().map(move |member| self.numbering.place(member))
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.first..self.first + self.len
    }

    pub(crate) fn numbering(self) -> Numbering<'r> {
        self.numbering
    }
}

impl<'r> Tile<'r> {
    /// The members of the tile.
    #[cfg_attr(optimised, inline(always))]
    pub fn members(&self) -> Members<'r> {
        Members { first: self.members.start, len: self.members.len(), numbering: self.numbering }
    }

    /// The depth of the entry function.
    #[cfg_attr(optimised, inline(always))]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The memory of its frames.
    #[cfg_attr(optimised, inline(always))]
    pub fn arena(&mut self) -> Arena<'_> {
        self.memory.counted(self.level, self.pulse)
    }

    /// Enters the instance of generated vector code for the instruction set in use. There is one for SSE2 if it runs there.
    #[cfg(target_arch = "x86_64")]
    pub fn dispatch<A>(
        &mut self,
        args: A,
        base: Option<fn(&mut Tile<'_>, A)>,
        avx2: unsafe fn(&mut Tile<'_>, A),
        avx512: unsafe fn(&mut Tile<'_>, A),
    ) {
        match self.level.isa() {
            // SAFETY: a `Level` exists only for what the CPU has, and it covers the features that
            // the two instances are compiled with.
            Isa::Avx512 => unsafe { avx512(self, args) },
            // SAFETY: as above.
            Isa::Avx2 => unsafe { avx2(self, args) },
            _ => base.expect("code for short vectors")(self, args),
        }
    }

    /// Enters the generated code.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn dispatch<A>(&mut self, args: A, base: fn(&mut Tile<'_>, A)) {
        base(self, args)
    }
}

impl<R> Out<'_, R> {
    /// The results of consecutive members, which are the values of the first lanes of a column.
    #[cfg_attr(optimised, inline(always))]
    pub fn store(&self, members: Members<'_>, column: &[MaybeUninit<R>]) {
        if members.is_whole() && self.copies() {
            let members = members.range();
            self.copy(members.clone(), column);
            return self.have(members);
        }
        self.store_parts(members, column, |value| value);
    }

    /// The same where the results are parts of the values.
    #[cfg_attr(optimised, inline(always))]
    pub fn store_parts<V>(&self, members: Members<'_>, column: &[MaybeUninit<V>], part: impl Fn(&V) -> &R) {
        if !members.is_whole() {
            return self.store_apart(members, column, part);
        }
        let mut members = members.range();
        let (first, column) = (members.start, &column[..members.len()]);
        // SAFETY: by the protocol of vector frames each of these lanes has a value, whose part is used once.
        self.fill(&mut members, |member| unsafe { read_part(&column[member - first], &part) });
    }

    /// The same where others stand between them.
    #[inline(never)]
    fn store_apart<V>(&self, members: Members<'_>, column: &[MaybeUninit<V>], part: impl Fn(&V) -> &R) {
        for (place, value) in members.places().zip(column) {
            // SAFETY: as in `store_parts`.
            self.set(place, unsafe { read_part(value, &part) });
        }
    }
}

/// The states of consecutive members from here on, which are parts of the values of the first lanes of a column.
#[cfg_attr(optimised, inline(always))]
pub fn put_states<T, V>(
    states: &impl StateSource<T>,
    members: Members<'_>,
    column: &[MaybeUninit<V>],
    part: impl Fn(&V) -> &T,
) {
    for (place, value) in members.places().zip(column) {
        // SAFETY: by the protocol of vector frames each of these lanes has a value, whose part is used once.
        states.put(place, unsafe { read_part(value, &part) });
    }
}

/// A part of a value.
///
/// # Safety
///
/// There is a value, and the part of it is read once.
#[cfg_attr(optimised, inline(always))]
unsafe fn read_part<V, T>(value: &MaybeUninit<V>, part: impl Fn(&V) -> &T) -> T {
    // SAFETY: the caller says so.
    unsafe { ptr::read(part(value.assume_init_ref())) }
}
