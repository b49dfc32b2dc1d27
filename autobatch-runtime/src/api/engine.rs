//! The engines that run members.

use std::fmt;

/// What runs the members of a batch: [`Report::engine`](crate::Report::engine).
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Scalar code, one member after the other.
    Scalar,
    /// Scalar code on fibers, which meet at primitives.
    Fibers,
    /// The machine: block by block, masked or by program counters.
    Machine,
    /// Vector code, a frame for each call.
    VectorFrames,
    /// Vector code for calls that don't need each other's results: task blocks and gangs.
    TaskBlocks,
    /// Vector code, a queue for each program point.
    Wavefront,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Scalar => "scalar code",
            Engine::Fibers => "fibers",
            Engine::Machine => "the machine",
            Engine::VectorFrames => "vector frames",
            Engine::TaskBlocks => "task blocks",
            Engine::Wavefront => "wavefront",
        })
    }
}
