//! Splits the code that leads to a call from the entry region of a recursive function.
//!
//! In vector frames the entry region runs in the caller's lanes, many of which often return from it; what
//! leads to a call is better computed in the dense frame of those that go on, as long as that does not make
//! more variables cross: for functions of at most `FEW` parameters with a value per member, and where the next
//! call follows at once, so that both may be made together (`codegen/vector/task_blocks.rs`).
//!
//! The result names the blocks that shall head regions of their own; the lowering has cut blocks behind early
//! exits (`LowerOptions::split_entry`).

use std::collections::BTreeSet;

use crate::ir::flow::Flow;
use crate::ir::{BlockId, Program, VarId};

/// With so many parameters the arguments of a call are no more than what they are computed from.
const FEW: usize = 2;

/// Runs the pass; classes of parameters are settled.
pub fn run(program: &Program) -> BTreeSet<BlockId> {
    let flow = Flow::compute(program);
    let mut apart = BTreeSet::new();
    for b in flow.blocks() {
        let (block, function) = (program.block(b), program.func(program.block(b).func));
        let per_member = |v: &&VarId| !program.var(**v).is_uniform();
        let few = function.params.iter().filter(per_member).count() <= FEW;
        let call = |b: BlockId| program.block(b).term.call();
        let recurs = |b: BlockId| call(b).filter(|call| call.callee == block.func).map(|call| call.cont);
        let makes_two = recurs(b).and_then(recurs).is_some();
        if (few || makes_two) && function.recursive && call(b).is_some() && b != function.entry {
            apart.insert(b);
        }
    }
    apart
}
