//! Which bindings are in scope in the structured code of a region.

use std::collections::{BTreeMap, BTreeSet};

use crate::codegen::emitter::Emitter;
use crate::ir::flow::postorder;
use crate::ir::{BlockId, VarId};

/// Whether a variable that the region binds has its binding in scope where a block's code begins. Where paths meet,
/// only values that are needed there are handed on.
pub(crate) fn in_scope_at_start(
    emitter: &Emitter<'_>,
    block: BlockId,
    v: VarId,
    idom: &BTreeMap<BlockId, BlockId>,
    is_merge: &BTreeSet<BlockId>,
) -> bool {
    let program = emitter.program;
    let mut at = block;
    loop {
        let merge = is_merge.contains(&at);
        let arrives = program.block(at).arrives.contains(&v);
        if (merge && emitter.live_at(at).contains(&v)) || (!merge && arrives) {
            return true;
        }
        let above = idom[&at];
        if above == at {
            return false;
        }
        // The code behind a meeting stands beside that of the block above, not inside it.
        if !merge && program.block(above).declares().contains(&v) {
            return true;
        }
        at = above;
    }
}

pub(crate) fn reverse_postorder(head: BlockId, successors: impl Fn(BlockId) -> Vec<BlockId>) -> Vec<BlockId> {
    let mut order = postorder(head, |b| successors(b).into_iter().rev().collect());
    order.reverse();
    order
}

pub(crate) fn common(
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

/// Whether a variable that is live where paths meet keeps the binding it has in front of all of them. It must, if something borrows
/// it: handing its value on would move it.
pub(crate) fn stays(
    emitter: &Emitter<'_>,
    order: &[BlockId],
    merge: BlockId,
    v: VarId,
    idom: &BTreeMap<BlockId, BlockId>,
    is_merge: &BTreeSet<BlockId>,
) -> bool {
    let top = idom[&merge];
    let inside = |mut b: BlockId| {
        while b != top && idom[&b] != b {
            b = idom[&b];
        }
        b == top
    };
    let binds = |b: BlockId| {
        let block = emitter.program.block(b);
        block.declares().contains(&v) || (b != top && block.arrives.contains(&v))
    };
    in_scope_at_start(emitter, top, v, idom, is_merge) && !order.iter().any(|b| inside(*b) && binds(*b))
}
