//! Places pushes before calls and pops behind them.
//!
//! A stack per variable, in caller-saves discipline (Radul et al. 2020, optimisation 1): right before a
//! call, each stacked variable that is live across it and that the callee may write is pushed; right
//! behind it, after the result has moved to its destination, the same variables are popped. In between
//! a variable lives in its column, which is the cached top of the stack (optimisation 4).
//!
//! Invariant: on every path the pushes and pops of an activation balance, and at a return or tail call
//! its stacks are as they were at its entry. What is popped is stored at the continuation, so calls
//! that share one save the same variables: the union (all of them are live across each of these calls,
//! by [`crate::passes::continuations`]). Pops are part of the return edge; other edges to the block pop nothing.
//!
//! Imprecision: no placement across several calls (a variable is popped and pushed again between two
//! calls in a row); [`crate::passes::pop_push`] cancels the pairs it can see.

use std::collections::BTreeMap;

use crate::analysis::call_graph::MayWrite;
use crate::analysis::liveness::Liveness;
use crate::ir::{BlockId, Class, Program, Terminator, VarId, VarSet};

/// Runs the pass.
pub fn run(program: &mut Program, liveness: &Liveness, may_write: &MayWrite) {
    let mut saves: BTreeMap<BlockId, VarSet> = BTreeMap::new();
    for (_, call) in program.call_sites() {
        let saved = (&liveness.across(call) & may_write.of(call.callee)).into_iter();
        let saved = saved.filter(|v| program.var(*v).class == Class::Stacked);
        saves.entry(call.cont).or_default().extend(saved);
    }
    let list = |vars: &VarSet| vars.iter().copied().collect::<Vec<VarId>>();
    for (cont, saved) in &saves {
        program.blocks[cont.0].pops = list(saved);
    }
    for block in &mut program.blocks {
        if let Terminator::Call(call) = &mut block.term {
            call.pushes = list(&saves[&call.cont]);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::testing::{FIB, analysed, names};
    use crate::ir::{Program, VarId};

    fn pushes(program: &Program) -> Vec<Vec<String>> {
        let set = |vars: &[VarId]| names(program, &vars.iter().copied().collect());
        program.call_sites().iter().map(|(_, call)| set(&call.pushes)).collect()
    }

    #[test]
    fn fib() {
        let (program, labels, _) = analysed(FIB);
        assert_eq!(pushes(&program), [["n"], ["left"]]);
        let pops = &program.block(labels["b3"]).pops;
        assert_eq!(names(&program, &pops.iter().copied().collect()), ["n"]);
    }

    #[test]
    fn calls_with_one_continuation_save_the_same() {
        // Only `f` writes `n`, but the continuation can't tell which callee comes back.
        let (program, labels, _) = analysed(
            "fn f(n: i64) -> i64 {
                b0: { let t = n - 1; branch (n > 0) b1 else b2; }
                b1: { call f(t) -> x, b3; }
                b2: { call g(n) -> x, b3; }
                b3: { let result = x + n; jump exit; }
            }
            fn g(a: i64) -> i64 { b0: { let result = a; jump exit; } }",
        );
        assert_eq!(pushes(&program), [["n"], ["n"]]);
        assert_eq!(program.block(labels["b3"]).pops.len(), 1);
    }
}
