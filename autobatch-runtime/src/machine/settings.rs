//! Settings: the user's options, resolved for one run of the machine.

use std::ops::Range;
use std::time::Duration;

use crate::api::options::Schedule;
use crate::simd::Isa;

/// Which algorithm runs the blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A stack of frames.
    Masked,
    /// One tile with stacks per lane.
    ProgramCounter,
}

/// Resolved options.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The algorithm.
    pub mode: Mode,
    /// For [`Mode::ProgramCounter`].
    pub schedule: Schedule,
    /// Members per tile.
    pub lanes: usize,
    /// A ceiling; the CPU may have less.
    pub isa: Isa,
    /// Nested calls per member.
    pub max_depth: usize,
    /// Block executions per member; `u64::MAX` for any number.
    pub max_steps: u64,
    /// Whether members are loaded while others are busy.
    pub refill: bool,
    /// Whether to count block executions.
    pub report: bool,
    /// The steps of a scheduler after which members that could go on have their turn, whoever else does not end; 0 for never.
    pub fair: u32,
    /// How long members may wait for others of their frame, each on average; they go on by program counters then.
    pub patience: Option<Duration>,
    /// The members whose blocks are recorded; that takes a report.
    pub trace: [Range<usize>; 2],
}
