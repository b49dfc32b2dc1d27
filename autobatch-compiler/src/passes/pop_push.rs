//! Cancels a pop that is followed by a push of the same variable.
//!
//! Between two calls in a row a saved variable is popped only to be pushed again. If a continuation
//! block heads a region that can be left by calls only, and each of these calls pushes the variable
//! again, the entry stays on the stack: the region reads the top ([`crate::ir::Block::reads`]), and the
//! calls *keep* it, or, if the region may have written it, *update* it in place (Radul et al. 2020,
//! optimisation 5; "pop-push fusion" in TensorFlow Probability).
//!
//! Invariant: while the region runs, the variable is in its column and, stale or not, on its stack. Only
//! calls lead to the region, since other edges bring no entry.
//!
//! What no code assigns may have changed all the same, as a `Cell` does. Only the runtime knows the type: unless it is a number's,
//! keeping is updating.
//!
//! Imprecision: one region at a time. A loop between two calls, or a way out that returns, keeps the
//! pair; which of several writes happens is not asked.

use std::collections::BTreeMap;

use crate::analysis::call_graph::written_by_code;
use crate::ir::flow::Flow;
use crate::ir::{BlockId, Program, Terminator, VarSet};

/// Runs the pass.
pub fn run(program: &mut Program) {
    let flow = Flow::compute(program);
    let mut reads: BTreeMap<BlockId, VarSet> = BTreeMap::new();
    let mut in_place: BTreeMap<BlockId, (VarSet, VarSet)> = BTreeMap::new();
    for head in &flow.continuations {
        let arrives = |b: &BlockId| program.block(*b).term.call().is_some_and(|call| call.cont == *head);
        let only_calls_arrive = flow.preds[head.0].iter().all(arrives);
        let Some(calls) = calls_only(program, &flow, *head).filter(|_| only_calls_arrive) else { continue };
        let pushes = |b: &BlockId| program.block(*b).term.call().map_or(&[][..], |call| &call.pushes);
        let again = program.block(*head).pops.iter().copied();
        let again: VarSet = again.filter(|v| calls.iter().all(|b| pushes(b).contains(v))).collect();
        let blocks = flow.blocks().filter(|b| program.block(*b).region == *head);
        let mut written = VarSet::new();
        blocks.for_each(|b| written.extend(written_by_code(program, b)));
        for b in calls {
            in_place.insert(b, (&again & &written, &again - &written));
        }
        reads.insert(*head, again);
    }
    for (head, vars) in reads {
        let block = &mut program.blocks[head.0];
        block.pops.retain(|v| !vars.contains(v));
        block.reads = vars.into_iter().collect();
    }
    for (b, (updates, keeps)) in in_place {
        if let Terminator::Call(call) = &mut program.blocks[b.0].term {
            call.pushes.retain(|v| !updates.contains(v) && !keeps.contains(v));
            call.updates = updates.into_iter().collect();
            call.keeps = keeps.into_iter().collect();
        }
    }
}

/// The blocks whose calls leave the region of `head`, if there is no other way out.
fn calls_only(program: &Program, flow: &Flow, head: BlockId) -> Option<Vec<BlockId>> {
    let mut calls = Vec::new();
    for b in flow.blocks().filter(|b| program.block(*b).region == head) {
        let block = program.block(b);
        match &block.term {
            Terminator::Call(_) => calls.push(b),
            Terminator::TailCall { .. } | Terminator::Return => return None,
            _ => {}
        }
        let mut inside =
            block.successors().into_iter().filter(|_| !matches!(block.term, Terminator::Call(_)));
        let exits = block.ops.iter().flat_map(|op| op.exits.iter().copied());
        if inside.any(|s| leaves(program, head, s)) || exits.into_iter().any(|s| leaves(program, head, s)) {
            return None;
        }
    }
    (!calls.is_empty()).then_some(calls)
}

fn leaves(program: &Program, head: BlockId, target: BlockId) -> bool {
    target == head || program.is_exit(target) || program.block(target).region != head
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::VarId;
    use crate::ir::testing::analysed;

    const THREE_CALLS: &str = "fn f(n: i64, mut m: i64) -> i64 {
        b0: { branch (n < 1) b1 else b2; }
        b1: { let result = m; jump exit; }
        b2: { let t1 = n - 1; call f(t1, m) -> a, b3; }
        b3: { m += a; let t2 = n - 2; call f(t2, m) -> b, b4; }
        b4: { let result = a + b + n + m; jump exit; }
    }";

    fn names(program: &Program, vars: &[VarId]) -> Vec<String> {
        crate::ir::testing::names(program, &vars.iter().copied().collect())
    }

    #[test]
    fn between_two_calls() {
        let (program, labels, _) = analysed(THREE_CALLS);
        let sites = program.call_sites();
        assert_eq!(names(&program, &sites[0].1.pushes), ["m", "n"]);
        let second = sites[1].1;
        assert_eq!(names(&program, &second.pushes), ["a"]);
        assert_eq!(names(&program, &second.keeps), ["n"]);
        assert_eq!(names(&program, &second.updates), ["m"]);
        let block = program.block(labels["b3"]);
        assert_eq!((names(&program, &block.reads), block.pops.len()), (vec!["m".into(), "n".into()], 0));
        assert_eq!(names(&program, &program.block(labels["b4"]).pops), ["a", "m", "n"]);
    }

    #[test]
    fn a_way_out_keeps_the_pair() {
        let source = THREE_CALLS.replace("let t2 =", "if a > 5 { let result = a; goto!(exit) } let t2 =");
        let (program, labels, _) = analysed(&source);
        assert!(program.block(labels["b3"]).reads.is_empty());
    }
}
