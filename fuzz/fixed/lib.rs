//! Holds the test of `tests/fixed_seed.rs` only.
