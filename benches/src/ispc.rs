//! The ISPC counterparts, linked if the build found a compiler (the environment variable `ISPC`).

use autobatch::Isa;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::value::Value;

/// An instruction set that the ISPC kernels were compiled for; there is none without a compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// `avx512skx-x16`.
    #[cfg(ispc)]
    Avx512,
    /// `avx2-i32x8`.
    #[cfg(ispc)]
    Avx2,
    /// `sse4-i32x4`.
    #[cfg(ispc)]
    Sse4,
}

impl Target {
    /// The targets that this CPU can run, the widest first.
    pub fn available() -> Vec<Target> {
        #[cfg(ispc)]
        {
            let mut targets = Vec::new();
            if is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                targets.push(Target::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                targets.push(Target::Avx2);
            }
            if is_x86_feature_detected!("sse4.2") {
                targets.push(Target::Sse4);
            }
            targets
        }
        #[cfg(not(ispc))]
        Vec::new()
    }

    /// The instruction set of a batch that this target is held against.
    pub fn isa(self) -> Isa {
        match self {
            #[cfg(ispc)]
            Target::Avx512 => Isa::Avx512,
            #[cfg(ispc)]
            Target::Avx2 => Isa::Avx2,
            #[cfg(ispc)]
            Target::Sse4 => Isa::Baseline,
        }
    }
}

/// The results of all members: on this thread, or on those of a pool in pieces. `peer` is given the first member of a piece, and a place for
/// each result.
pub fn results<V: Value>(
    members: usize,
    pool: Option<&ThreadPool>,
    peer: impl Fn(usize, &mut [V]) + Sync,
) -> Vec<V> {
    let mut out = vec![V::default(); members];
    let Some(pool) = pool else {
        peer(0, &mut out);
        return out;
    };
    // Enough pieces for threads to share uneven work, each a multiple of any vector's length.
    let piece = (members / (8 * pool.current_num_threads())).next_multiple_of(64).max(64);
    pool.install(|| out.par_chunks_mut(piece).enumerate().for_each(|(i, out)| peer(i * piece, out)));
    out
}

/// Declares an exported function of `ispc/` as a safe function of its name that takes the target,
/// the first member, the columns, the results, and what all members share.
#[macro_export]
macro_rules! counterpart {
    (
        fn $name:ident(
            columns($($column:ident: $element:ty),*)
            $(, shared($($slice:ident: $item:ty),*))?
            $(, uniform($($uniform:ident: $type:ty),*))?
        ) -> $result:ty
    ) => {
        #[allow(clippy::too_many_arguments)] // as many as the kernel has
        fn $name(
            target: $crate::ispc::Target,
            first: usize,
            $($column: &[$element],)*
            out: &mut [$result],
            $($($slice: &[$item],)*)?
            $($($uniform: $type,)*)?
        ) {
            type Instance = unsafe extern "C" fn(
                $(*const $element,)* *mut $result, i32 $($(, *const $item)*)? $($(, $type)*)?
            );
            fn instance(target: $crate::ispc::Target) -> Instance {
                #[cfg(ispc)]
                unsafe extern "C" {
                    #[link_name = concat!(stringify!($name), "_avx512")]
                    fn avx512(
                        $($column: *const $element,)* out: *mut $result, n: i32
                        $($(, $slice: *const $item)*)? $($(, $uniform: $type)*)?
                    );
                    #[link_name = concat!(stringify!($name), "_avx2")]
                    fn avx2(
                        $($column: *const $element,)* out: *mut $result, n: i32
                        $($(, $slice: *const $item)*)? $($(, $uniform: $type)*)?
                    );
                    #[link_name = concat!(stringify!($name), "_sse4")]
                    fn sse4(
                        $($column: *const $element,)* out: *mut $result, n: i32
                        $($(, $slice: *const $item)*)? $($(, $uniform: $type)*)?
                    );
                }
                match target {
                    #[cfg(ispc)]
                    $crate::ispc::Target::Avx512 => avx512,
                    #[cfg(ispc)]
                    $crate::ispc::Target::Avx2 => avx2,
                    #[cfg(ispc)]
                    $crate::ispc::Target::Sse4 => sse4,
                }
            }
            $(let $column = &$column[first..][..out.len()];)*
            let n = i32::try_from(out.len()).expect("ISPC counts members in 32 bits");
            // SAFETY: a `Target` exists only for what the CPU has; the columns have the length of the
            // results; shared slices are indexed as the scalar function does, which is checked in Rust.
            unsafe {
                instance(target)($($column.as_ptr(),)* out.as_mut_ptr(), n $($(, $slice.as_ptr())*)? $($(, $uniform)*)?)
            }
        }
    };
}
pub use counterpart;
