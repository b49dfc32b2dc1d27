//! The instruction sets that generated code is compiled for, on x86-64; the runtime detects and dispatches (`simd/` there).

use quote::format_ident;
use syn::Ident;

/// Their names, with the features that the instances for each are compiled with.
pub(crate) const VARIANTS: [(&str, &str); 3] = [
    ("", ""),
    ("avx2", "avx2,fma,bmi1,bmi2,lzcnt,popcnt"),
    ("avx512", "avx512f,avx512vl,avx512dq,avx512bw,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt"),
];

/// `name`, `name_avx2`, …
pub(crate) fn instances(name: &Ident) -> [Ident; 3] {
    VARIANTS.map(|(isa, _)| match isa {
        "" => name.clone(),
        isa => format_ident!("{name}_{isa}"),
    })
}

/// How a program runs, as far as the code of its regions depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine<'i> {
    /// Any program.
    Machine,
    /// A pure one, on this instruction set: nothing that stays where it is needs to be put back.
    Vector(&'i str),
}

impl Engine<'_> {
    /// Whether the instruction set has products that are fused with sums.
    pub(crate) fn fuses(self) -> bool {
        matches!(self, Engine::Vector("avx2" | "avx512"))
    }
}
