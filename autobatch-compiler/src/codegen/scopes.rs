//! Where the paths of a region meet, and which bindings are in scope there.
//!
//! ```text
//! let mut rows = …;                     // in front of all paths: in scope where they meet
//! let h = &mut rows.d[0];
//! let (mut sum,) = '__b4: {             // bound on the paths: handed on where they meet
//!     if … { let sum = …; break '__b4 (sum,) } else { … }
//! };
//! …                                     // block 4
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::codegen::emitter::Emitter;
use crate::ir::flow::postorder;
use crate::ir::{BlockId, VarId, VarSet};

/// The blocks of a region in which paths meet.
pub(crate) struct Meetings {
    /// All blocks of the region, in reverse postorder.
    pub(crate) order: Vec<BlockId>,
    /// The immediate dominator of each block.
    idom: BTreeMap<BlockId, BlockId>,
    /// Blocks where paths meet, by the block that dominates them, in reverse postorder.
    at: BTreeMap<BlockId, Vec<BlockId>>,
    all: BTreeSet<BlockId>,
    /// How many of a block's ops stand in front of the labelled blocks of its meetings.
    in_front: BTreeMap<BlockId, usize>,
}

impl Meetings {
    /// Of the region with this head. `inside` says which blocks belong to it.
    pub(crate) fn new(emitter: &Emitter<'_>, head: BlockId, inside: impl Fn(BlockId) -> bool) -> Meetings {
        let successors = |b: BlockId| -> Vec<BlockId> {
            emitter.program.block(b).successors().into_iter().filter(|s| inside(*s)).collect()
        };
        let mut order = postorder(head, |b| successors(b).into_iter().rev().collect());
        order.reverse();
        let position: BTreeMap<BlockId, usize> = order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let mut preds: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for b in &order {
            for s in successors(*b) {
                preds.entry(s).or_default().push(*b);
            }
        }
        // A region is acyclic, so one pass in reverse postorder finds the dominators.
        let mut idom: BTreeMap<BlockId, BlockId> = BTreeMap::from([(head, head)]);
        for b in order.iter().skip(1) {
            let mut preds = preds[b].iter().copied();
            let first = preds.next().expect("a block of the region is reached from it");
            let meet = preds.fold(first, |a, b| common(&idom, &position, a, b));
            idom.insert(*b, meet);
        }
        let all: BTreeSet<BlockId> =
            preds.iter().filter(|(_, preds)| preds.len() > 1).map(|(b, _)| *b).collect();
        let mut at: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for b in order.iter().filter(|b| all.contains(b)) {
            at.entry(idom[b]).or_default().push(*b);
        }
        let mut meetings = Meetings { order, idom, at, all, in_front: BTreeMap::new() };
        meetings.in_front = meetings
            .at
            .iter()
            .map(|(block, meet)| (*block, meetings.ops_in_front(emitter, *block, meet, &inside)))
            .collect();
        meetings
    }

    /// The blocks where paths meet that the block dominates.
    pub(crate) fn of(&self, block: BlockId) -> &[BlockId] {
        self.at.get(&block).map_or(&[], Vec::as_slice)
    }

    /// All blocks where paths meet.
    pub(crate) fn all(&self) -> &BTreeSet<BlockId> {
        &self.all
    }

    /// How many of the block's ops stand in front of the labelled blocks of its meetings.
    pub(crate) fn in_front(&self, block: BlockId) -> usize {
        self.in_front.get(&block).copied().unwrap_or(0)
    }

    /// All up to the last one that binds what is needed at a meeting and bound on no path to it. What jumps to a meeting stays
    /// behind.
    fn ops_in_front(
        &self,
        emitter: &Emitter<'_>,
        block: BlockId,
        meet: &[BlockId],
        inside: impl Fn(BlockId) -> bool,
    ) -> usize {
        let jumps = |exit: &BlockId| inside(*exit) && !(self.all.contains(exit) && self.idom[exit] != block);
        let ops = &emitter.program.block(block).ops;
        let ops = &ops[..ops.iter().position(|op| op.exits.iter().any(jumps)).unwrap_or(ops.len())];
        let needed: VarSet = meet.iter().flat_map(|meet| emitter.live_at(*meet)).collect();
        let stays = |v: &VarId| needed.contains(v) && !self.is_bound_below(emitter, block, *v);
        ops.iter().rposition(|op| op.declares.intersection(&op.defs).any(stays)).map_or(0, |last| last + 1)
    }

    /// Whether a block that this one dominates binds the variable.
    fn is_bound_below(&self, emitter: &Emitter<'_>, block: BlockId, v: VarId) -> bool {
        let binds = |b: &BlockId| {
            let block = emitter.program.block(*b);
            block.declares().contains(&v) || block.arrives.contains(&v)
        };
        self.order.iter().any(|b| *b != block && self.is_dominated(*b, block) && binds(b))
    }

    /// Whether some path from the head to one of these blocks does not run the block.
    pub(crate) fn may_be_passed_by(&self, block: BlockId, to: &[BlockId]) -> bool {
        !to.iter().all(|to| self.is_dominated(*to, block))
    }

    fn is_dominated(&self, mut block: BlockId, by: BlockId) -> bool {
        while block != by && self.idom[&block] != block {
            block = self.idom[&block];
        }
        block == by
    }

    /// Whether a variable that the region binds has its binding in scope where a block's code begins. Where paths meet,
    /// only values that are needed there are handed on.
    pub(crate) fn is_in_scope(&self, emitter: &Emitter<'_>, block: BlockId, v: VarId) -> bool {
        let mut at = block;
        loop {
            let (meeting, code) = (self.all.contains(&at), emitter.program.block(at));
            if (meeting && emitter.live_at(at).contains(&v)) || (!meeting && code.arrives.contains(&v)) {
                return true;
            }
            let above = self.idom[&at];
            if above == at {
                return false;
            }
            // The code behind a meeting stands beside what follows the ops in front, not inside it.
            let bound = match meeting {
                true => self.binds_in_front(emitter, above, v),
                false => emitter.program.block(above).declares().contains(&v),
            };
            if bound {
                return true;
            }
            at = above;
        }
    }

    fn binds_in_front(&self, emitter: &Emitter<'_>, block: BlockId, v: VarId) -> bool {
        let ops = &emitter.program.block(block).ops[..self.in_front(block)];
        ops.iter().any(|op| op.declares.contains(&v))
    }

    /// Whether a variable that is live where paths meet keeps the binding it has in front of all of them. It must, if something
    /// borrows it: handing its value on would move it.
    pub(crate) fn stays(&self, emitter: &Emitter<'_>, meeting: BlockId, v: VarId) -> bool {
        let top = self.idom[&meeting];
        let block = emitter.program.block(top);
        let behind = &block.ops[self.in_front(top)..];
        let rebound = block.binds().contains(&v) || behind.iter().any(|op| op.declares.contains(&v));
        let in_scope = self.binds_in_front(emitter, top, v) || self.is_in_scope(emitter, top, v);
        in_scope && !rebound && !self.is_bound_below(emitter, top, v)
    }
}

fn common(
    idom: &BTreeMap<BlockId, BlockId>,
    position: &BTreeMap<BlockId, usize>,
    mut a: BlockId,
    mut b: BlockId,
) -> BlockId {
    while a != b {
        if position[&a] > position[&b] {
            a = idom[&a];
        } else {
            b = idom[&b];
        }
    }
    a
}
