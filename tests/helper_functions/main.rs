//! Helper functions outside the annotated item: whatever their shape, and whatever their names mean, the results are the scalar
//! function's.

#[path = "../common/mod.rs"]
mod common;

mod closures;
mod copies;
mod generics;
mod in_bodies;
mod loops_of_data;
mod names;
mod of_the_module_around;
mod recursion;
mod shapes;
mod structures;
