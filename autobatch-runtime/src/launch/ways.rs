//! The ways to run members: the program's code in each form that it has.

use std::ops::Range;

use crate::api::output::Out;
use crate::batch::{Numbering, Running};
use crate::machine::Core;
use crate::native_stack::depth::Depth;
use crate::simd::Isa;
use crate::storage::Store;
use crate::vector::Tile;

/// The ways to run members. For generated code only.
#[doc(hidden)]
pub struct Ways<S, C, T, N> {
    /// Runs the user's function, or its clone, for one member.
    pub scalar: S,
    /// The same with code that looks at the limits of the run now and then; not for what has vector code.
    pub counted: Option<C>,
    /// Whether that makes the steps that blocks make.
    pub steps: bool,
    /// Enters the generated body with a worker's core and store; may unwind.
    pub machine: T,
    /// Runs a tile in vector frames; may unwind.
    pub vector: N,
    /// The lanes of such a tile by default; 0 if the program does more than compute.
    pub vector_lanes: usize,
    /// What vectors there is code for.
    pub vectors: Vectors,
    /// Whether the program-counter executor has code of its own for such a tile, which then runs as a wavefront.
    pub wavefront: bool,
    /// Whether such a tile runs in task blocks otherwise.
    pub task_blocks: bool,
    /// Whether members have states. They run once only.
    pub states: bool,
}

/// The vectors that a program's vector code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// None: it has too many variables.
    None,
    /// All but the short ones of SSE2 and WebAssembly.
    Long,
    /// All.
    All,
}

impl Vectors {
    /// Whether there is code for an instruction set.
    pub(super) fn has(self, isa: Isa) -> bool {
        match self {
            Vectors::None => false,
            Vectors::Long => !is_short(isa),
            // WebAssembly may have none.
            Vectors::All => cfg!(any(not(target_family = "wasm"), target_feature = "simd128")),
        }
    }
}

/// Whether its vectors are too short for some programs: those of SSE2, and of WebAssembly.
pub(super) fn is_short(isa: Isa) -> bool {
    cfg!(any(target_arch = "x86_64", target_family = "wasm")) && isa == Isa::Baseline
}

/// The code that runs one member.
pub(crate) trait ScalarCode<R>: Fn(usize, Depth) -> R + Sync {}

impl<R, F: Fn(usize, Depth) -> R + Sync> ScalarCode<R> for F {}

/// The machine's code.
pub(crate) trait MachineCode<R>: Fn(&mut Core<'_>, &Store, &Out<'_, R>) + Sync {}

impl<R, F: Fn(&mut Core<'_>, &Store, &Out<'_, R>) + Sync> MachineCode<R> for F {}

/// The code of vector frames.
pub(crate) trait VectorCode<R>: Fn(&mut Tile<'_>, &Out<'_, R>) + Sync {}

impl<R, F: Fn(&mut Tile<'_>, &Out<'_, R>) + Sync> VectorCode<R> for F {}

/// The ways to run members and the place of their results, whose types launching need not know: it is compiled once.
pub(super) trait Code: Sync {
    /// As in [`Ways`].
    fn vector_lanes(&self) -> usize;
    /// As in [`Ways`].
    fn vectors(&self) -> Vectors;
    /// As in [`Ways`].
    fn is_wavefront(&self) -> bool;
    /// As in [`Ways`].
    fn has_task_blocks(&self) -> bool;
    /// As in [`Ways`].
    fn has_states(&self) -> bool;
    /// Runs a member as scalar code.
    fn scalar(&self, member: usize, depth: Depth);
    /// The same for each of `members`, as [`Out::fill`] does.
    fn scalars(&self, members: &mut Range<usize>, depth: Depth);
    /// Whether there is scalar code that looks at the limits.
    fn counts(&self) -> bool;
    /// Whether that counts steps too.
    fn counts_steps(&self) -> bool;
    /// Runs members as such, one after the other, until there are no more or one needs to be looked at.
    fn counted(&self, members: &Running<'_>, depth: Depth);
    /// Enters the body of the machine.
    fn machine(&self, core: &mut Core<'_>, store: &Store);
    /// Runs a tile on vectors.
    fn vector(&self, tile: &mut Tile<'_>);
    /// Whether the member has a result.
    fn is_set(&self, member: usize) -> bool;
}

/// The code of a program, where its results go, and where its members stand.
pub(super) struct Bound<'a, 'o, S, C, T, N, R> {
    pub(super) ways: &'a Ways<S, C, T, N>,
    pub(super) out: &'a Out<'o, R>,
    pub(super) numbering: Numbering<'a>,
}

impl<R: Send, S: ScalarCode<R>, C: ScalarCode<R>, T: MachineCode<R>, N: VectorCode<R>> Code
    for Bound<'_, '_, S, C, T, N, R>
{
    fn vector_lanes(&self) -> usize {
        self.ways.vector_lanes
    }
    fn vectors(&self) -> Vectors {
        self.ways.vectors
    }
    fn is_wavefront(&self) -> bool {
        self.ways.wavefront
    }
    fn has_task_blocks(&self) -> bool {
        self.ways.task_blocks
    }
    fn has_states(&self) -> bool {
        self.ways.states
    }
    fn scalar(&self, member: usize, depth: Depth) {
        let place = self.numbering.place(member);
        self.out.set(place, (self.ways.scalar)(place, depth));
    }
    fn scalars(&self, members: &mut Range<usize>, depth: Depth) {
        if self.numbering.is_whole() {
            return self.out.fill(members, |member| (self.ways.scalar)(member, depth));
        }
        while members.start < members.end {
            self.scalar(members.start, depth);
            members.start += 1;
        }
    }
    fn counts(&self) -> bool {
        self.ways.counted.is_some()
    }
    fn counts_steps(&self) -> bool {
        self.counts() && self.ways.steps
    }
    fn counted(&self, members: &Running<'_>, depth: Depth) {
        let Some(counted) = &self.ways.counted else { return };
        while let Some(member) = members.begin() {
            let place = self.numbering.place(member);
            self.out.set(place, counted(place, depth));
            if members.is_over() {
                return;
            }
        }
    }
    fn machine(&self, core: &mut Core<'_>, store: &Store) {
        // Results that come by themselves have room before any member runs.
        self.out.flags();
        (self.ways.machine)(core, store, self.out);
    }
    fn vector(&self, tile: &mut Tile<'_>) {
        (self.ways.vector)(tile, self.out);
    }
    fn is_set(&self, member: usize) -> bool {
        self.out.is_set(self.numbering.place(member))
    }
}
