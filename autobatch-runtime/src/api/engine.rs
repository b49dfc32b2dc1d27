//! The engines that run members.

/// What runs the members of a batch: [`Report::engine`](crate::Report::engine).
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
