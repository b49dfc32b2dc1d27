//! Who calls whom, and what running a function may write.
//!
//! Sets [`crate::ir::Function::recursive`] and [`crate::ir::Call::recursive`]. Tail calls are calls
//! here. [`MayWrite`] is the interprocedural side: the variables of *any* function that may get a new
//! value while an activation of a given function runs. Since a variable has one cell per member, not
//! one per activation, a caller must save those of its variables that the callee may write, and only
//! those (Radul et al. 2020, optimisation 3).
//!
//! An op writes what it defines, and may write every *mutable* variable it mentions. Terminators write
//! what they bind; a call writes its destination and its callee's parameters, except a parameter that
//! a function passes to itself unchanged.
//!
//! Imprecision: flow-insensitive within a function; a mention of a mutable variable is a write. Values
//! behind references are not variables and don't count.

use std::collections::BTreeSet;

use crate::ir::flow::{Flow, postorder};
use crate::ir::{BlockId, FuncId, Program, Terminator, VarId, VarSet};
use crate::syntax::reachability::reached;

/// The call graph of the reachable code.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// For each function the functions it calls itself.
    pub callees: Vec<BTreeSet<FuncId>>,
    /// For each function the functions it may call, directly or through others; itself only if it is
    /// recursive.
    pub reaches: Vec<BTreeSet<FuncId>>,
}

impl CallGraph {
    /// Collects the calls.
    pub fn compute(program: &Program) -> CallGraph {
        let flow = Flow::compute(program);
        let mut callees = vec![BTreeSet::new(); program.functions.len()];
        for b in flow.blocks() {
            if let Some((callee, _)) = called(program, b) {
                callees[program.block(b).func.0].insert(callee);
            }
        }
        let reaches = program.func_ids().map(|f| reached(f, |f| callees[f.0].iter().copied())).collect();
        CallGraph { callees, reaches }
    }

    /// Whether running `from` can run `to`; every function runs itself.
    pub fn can_run(&self, from: FuncId, to: FuncId) -> bool {
        from == to || self.reaches[from.0].contains(&to)
    }

    /// Sets of mutually recursive functions, callers before callees, starting at the entry. Functions
    /// that the entry can't run are left out.
    pub fn components(&self, entry: FuncId) -> Vec<Vec<FuncId>> {
        // Over the graph without its cycles: reversed, a caller precedes its callees.
        let finished = postorder(entry, |f| self.callees[f.0].iter().copied().collect());
        // In the reverse of that postorder the first function of a component comes before everything
        // the component calls (Kosaraju), so taking whole components at a time keeps the order.
        let mut components: Vec<Vec<FuncId>> = Vec::new();
        for f in finished.into_iter().rev() {
            match components.iter_mut().find(|c| self.can_run(c[0], f) && self.can_run(f, c[0])) {
                Some(component) => component.push(f),
                None => components.push(vec![f]),
            }
        }
        components
    }
}

/// The function a block calls, with the arguments.
pub(crate) fn called(program: &Program, b: BlockId) -> Option<(FuncId, &[VarId])> {
    match &program.block(b).term {
        Terminator::Call(call) => Some((call.callee, &call.args)),
        Terminator::TailCall { callee, args, .. } => Some((*callee, args)),
        _ => None,
    }
}

/// Sets the `recursive` flags of functions and calls.
pub fn run(program: &mut Program) {
    let graph = CallGraph::compute(program);
    for f in program.func_ids() {
        program.functions[f.0].recursive = graph.reaches[f.0].contains(&f);
    }
    for block in &mut program.blocks {
        if let Terminator::Call(call) = &mut block.term {
            call.recursive = graph.can_run(call.callee, block.func);
        }
    }
}

/// For each function the variables, of whatever function, that running it may write.
#[derive(Clone, Debug)]
pub struct MayWrite {
    by_function: Vec<VarSet>,
}

