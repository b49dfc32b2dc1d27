//! The order in which the executors prefer region heads.
//!
//! Any order is correct; which is good depends on the schedule. Earliest-block scheduling runs the
//! first block at which a member waits, so a block waits for members exactly as long as earlier blocks
//! have some. The base order keeps functions after their callers and, within a function, reverse
//! postorder, which is source order with loops before what follows them.
//!
//! [`BlockOrder::Shape`] then moves to the end, across all functions, what members should gather for:
//! first leaves (regions after which an activation returns without having called anything), then
//! heavy regions, then calls of primitives. For fib, whose base case stands first in the source, this is the difference between
//! 27 and 21 executions of the leaf on inputs 3, 7, 4, 5 (21 is the optimum).
//!
//! Invariant: [`Program::order`] holds every reachable region head of a reachable function once, and
//! no exit block.

use std::collections::BTreeSet;

use crate::analysis::call_graph::{CallGraph, called};
use crate::ir::flow::Flow;
use crate::ir::{BlockId, Program};
use crate::passes::fusion::is_heavy;
use crate::passes::options::BlockOrder;

/// Runs the pass.
pub fn run(program: &mut Program, order: BlockOrder) {
    let flow = Flow::compute(program);
    let components = CallGraph::compute(program).components(program.entry);
    let blocks = components.iter().flatten().flat_map(|f| flow.order[f.0].iter().copied());
    let mut heads: Vec<BlockId> = blocks.filter(|b| program.is_head(*b) && !program.is_exit(*b)).collect();
    if order == BlockOrder::Shape {
        let after_call = after_calls(program, &flow);
        // Stable: within a rank the base order stays.
        heads.sort_by_key(|head| rank(program, &flow, &after_call, *head));
    }
    program.order = heads;
}

fn rank(program: &Program, flow: &Flow, after_call: &BTreeSet<BlockId>, head: BlockId) -> u8 {
    let blocks: Vec<BlockId> = flow.blocks().filter(|b| program.block(*b).region == head).collect();
    let entry = program.func(program.block(head).func).entry;
    if program.block(head).primitive.is_some() {
        3
    } else if head != entry && blocks.iter().any(|b| is_heavy(program, *b)) {
        2
    } else if head != entry && !after_call.contains(&head) && only_returns(program, head, &blocks) {
        1
    } else {
        0
    }
}

/// Blocks that can run after a call of the same activation has returned.
fn after_calls(program: &Program, flow: &Flow) -> BTreeSet<BlockId> {
    let mut seen = flow.continuations.clone();
    let mut todo: Vec<BlockId> = seen.iter().copied().collect();
    while let Some(b) = todo.pop() {
        todo.extend(program.block(b).successors().into_iter().filter(|next| seen.insert(*next)));
    }
    seen
}

/// Whether every way out of the region is a return.
fn only_returns(program: &Program, head: BlockId, blocks: &[BlockId]) -> bool {
    let stays = |b: &BlockId| program.is_exit(*b) || (*b != head && program.block(*b).region == head);
    blocks.iter().all(|b| called(program, *b).is_none() && program.block(*b).successors().iter().all(stays))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{FIB, PEA_NUTS, parse};
    use crate::passes::options::PassOptions;

    fn order(source: &str, fuse: bool, order: BlockOrder) -> Vec<String> {
        let (mut program, labels) = parse(source);
        crate::passes::run(&mut program, &PassOptions { fuse, order, ..Default::default() });
        let label =
            |b: &BlockId| labels.iter().find(|(_, id)| *id == b).map(|(label, _)| label.clone()).unwrap();
        program.order.iter().map(label).collect()
    }

    #[test]
    fn leaves_go_last() {
        assert_eq!(order(FIB, false, BlockOrder::Source), ["b0", "b1", "b2", "b3", "b4"]);
        assert_eq!(order(FIB, false, BlockOrder::Shape), ["b0", "b2", "b3", "b4", "b1"]);
        assert_eq!(order(FIB, true, BlockOrder::Shape), ["b0", "b3", "b4"]);
    }

    #[test]
    fn heavy_regions_go_last() {
        assert_eq!(order(PEA_NUTS, true, BlockOrder::Shape).last().unwrap(), "leaf");
    }

    #[test]
    fn callees_follow_their_callers() {
        let source = "
            fn f(n: i64) -> i64 { f0: { call h(n) -> x, f1; } f1: { call g(x) -> y, f2; } f2: { let result = y; jump exit; } }
            fn h(n: i64) -> i64 { h0: { let result = n; jump exit; } }
            fn g(n: i64) -> i64 { g0: { call h(n) -> z, g1; } g1: { let result = z + 1; jump exit; } }";
        assert_eq!(order(source, true, BlockOrder::Source), ["f0", "f1", "f2", "g0", "g1", "h0"]);
    }
}
