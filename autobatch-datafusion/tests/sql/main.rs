//! Batched functions in queries.

mod faults;
mod forms;
mod queries;
mod tables;
mod types;
