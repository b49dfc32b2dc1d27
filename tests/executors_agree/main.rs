//! Programs as people write them have the scalar function's results in every executor, schedule, lane count, instruction set and
//! thread count.

#[path = "../common/mod.rs"]
mod common;

mod numerical_functions;
mod random_programs;
mod several_functions;
mod textbook_numerics;
mod textbook_recursions;
mod tfp_programs;
