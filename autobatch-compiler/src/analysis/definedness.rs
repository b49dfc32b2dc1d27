//! Which variables certainly hold a value.
//!
//! A forward data-flow analysis: the set at a block's entry is the intersection over its incoming
//! edges. Parameters are defined at the function's entry, [`Op::defs`] after the op, bindings and
//! call results on their edges. A side exit leaves an op before the op's own definitions; what its
//! jump assigns arrives with it ([`crate::ir::Block::arrives`]), and so does what the op has assigned on the way to the jump.
//!
//! Invariant: a variable outside the set has no value to keep, so liveness leaves it out there
//! ("definedness" in TensorFlow Probability's lowering; *definite assignment* in Java and Rust).
//!
//! Imprecision: an op that mentions a mutable variable which is not defined yet, such as the branches
//! of `let x; if c { x = 1 } else { x = 2 }`, counts as defining it, because rustc accepts no read
//! before every path has assigned. Values that were moved away stay "defined"; liveness tells.

use syn::{Expr, Ident, Macro, Stmt};

use crate::ir::flow::Flow;
use crate::ir::{BlockId, Op, Program, Role, VarId, VarSet, goto_target};
use crate::syntax::mentions::bare;
use crate::syntax::visit::{self, Visit};

/// The variables that certainly hold a value at the start of each block.
#[derive(Clone, Debug)]
pub struct Definedness {
    /// Indexed by block; empty for a block that is never reached.
    pub at_entry: Vec<VarSet>,
}

impl Definedness {
    /// Runs the analysis.
    pub fn compute(program: &Program) -> Definedness {
        let flow = Flow::compute(program);
        let mut state: Vec<Option<VarSet>> = vec![None; program.blocks.len()];
        for function in &program.functions {
            state[function.entry.0] = Some(function.params.iter().copied().collect());
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in flow.blocks() {
                let Some(entry) = state[b.0].clone() else { continue };
                for (target, defined) in edges(program, b, entry) {
                    changed |= meet(&mut state[target.0], defined);
                }
            }
        }
        Definedness { at_entry: state.into_iter().map(Option::unwrap_or_default).collect() }
    }

    /// What is defined right before the terminator of `b`.
    pub fn before_terminator(&self, program: &Program, b: BlockId) -> VarSet {
        let mut defined = self.at_entry[b.0].clone();
        program.block(b).ops.iter().for_each(|op| apply(program, op, &mut defined));
        defined
    }
}

/// Every edge out of `b` with what is defined along it.
pub(crate) fn edges(program: &Program, b: BlockId, entry: VarSet) -> Vec<(BlockId, VarSet)> {
    let block = program.block(b);
    let mut defined = entry;
    let mut out = Vec::new();
    for op in &block.ops {
        for exit in &op.exits {
            let mut arriving = &defined | &program.block(*exit).arrives;
            arriving.extend(assigned_on_the_way(program, op, *exit, &defined));
            out.push((*exit, arriving));
        }
        apply(program, op, &mut defined);
    }
    for (nth, target) in block.term.successors().into_iter().enumerate() {
        out.push((target, &defined | &block.term.binds(nth)));
    }
    out
}

/// The variables without a value that have one at each of an op's jumps to a block: `{ x = 1; goto!(target) }`.
fn assigned_on_the_way(program: &Program, op: &Op, target: BlockId, defined: &VarSet) -> VarSet {
    let unset = |v: &VarId| !defined.contains(v) && is_assigned(program, *v);
    let unset: Vec<VarId> = op.uses.iter().copied().filter(unset).collect();
    if unset.is_empty() {
        return VarSet::new();
    }
    let mut jumps = Jumps { target, assigned: vec![], found: vec![] };
    op.code.iter().for_each(|stmt| jumps.visit_stmt(stmt));
    // Some may be in the tokens of macros.
    if jumps.found.len() != op.exits.iter().filter(|exit| **exit == target).count() {
        return VarSet::new();
    }
    let everywhere = |v: &VarId| jumps.found.iter().all(|names| names.contains(&program.var(*v).ident));
    unset.into_iter().filter(everywhere).collect()
}

/// What is assigned on the way to each jump to a block.
struct Jumps {
    target: BlockId,
    assigned: Vec<Ident>,
    found: Vec<Vec<Ident>>,
}

