//! Locals computed from shared values are computed again instead of being kept.
//!
//! `let n = model.len();` or `let half = tol / 2.0;` is the same for every member. Each region that needs
//! such a local starts with a copy of its `let`, so that it lives in no column and on no stack, and LLVM
//! sees that it is the same in all lanes. ("Rematerialisation", Briggs, Cooper, Torczon, PLDI 1992.)

use std::collections::BTreeMap;

use crate::analysis::definedness::Definedness;
use crate::analysis::liveness::Liveness;
use crate::analysis::shared_values::derived;
use crate::ir::{Op, Program, VarId, VarSet};

/// Runs the pass; regions are settled, and classes of parameters.
pub fn run(program: &mut Program) {
    let uniform = |v: VarId| program.var(v).is_uniform();
    let derived: BTreeMap<VarId, Op> =
        program.func_ids().flat_map(|f| derived(program, f, uniform)).collect();
    if derived.is_empty() {
        return;
    }
    let liveness = Liveness::compute(program, &Definedness::compute(program));
    for b in program.block_ids().filter(|b| program.is_head(*b)).collect::<Vec<_>>() {
        let mut needed: VarSet =
            liveness.live_in[b.0].iter().filter(|v| derived.contains_key(v)).copied().collect();
        let mut todo: Vec<VarId> = needed.iter().copied().collect();
        while let Some(v) = todo.pop() {
            todo.extend(derived[&v].uses.iter().filter(|v| derived.contains_key(v) && needed.insert(**v)));
        }
        // Bindings are numbered by name, not by position: definitions before uses.
        let mut ops: Vec<(usize, Op)> =
            needed.iter().map(|v| (depth(&derived, *v), derived[v].clone())).collect();
        ops.sort_by_key(|(depth, _)| *depth);
        program.blocks[b.0].ops.splice(0..0, ops.into_iter().map(|(_, op)| op));
    }
}

fn depth(derived: &BTreeMap<VarId, Op>, v: VarId) -> usize {
    let below = derived[&v].uses.iter().filter(|v| derived.contains_key(v));
    below.map(|v| depth(derived, *v) + 1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::ir::testing::{analysed, classes};

    #[test]
    fn uniform_locals_have_no_column() {
        let (program, labels, _) = analysed(
            "fn f(#[shared] tol: i64, #[shared] limit: i64, n: i64) -> i64 {
                b0: { let half = tol / 2; let quarter = half / 2 + 1; let bare = 7; let own = n * 2; let mut i = 0; jump b1; }
                b1: { branch (i < quarter + bare) b2 else b3; }
                b2: { i = i + limit; jump b1; }
                b3: { let result = i + own; jump exit; }
            }",
        );
        assert_eq!(classes(&program, "register"), ["bare", "i", "n", "own", "result"]);
        assert_eq!(program.block(labels["b1"]).ops.len(), 2, "half, then quarter");
        assert_eq!(program.block(labels["b3"]).ops.len(), 1);
    }

    #[test]
    fn recursion_stacks_none() {
        let (program, ..) = analysed(
            "fn f(#[shared] tol: i64, n: i64) -> i64 {
                b0: { let half = tol / 2; branch (n <= half) b1 else b2; }
                b1: { let result = 1; jump exit; }
                b2: { let t = n - half; call f(tol, t) -> x, b3; }
                b3: { let result = x + half; jump exit; }
            }",
        );
        assert!(classes(&program, "stacked").is_empty());
    }
}
