//! Optimised code is vector code, and right.

mod miscompilations;
mod vector_instructions;
