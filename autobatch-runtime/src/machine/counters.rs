//! Counters: what a worker leaves behind, for the outcome and the report.

use crate::api::fault::FaultList;
use crate::api::trace::TraceStep;

/// How often a block was executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockCount {
    /// Executions with at least one active lane.
    pub executions: u64,
    /// Active lanes, summed.
    pub active: u64,
    /// Lanes of the tile or frame, summed.
    pub offered: u64,
}

/// What a worker leaves behind.
#[derive(Debug)]
pub struct Finished {
    /// Members without a result, in the order they failed.
    pub(crate) faults: FaultList,
    /// Members that have begun.
    pub members: usize,
    /// Whether blocks were counted.
    pub counts: bool,
    /// By block; all 0 without a report.
    pub blocks: Vec<BlockCount>,
    /// By block: the largest number of executions of any member; all 0 without a report.
    pub largest: Vec<u64>,
    /// The depth reached.
    pub depth: usize,
    /// Block steps.
    pub steps: u64,
    /// Members loaded after the first load.
    pub refills: u64,
    /// How often lanes moved together.
    pub compactions: u64,
    /// The steps of members that are recorded, the first ones.
    pub trace: Vec<TraceStep>,
}
