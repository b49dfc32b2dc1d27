//! Types and methods, as far as they follow from what is written.
//!
//! In: functions with unique names, and the declarations of the file. Out: a [`resolution::Resolution`], which has a type for each
//! variable whose type is known, and an answer for each call whose function is in doubt; and calls by path in the place of method calls.
//!
//! **Invariant:** a method that is taken for the program's is checked by rustc, on the same types.

pub mod candidates;
pub mod float_structures;
pub mod infer;
pub mod method_calls;
pub mod method_checks;
pub mod method_paths;
pub mod resolution;
pub mod std_results;
pub mod types;
pub(crate) mod variables;
