//! The ways to run a kernel.

use autobatch::{Isa, Options};
use rayon::ThreadPool;

use crate::ispc::Target;

/// A way to run a kernel.
#[derive(Clone, Debug)]
pub enum Variant<'p> {
    /// The scalar function in a loop.
    Scalar,
    /// The scalar function in rayon's parallel iterator.
    Rayon(&'p ThreadPool),
    /// `f_batched_with`.
    Batched(Options),
    /// The ISPC counterpart, on one thread or on chunks of the batch in a pool.
    Ispc(Target, Option<&'p ThreadPool>),
}

/// The instruction sets that batches can use on this CPU, the widest first.
pub fn isas() -> Vec<Isa> {
    match Isa::detect() {
        Isa::Avx512 => vec![Isa::Avx512, Isa::Avx2, Isa::Baseline],
        Isa::Avx2 => vec![Isa::Avx2, Isa::Baseline],
        only => vec![only],
    }
}

/// An instruction set's name in tables and on the command line.
pub fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::Avx512 => "avx512",
        Isa::Avx2 => "avx2",
        Isa::Neon => "neon",
        _ => "baseline",
    }
}
