//! The ways to run members: the program's code in each form that it has.

use crate::api::output::Out;
use crate::machine::Core;
use crate::native_stack::depth::Depth;
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
    /// The lanes of such a tile by default; 0 if the program can't be run that way.
    pub vector_lanes: usize,
    /// Whether the program-counter executor has code of its own for such a tile, which then runs as a wavefront.
    pub wavefront: bool,
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
