//! Every kind of parameter has its column, and every type its values, to the bit.

#[path = "../common/mod.rs"]
mod common;

mod columns;
mod columns_of_copies;
mod generic_functions;
mod generic_numbers;
mod impl_trait_parameters;
mod integers_of_128_bits;
mod sequences_of_any_length;
mod types_that_may_be_sent;
mod values_of_any_type;