impl MayWrite {
    /// Runs the analysis.
    pub fn compute(program: &Program) -> MayWrite {
        let graph = CallGraph::compute(program);
        let mut own = vec![VarSet::new(); program.functions.len()];
        for b in Flow::compute(program).blocks() {
            let func = program.block(b).func;
            own[func.0].extend(written(program, b));
        }
        let all =
            |f: FuncId| graph.reaches[f.0].iter().chain([&f]).flat_map(|f| &own[f.0]).copied().collect();
        MayWrite { by_function: program.func_ids().map(all).collect() }
    }

    /// What running `func` may write.
    pub fn of(&self, func: FuncId) -> &VarSet {
        &self.by_function[func.0]
    }
}

/// What running the block itself may write, parameters of its callee included.
pub(crate) fn written(program: &Program, b: BlockId) -> VarSet {
    let mut vars = written_by_code(program, b);
    if let Terminator::Call(call) = &program.block(b).term {
        vars.insert(call.dest);
    }
    if let Some((callee, args)) = called(program, b) {
        let same = callee == program.block(b).func;
        let params = program.func(callee).params.iter().zip(args);
        vars.extend(params.filter(|(param, arg)| !(same && param == arg)).map(|(param, _)| param));
    }
    vars
}

/// What the block's ops and patterns may write.
pub(crate) fn written_by_code(program: &Program, b: BlockId) -> VarSet {
    let block = program.block(b);
    let mutable = |v: &&VarId| program.var(**v).mutable;
    let mut vars = VarSet::new();
    for op in &block.ops {
        vars.extend(&op.defs);
        vars.extend(op.uses.iter().filter(mutable));
        op.exits.iter().for_each(|exit| vars.extend(&program.block(*exit).arrives));
    }
    if !matches!(block.term, Terminator::Call(_) | Terminator::TailCall { .. }) {
        vars.extend(block.term.uses().iter().filter(mutable));
        for nth in 0..block.term.successors().len() {
            vars.extend(block.term.binds(nth));
        }
    }
    vars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{EVEN_ODD, FIB, names, parse};

    #[test]
    fn recursion() {
        let (mut program, _) = parse(
            "fn main(n: i64) -> i64 {
                b0: { call fib(n) -> x, b1; }
                b1: { call leaf(x) -> result, exit; }
            }
            fn leaf(k: i64) -> i64 { b0: { let result = k; jump exit; } }
            fn fib(m: i64) -> i64 {
                b0: { branch (m < 2) b1 else b2; }
                b1: { let result = m; jump exit; }
                b2: { let t = m - 1; call fib(t) -> left, b3; }
                b3: { call leaf(left) -> result, exit; }
            }",
        );
        run(&mut program);
        let flags: Vec<bool> = program.functions.iter().map(|f| f.recursive).collect();
        assert_eq!(flags, [false, false, true]);
        let flags: Vec<bool> = program.call_sites().iter().map(|(_, call)| call.recursive).collect();
        assert_eq!(flags, [false, false, true, false]);
        let components = CallGraph::compute(&program).components(FuncId(0));
        assert_eq!(components, [[FuncId(0)], [FuncId(2)], [FuncId(1)]], "callees after callers");
    }

    #[test]
    fn mutual_recursion_is_one_component() {
        let (program, _) = parse(EVEN_ODD);
        let graph = CallGraph::compute(&program);
        assert_eq!(graph.components(FuncId(0)), [[FuncId(0), FuncId(1)]]);
    }

    #[test]
    fn writes() {
        let (program, _) = parse(FIB);
        let writes = MayWrite::compute(&program);
        let expected = ["left", "n", "result", "right", "t1", "t2"];
        assert_eq!(names(&program, writes.of(FuncId(0))), expected);
    }

    #[test]
    fn unchanged_arguments_and_immutable_mentions_are_not_written() {
        let (program, _) = parse(
            "fn f(model: i64, mut state: i64, n: i64) -> i64 {
                b0: { let t = model + n; state += 1; call f(model, state, t) -> x, b1; }
                b1: { let result = x + n; jump exit; }
            }",
        );
        let writes = MayWrite::compute(&program);
        assert_eq!(names(&program, writes.of(FuncId(0))), ["n", "result", "state", "t", "x"]);
    }
}