impl<'ast> Visit<'ast> for Jumps {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        let before = self.assigned.len();
        visit::visit_block(self, block);
        self.assigned.truncate(before);
    }
    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        visit::visit_stmt(self, stmt);
        if let Stmt::Expr(Expr::Assign(e), _) = stmt {
            wholly_assigned(&e.left, &mut self.assigned);
        }
    }
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_macro(&mut self, mac: &'ast Macro) {
        if goto_target(mac) == Some(self.target) {
            self.found.push(self.assigned.clone());
        }
    }
}

/// The variables that an assignment to a place sets: `x`, `(x, y)`.
fn wholly_assigned(place: &Expr, names: &mut Vec<Ident>) {
    match bare(place) {
        Expr::Path(p) => names.extend(p.path.get_ident().cloned()),
        Expr::Tuple(e) => e.elems.iter().for_each(|e| wholly_assigned(e, names)),
        _ => {}
    }
}

fn is_assigned(program: &Program, v: VarId) -> bool {
    let var = program.var(v);
    var.mutable && var.role == Role::Local
}

fn apply(program: &Program, op: &Op, defined: &mut VarSet) {
    defined.extend(&op.defs);
    defined.extend(op.uses.iter().filter(|v| is_assigned(program, **v)));
}

fn meet(state: &mut Option<VarSet>, incoming: VarSet) -> bool {
    match state {
        None => {
            *state = Some(incoming);
            true
        }
        Some(old) => {
            let before = old.len();
            old.retain(|v| incoming.contains(v));
            old.len() != before
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{names, parse};

    #[test]
    fn joins_intersect_and_loops_reach_a_fixpoint() {
        let (program, labels) = parse(
            "fn f(n: i64) -> i64 {
                b0: { let a = 1; branch (n > 0) b1 else b2; }
                b1: { let b = 2; let c = 3; jump b3; }
                b2: { let c = 4; jump b3; }
                b3: { let d = c; branch (d > 0) b3 else b4; }
                b4: { let result = d; jump exit; }
            }",
        );
        let defined = Definedness::compute(&program);
        assert_eq!(names(&program, &defined.at_entry[labels["b3"].0]), ["a", "c", "n"]);
        assert_eq!(names(&program, &defined.at_entry[labels["b4"].0]), ["a", "c", "d", "n"]);
        assert_eq!(names(&program, &defined.at_entry[labels["exit"].0]), ["a", "c", "d", "n", "result"]);
    }

    #[test]
    fn a_side_exit_brings_what_it_assigns_and_no_definition_of_its_op() {
        let (program, labels) = parse(
            "fn f(n: i64) -> i64 {
                b0: {
                    let a = 1;
                    let b = if n > 0 { let result = 7; goto!(exit) } else { n };
                    let result = a + b;
                    jump exit;
                }
            }",
        );
        let defined = Definedness::compute(&program);
        assert_eq!(names(&program, &defined.at_entry[labels["exit"].0]), ["a", "n", "result"]);
    }

    #[test]
    fn what_is_assigned_on_the_way_to_a_side_exit_arrives() {
        let (program, labels) = parse(
            "fn f(n: i64) -> i64 {
                b0: { let x; let y; jump b1; }
                b1: {
                    if n > 9 { (x, _) = (n, 0); if n > 99 { y = 1; goto!(b2) } goto!(b2) }
                    if n > 5 { y = 3; x = 2; goto!(b3) }
                    jump b1;
                }
                b2: { let result = x; jump exit; }
                b3: { let result = x + y; jump exit; }
            }",
        );
        let defined = Definedness::compute(&program);
        assert_eq!(names(&program, &defined.at_entry[labels["b1"].0]), ["n"]);
        assert_eq!(names(&program, &defined.at_entry[labels["b2"].0]), ["n", "x"]);
        assert!(defined.at_entry[labels["b3"].0].len() == 3);
    }

    #[test]
    fn deferred_initialisation_inside_an_op_defines() {
        let (program, labels) = parse(
            "fn f(n: i64) -> i64 {
                b0: { let x; if n > 0 { x = 1; } else { x = 2; } call f(n) -> y, b1; }
                b1: { let result = x + y; jump exit; }
            }",
        );
        let defined = Definedness::compute(&program);
        assert_eq!(names(&program, &defined.at_entry[labels["b1"].0]), ["n", "x", "y"]);
    }
}
