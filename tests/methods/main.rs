//! Methods are part of the program, whatever the receiver and however its type is known.

#[path = "../common/mod.rs"]
mod common;

mod excluded_functions;
mod method_resolution;
mod methods_of_a_module;
mod receivers_made_by_std;
mod trait_implementations;
