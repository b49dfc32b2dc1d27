//! Lane interchange: loops that run equally often in every lane run once for the strip, the lanes innermost. For generated code only.
//!
//! In: a strip of the columns, and which lanes are active. Out: the results of the active lanes.
//!
//! Each straight piece of such a loop's body is a loop over the lanes, which LLVM turns into vector instructions. Locals that live from
//! one piece to the next are *strips*, arrays with one slot per lane; arrays are transposed, so that an
//! element is a strip.
//!
//! No lane is masked out: a lane that has no member at the block computes on copies of one that has
//! ([`spread`]), and only the results of lanes that are there go back ([`merge`]). That is invisible,
//! because every value is of a *plain* type ([`plain`]): a primitive number, `bool` or `char`, whose
//! operators have no effects; and a panic sends the whole strip to the ordinary lane code (see
//! `Core::begin_interchange`), the columns being untouched until the end.
//!
//! **Invariant:** a strip is read as values only after it was filled, and values are of a plain type. The compiler upholds the first;
//! generated code contains no `unsafe`, so these functions are safe to call. The second is asserted where values are copied.

mod divisor;
mod halves;
mod loaded;
mod remaining;
mod returns;
mod rounds;
mod rows;
mod strips;

pub use divisor::{Divisor, QUICK};
pub use halves::Halves;
pub(crate) use loaded::Loaded;
pub use loaded::loaded;
pub use remaining::{Remaining, are_few, each};
pub use returns::{held, merge_returned, needs_no_drop, returns};
pub use rounds::{Rounds, endless, rounds, steps};
pub use rows::{
    Of, One, copy_rows, copy_rows_where, fill_rows, fill_rows_where, in_rows, merge_rows, of_element,
    of_type, plain_array, rows, spread_rows, swap_rows_where,
};
pub use strips::{
    ActiveLanes, get, get_vector, merge, merge_vector, plain, plain_elements, plain_value, plain_vector, set,
    set_all, set_chosen, set_vector, spread, spread_lists, spread_vector, strip, vector,
};
