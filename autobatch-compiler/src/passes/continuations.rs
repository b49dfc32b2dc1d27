//! Gives a call a continuation block of its own where sharing one would be wrong.
//!
//! The lowering drops empty blocks, so several calls, or a call and a jump, may meet at one block. That
//! is welcome (one step less) as long as what the call leaves behind fits what the block expects:
//!
//! Invariant: a call's continuation is entered by other edges only if they define the call's result
//! too, that is, if the result is live there, or all of them are calls with the same destination. Calls
//! that share a continuation have the same destination, so the same variables are live across them.
//! Otherwise the call gets an empty block that jumps on. Caller-saves relies on it: what is popped is
//! a property of the continuation.

use std::collections::BTreeSet;

use crate::analysis::definedness::Definedness;
use crate::analysis::liveness::Liveness;
use crate::ir::flow::Flow;
use crate::ir::{Block, BlockId, Program, Terminator, VarId};

/// Runs the pass.
pub fn run(program: &mut Program) {
    let flow = Flow::compute(program);
    let definedness = Definedness::compute(program);
    let liveness = Liveness::compute(program, &definedness);
    let blocks: Vec<BlockId> = flow.blocks().collect();
    let dest = |program: &Program, b: BlockId| program.block(b).term.call().map(|call| call.dest);
    for cont in &flow.continuations {
        let continues = |b: &BlockId| program.block(*b).term.call().is_some_and(|call| call.cont == *cont);
        let calls: Vec<BlockId> = blocks.iter().copied().filter(continues).collect();
        let dests: BTreeSet<VarId> = calls.iter().filter_map(|b| dest(program, *b)).collect();
        let mixed = flow.preds[cont.0].len() > calls.len() || program.is_exit(*cont);
        let live = &liveness.live_in[cont.0];
        let keep =
            if mixed || dests.len() > 1 { dests.iter().find(|d| live.contains(d)) } else { dests.first() };
        let keep = keep.copied();
        for b in calls {
            if dest(program, b) != keep {
                split(program, b, *cont);
            }
        }
    }
}

fn split(program: &mut Program, b: BlockId, cont: BlockId) {
    let Block { func, span, .. } = *program.block(b);
    let id = program.add_block(func, vec![], Terminator::Jump(cont), span, "after call");
    if let Terminator::Call(call) = &mut program.blocks[b.0].term {
        call.cont = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::parse;

    fn added(source: &str) -> usize {
        let (mut program, _) = parse(source);
        let before = program.blocks.len();
        run(&mut program);
        program.blocks.len() - before
    }

    #[test]
    fn one_destination_may_share() {
        let source = "fn f(n: i64) -> i64 {
            b0: { branch (n > 0) b1 else b2; }
            b1: { call f(n) -> x, b4; }
            b2: { branch (n < -5) b3 else b5; }
            b3: { call f(n) -> x, b4; }
            b5: { let x = 0; jump b4; }
            b4: { let result = x; jump exit; }
        }";
        assert_eq!(added(source), 0);
    }

    #[test]
    fn an_unread_result_meets_no_jump() {
        let source = "fn f(n: i64) -> i64 {
            b0: { branch (n > 0) b1 else b2; }
            b1: { call f(n) -> x, b2; }
            b2: { let result = n; jump exit; }
        }";
        assert_eq!(added(source), 1);
    }

    #[test]
    fn different_destinations_part() {
        let source = "fn f(n: i64) -> i64 {
            b0: { let mut x = 0; let mut y = 0; branch (n > 0) b1 else b2; }
            b1: { call f(n) -> x, b4; }
            b2: { call f(n) -> y, b4; }
            b4: { let result = x + y; jump exit; }
        }";
        assert_eq!(added(source), 1);
    }
}
