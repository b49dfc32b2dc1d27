//! The recorder: which of some members are in which block, step by step.

use std::ops::Range;

use crate::api::trace::{STEPS, TraceStep, Visit};

/// What some members do, up to [`STEPS`] steps.
pub(super) struct Recorder {
    members: [Range<usize>; 2],
    /// Those in the step that begins.
    visits: Vec<Visit>,
    steps: Vec<TraceStep>,
}

impl Recorder {
    pub(super) fn new(members: [Range<usize>; 2]) -> Recorder {
        Recorder { members, visits: Vec::new(), steps: Vec::new() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.steps.len() == STEPS
    }

    /// A member is in the block of the step that begins.
    pub(super) fn visit(&mut self, member: usize, depth: usize) {
        if self.members.iter().any(|members| members.contains(&member)) {
            self.visits.push(Visit::new(member, depth));
        }
    }

    /// The step begins.
    pub(super) fn step(&mut self, block: u32, active: usize, lanes: usize) {
        let visits = std::mem::take(&mut self.visits);
        if !visits.is_empty() && !self.is_full() {
            self.steps.push(TraceStep::new(block as usize, visits, active, lanes));
        }
    }

    pub(super) fn into_steps(self) -> Vec<TraceStep> {
        self.steps
    }
}
