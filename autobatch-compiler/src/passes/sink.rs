//! Sinks what is made of the results of calls behind later calls that don't need it.
//!
//! `f(a) + f(b) + f(c)` adds the first two results before the third call. Behind it, the three calls follow one another, and
//! vector frames make them at once (`codegen/vector/task_blocks.rs`). Only for programs that only compute: there neither a call nor an
//! operation shows whether the other came first.
//!
//! Invariant: what is moved reads and defines immutable variables only, and whatever reads what it defines stays
//! behind it.

use crate::ir::flow::Flow;
use crate::ir::{BlockId, Call, Op, Program, VarId, VarSet};

/// Runs the pass.
pub fn run(program: &mut Program) {
    let flow = Flow::compute(program);
    for first in flow.blocks() {
        // The blocks that a call leads to and that call next.
        let mut between = Vec::new();
        let Some(mut call) = recursion(program, first) else { continue };
        let mut late = VarSet::new();
        let end = loop {
            late.insert(call.dest);
            let block = call.cont;
            if flow.preds[block.0].len() > 1 {
                break None;
            }
            match recursion(program, block) {
                Some(next) => call = next,
                None => break Some(block),
            }
            let Some(sunk) = sunk(program, block, call, &mut late) else { break None };
            between.push((block, sunk));
        };
        let Some(end) = end else { continue };
        let mut moved: Vec<Op> = Vec::new();
        for (block, sunk) in between {
            let ops = std::mem::take(&mut program.blocks[block.0].ops);
            for (nth, op) in ops.into_iter().enumerate() {
                if sunk.contains(&nth) { &mut moved } else { &mut program.blocks[block.0].ops }.push(op);
            }
        }
        program.blocks[end.0].ops.splice(0..0, moved);
    }
}

/// The call of its own function that a block ends in.
fn recursion(program: &Program, block: BlockId) -> Option<&Call> {
    program.block(block).term.call().filter(|call| call.callee == program.block(block).func)
}

/// The ops of a block that need what is `late`, and now make more so; `None` if they can't be moved behind its call.
fn sunk(program: &Program, block: BlockId, call: &Call, late: &mut VarSet) -> Option<Vec<usize>> {
    let fixed = |v: &VarId| !program.var(*v).mutable;
    let mut sunk = Vec::new();
    for (nth, op) in program.block(block).ops.iter().enumerate() {
        if op.uses.is_disjoint(late) && op.defs.is_disjoint(late) {
            continue;
        }
        let moves = op.exits.is_empty();
        if !moves || !op.uses.iter().chain(&op.defs).chain(&op.declares).all(fixed) {
            return None;
        }
        late.extend(op.defs.iter().chain(&op.declares));
        sunk.push(nth);
    }
    call.args.iter().all(|arg| !late.contains(arg)).then_some(sunk)
}

#[cfg(test)]
mod tests {
    use crate::ir::testing::parse;

    const ENTRY: &str = "b0: { branch (n < 3) b1 else b2; }
        b1: { let result = 1; jump exit; }
        b2: { let p = n - 1; call f(p) -> x, b3; }
        b3: { let q = n - 2; call f(q) -> y, b4; }";

    /// The ops of `b4` and `b5` behind the pass.
    fn ops(b4: &str, b5: &str) -> (usize, usize) {
        let text = format!("fn f(n: i64) -> i64 {{ {ENTRY} b4: {{ {b4} }} b5: {{ {b5} }} }}");
        let (mut program, labels) = parse(&text);
        super::run(&mut program);
        let count = |label| program.block(labels[label]).ops.len();
        (count("b4"), count("b5"))
    }

    #[test]
    fn sums_between_calls_go_behind_them() {
        let b5 = "let result = t + z; jump exit;";
        assert_eq!(ops("let t = x + y; let r = n - 3; call f(r) -> z, b5;", b5), (1, 2));
        // And what is made of them.
        assert_eq!(ops("let s = x + y; let r = n - 3; let t = s * n; call f(r) -> z, b5;", b5), (1, 3));
    }

    #[test]
    fn what_a_call_needs_stays() {
        let b5 = "let result = t + z; jump exit;";
        assert_eq!(ops("let t = x + y; let r = n - t; call f(r) -> z, b5;", b5), (2, 1));
        // What changes might be read too late.
        assert_eq!(ops("let mut t = x + y; let r = n - 3; call f(r) -> z, b5;", b5), (2, 1));
    }
}
