//! What the compiler writes in place of std's constructs that a block can't hold whole: `?`, loops over ranges, ends of iterator chains.
//!
//! In: the values that the user's construct works on. Out: the same steps, one at a time, as the standard library takes them.
//!
//! **Invariant:** a construct and its steps yield the same bits and call the user's code in the same order; types for which that is not
//! known keep the construct.

pub(crate) mod accumulators;
pub(crate) mod question_mark;
pub(crate) mod ranges;
pub(crate) mod totals;
