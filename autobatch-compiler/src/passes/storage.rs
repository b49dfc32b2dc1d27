//! Storage classes: where each variable lives at run time.
//!
//! The classes are those of Radul et al. 2020, section 3.2, with regions for blocks:
//! * *temporary*: never crosses from one region to another;
//! * *register*: crosses regions, but no call that may write it;
//! * *stacked*: live across a call whose callee, transitively, may write it;
//! * *null*: never read; *uniform*: set before by [`crate::passes::uniform_parameters`].
//!
//! The paper asks whether the callee can *reach the function again*; here it must also write the
//! variable on the way, so a parameter that recursion hands on unchanged stays a register.
//!
//! Invariant: a variable that is live at a region head or handed over at a call (argument, result,
//! parameter) has a column. Call arguments are shown as temporaries although they pass through a
//! column at the call point; likewise unread results and parameters as null.
//!
//! Imprecision: inherited from liveness and may-write.

use crate::analysis::call_graph::MayWrite;
use crate::analysis::liveness::Liveness;
use crate::ir::flow::Flow;
use crate::ir::{Class, Program, Terminator, VarSet};

/// Sets the classes; returns the variables that need a column.
pub fn run(program: &mut Program, liveness: &Liveness, may_write: &MayWrite) -> VarSet {
    let flow = Flow::compute(program);
    let mut read: VarSet = VarSet::new();
    let mut crossing = VarSet::new();
    let mut handed = VarSet::new();
    let mut stacked = VarSet::new();
    for function in &program.functions {
        read.insert(function.result);
        crossing.insert(function.result);
        handed.extend(&function.params);
    }
    for b in flow.blocks() {
        let block = program.block(b);
        block.ops.iter().for_each(|op| read.extend(&op.uses));
        read.extend(block.term.uses());
        if program.is_head(b) {
            crossing.extend(&liveness.live_in[b.0]);
        }
        if let Terminator::Call(call) = &block.term {
            handed.extend(&call.args);
            handed.insert(call.dest);
            stacked.extend(&liveness.across(call) & may_write.of(call.callee));
        }
    }
    for v in program.var_ids() {
        let class = &mut program.variables[v.0].class;
        *class = match *class {
            Class::Uniform(root) => Class::Uniform(root),
            _ if stacked.contains(&v) => Class::Stacked,
            _ if crossing.contains(&v) => Class::Register,
            _ if !read.contains(&v) => Class::Null,
            _ => Class::Temporary,
        };
    }
    let mut columns = &crossing | &handed;
    columns.retain(|v| !program.var(*v).is_uniform());
    columns
}

#[cfg(test)]
mod tests {
    use crate::ir::testing::{EVEN_ODD, FIB, GCD, IOTA_SUM, PEA_NUTS, analysed, classes, var};

    fn stacked(source: &str) -> Vec<String> {
        let (program, ..) = analysed(source);
        classes(&program, "stacked")
    }

    #[test]
    fn fib_has_the_classes_of_the_paper() {
        let (program, _, analyses) = analysed(FIB);
        assert_eq!(classes(&program, "stacked"), ["left", "n"]);
        assert_eq!(classes(&program, "register"), ["result", "right"]);
        assert_eq!(classes(&program, "temporary"), ["t1", "t2"]);
        assert!(analyses.needs_column(var(&program, "t1")), "handed over at the call");
    }

    #[test]
    fn tail_recursion_stacks_nothing() {
        assert!(stacked(IOTA_SUM).is_empty());
        assert!(stacked(EVEN_ODD).is_empty());
        assert!(stacked(GCD).is_empty());
    }

    #[test]
    fn pea_nuts() {
        // `left` is live across the second recursive call; `total` and `i` across both.
        assert_eq!(stacked(PEA_NUTS), ["i", "left", "n", "total"]);
    }

    #[test]
    fn unchanged_parameters_and_other_functions_need_no_stack() {
        let source = "
            fn f(k: i64, n: i64) -> i64 {
                b0: { branch (n < 1) b1 else b2; }
                b1: { let result = k; jump exit; }
                b2: { let t = n - 1; call f(k, t) -> x, b3; }
                b3: { call g(x) -> y, b4; }
                b4: { let result = x + y + k; jump exit; }
            }
            fn g(a: i64) -> i64 { b0: { let result = a; jump exit; } }";
        let (program, ..) = analysed(source);
        assert!(classes(&program, "stacked").is_empty());
        assert_eq!(classes(&program, "register"), ["a", "k", "n", "result", "result", "x", "y"]);
    }

    #[test]
    fn unread_and_uniform() {
        let source = "fn f(#[shared] m: i64, unread: i64, n: i64) -> i64 {
            b0: { let w = 3; branch (n < 1) b1 else b2; }
            b1: { let result = m; jump exit; }
            b2: { let t = n - 1; call f(m, n, t) -> x, b3; }
            b3: { let result = n; jump exit; }
        }";
        let (program, _, analyses) = analysed(source);
        assert_eq!(classes(&program, "null"), ["unread", "w", "x"]);
        assert_eq!(classes(&program, "uniform"), ["m"]);
        assert!(!analyses.needs_column(var(&program, "m")));
        assert!(!analyses.needs_column(var(&program, "w")));
        assert!(analyses.needs_column(var(&program, "x")), "the call puts it somewhere");
    }
}
