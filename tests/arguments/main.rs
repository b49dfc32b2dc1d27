//! Arguments and temporaries live as long as in the scalar code: a call may be given a borrow of anything.

#[path = "../common/mod.rs"]
mod common;

/// Functions of two numbers agree with their batches on pairs of numbers.
macro_rules! agree_on_pairs {
    ($inputs:ident, $($f:ident $batched:ident),*) => { $(crate::common::agree_at(
        &[0, 1, 67],
        &$inputs,
        |i| $f(i.0, i.1),
        |b, o| $batched(crate::common::column(b, |i| i.0), crate::common::column(b, |i| i.1), o),
    );)* };
}

mod array_views;
mod borrowed_locals;
mod borrowed_temporaries;
mod match_scrutinees;
mod operands_before_a_call;
mod swapped_references;
mod unknown_signatures;
