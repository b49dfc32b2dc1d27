//! Guards against a miscompilation: an integer division that stands under a condition, and whose operands LLVM 22 takes for the same in all
//! lanes, is wrong once LLVM makes vectors of the loop around it.
//!
//! **Invariant:** results don't depend on these functions; without them they do, by that bug.

use std::any::TypeId;
use std::hint::black_box;

use crate::probes::type_id::id;

/// A divisor, or an index, that LLVM may take for the same in all lanes: it must not make vectors around an integer division by it, because those of
/// LLVM 22 are wrong where some lanes do not divide.
#[cfg_attr(optimised, inline(always))]
pub fn same_for_all<T>(number: T) -> T {
    let is = |ids: [TypeId; 2]| ids.contains(&id::<T>());
    let float = is([TypeId::of::<f32>(), TypeId::of::<f64>()])
        || is([TypeId::of::<&'static f32>(), TypeId::of::<&'static f64>()]);
    if float { number } else { black_box(number) }
}

/// A reference to something that another function may index by such a division, if it is a slice.
#[cfg_attr(optimised, inline(always))]
pub fn same_slice_for_all<T>(shared: T) -> T {
    if size_of::<T>() > size_of::<usize>() { black_box(shared) } else { shared }
}
