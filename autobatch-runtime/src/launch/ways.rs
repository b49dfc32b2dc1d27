//! The ways to run members: the program's code in each form that it has.

use crate::api::output::Out;
use crate::machine::Core;
use crate::native_stack::depth::Depth;
use crate::simd::Isa;
use crate::storage::Store;
use crate::vector::Tile;

/// The ways to run members. For generated code only.
#[doc(hidden)]
pub struct Ways<S, T, N> {
    /// Runs the user's function, or its clone, for one member.
    pub scalar: S,
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
}

/// The vectors that a program's vector code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// None: it has too many variables.
    None,
    /// All but those of SSE2, which are too short for it.
    Long,
    /// All.
    All,
}

impl Vectors {
    /// Whether there is code for an instruction set.
    pub(super) fn has(self, isa: Isa) -> bool {
        match self {
            Vectors::None => false,
            Vectors::Long => !is_sse2(isa),
            Vectors::All => true,
        }
    }
}

/// Whether it is that of every x86-64 CPU.
pub(super) fn is_sse2(isa: Isa) -> bool {
    cfg!(target_arch = "x86_64") && isa == Isa::Baseline
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
