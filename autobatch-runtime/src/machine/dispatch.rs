//! Entering the instance of a generated body for the instruction set in use.
//!
//! **Invariant:** an instance is entered only where the CPU has its features: the level of the core is a proof of that, and the compiler
//! makes the instances with exactly the features that [`super`] lists.

use super::core::Core;
#[cfg(target_arch = "x86_64")]
use crate::simd::Isa;
use crate::storage::Store;

/// Runs what no instruction set speeds up: the instances of a body share its code.
#[inline(never)]
pub fn out_of_line(code: impl FnOnce()) {
    code();
}

impl<'r> Core<'r> {
    /// Enters the instance of a generated body for the instruction set in use. `avx2` and `avx512`
    /// require exactly the features that the module `machine` lists.
    #[cfg(target_arch = "x86_64")]
    pub fn dispatch<A>(
        &mut self,
        store: &Store,
        args: A,
        base: fn(&mut Core<'r>, &Store, A),
        avx2: unsafe fn(&mut Core<'r>, &Store, A),
        avx512: unsafe fn(&mut Core<'r>, &Store, A),
    ) {
        match self.level().isa() {
            // SAFETY: a `Level` exists only for what the CPU has, and it covers the features that
            // the two instances are compiled with.
            Isa::Avx512 => unsafe { avx512(self, store, args) },
            // SAFETY: as above.
            Isa::Avx2 => unsafe { avx2(self, store, args) },
            _ => base(self, store, args),
        }
    }

    /// Enters a generated body.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn dispatch<A>(&mut self, store: &Store, args: A, base: fn(&mut Core<'r>, &Store, A)) {
        base(self, store, args)
    }
}
