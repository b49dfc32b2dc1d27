//! What users see in signatures: columns and outputs, options, outcome, faults, report, program.
//!
//! In: the user's arrays and options. Out: sources that hand out members ([`column::Source`]), a place for each result ([`output::Out`]), and the
//! outcome of a run.
//!
//! **Invariant:** each member's value is handed out at most once, and each member has at most one result. Within a thread that is checked;
//! that two threads never have the same member is the queue's part ([`crate::batch`]).

pub(crate) mod column;
pub(crate) mod drawing;
pub(crate) mod engine;
pub(crate) mod fault;
pub(crate) mod listing;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod output;
pub mod program;
pub(crate) mod report;
pub(crate) mod trace;
