//! What the passes can be told, and what they found out.

use crate::analysis::call_graph::MayWrite;
use crate::analysis::liveness::Liveness;
use crate::ir::{VarId, VarSet};

/// What the passes can be told.
#[derive(Clone, Debug)]
pub struct PassOptions {
    /// Whether blocks are merged into regions; `false` keeps each block a step of its own.
    pub fuse: bool,
    /// Whether a pop followed by a push of the same variable becomes a read and an update in place.
    pub pop_push: bool,
    /// Whether what leads to a call is split from the entry region, where members may return at once, and from what
    /// is made of the results of others.
    pub split_entry: bool,
    /// Whether elementary functions are code that vectorises, not calls.
    pub vector_math: bool,
    /// How region heads are ordered.
    pub order: BlockOrder,
}

impl Default for PassOptions {
    fn default() -> Self {
        PassOptions {
            fuse: true,
            pop_push: true,
            split_entry: false,
            vector_math: false,
            order: BlockOrder::Shape,
        }
    }
}

/// What the passes found out, for the emission.
#[derive(Clone, Debug)]
pub struct Analyses {
    /// Variables whose value is needed at the start of each block.
    pub liveness: Liveness,
    /// Variables that running each function may write.
    pub may_write: MayWrite,
    /// Variables whose value lives in a column between regions.
    pub columns: VarSet,
}

impl Analyses {
    /// Whether the variable needs a column: every register and stacked variable, and what is handed
    /// over at a call although it never crosses from one region to the next (arguments, unread
    /// results, unread parameters).
    pub fn needs_column(&self, var: VarId) -> bool {
        self.columns.contains(&var)
    }
}

/// How region heads are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BlockOrder {
    /// As in the source.
    Source,
    /// Leaves and heavy regions last.
    #[default]
    Shape,
}
