//! Empties blocks that control never reaches, and numbers call sites densely.
//!
//! Ids of blocks, functions and variables stay; an unreachable block becomes an empty one that ends
//! in [`Terminator::Unreachable`], so that no later pass sees code, calls or edges that can't happen.
//! Unreachability is that of the graph: a branch on `false` counts as reachable on both sides.

use crate::ir::flow::Flow;
use crate::ir::{CallId, Program, Terminator, VarSet};

/// Runs the pass.
pub fn run(program: &mut Program) {
    let flow = Flow::compute(program);
    let mut calls = 0;
    for b in program.block_ids() {
        let exit = program.is_exit(b);
        let reachable = flow.is_reachable(program, b);
        let block = &mut program.blocks[b.0];
        if !reachable && !exit {
            block.ops.clear();
            block.term = Terminator::Unreachable;
            block.arrives = VarSet::new();
        }
        if let Terminator::Call(call) = &mut block.term {
            call.id = CallId(calls);
            calls += 1;
        }
    }
    program.calls = calls;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::parse;

    #[test]
    fn unreachable_calls_are_gone_and_ids_dense() {
        let (mut program, labels) = parse(
            "fn f(n: i64) -> i64 {
                b0: { jump b2; }
                b1: { call f(n) -> x, exit; }
                b2: { call f(n) -> y, b3; }
                b3: { let result = y; jump exit; }
            }",
        );
        run(&mut program);
        assert_eq!(program.calls, 1);
        assert_eq!(program.call_sites()[0].1.id, CallId(0));
        assert!(matches!(program.block(labels["b1"]).term, Terminator::Unreachable));
    }
}
