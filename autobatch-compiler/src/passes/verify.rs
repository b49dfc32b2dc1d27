//! Checks the invariants of the intermediate representation.
//!
//! Run between the passes in debug builds, so that a broken pass is named by what it broke. Each
//! [`Stage`] adds the invariants that the passes up to it establish. The stack discipline is checked as
//! a proof, not by running: along every path, what a call saves is balanced by what its continuation
//! restores, and no variable that a callee may write is live across the call without being saved (the
//! idea of regalloc2's checker).

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use crate::analysis::call_graph::{CallGraph, MayWrite, called};
use crate::analysis::definedness::{Definedness, edges};
use crate::analysis::liveness::Liveness;
use crate::ir::flow::Flow;
use crate::ir::{BlockId, Call, CallId, Class, FuncId, GOTO, Program, Role, Terminator, VarId, VarSet};

/// How far the passes have come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Lowered and pruned.
    Lowered,
    /// Blocks are grouped into regions.
    Fused,
    /// Storage classes are known, stack operations are placed.
    Saved,
    /// Region heads are ordered.
    Ordered,
}

/// Checks everything that holds from `stage` on; returns all violations.
pub fn verify(program: &Program, stage: Stage) -> Result<(), Vec<String>> {
    let mut verifier = Verifier { program, errors: Vec::new() };
    verifier.tables();
    // The rest follows ids, so it needs sound tables.
    if verifier.errors.is_empty() {
        let flow = Flow::compute(program);
        verifier.names();
        verifier.exits(&flow);
        verifier.calls();
        verifier.definitions(&flow);
        if stage >= Stage::Fused {
            verifier.regions(&flow);
        }
        if stage >= Stage::Saved {
            verifier.saves(&flow);
        }
        if stage >= Stage::Ordered {
            verifier.order(&flow);
        }
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    program: &'a Program,
    errors: Vec<String>,
}

impl Verifier<'_> {
    fn require(&mut self, holds: bool, error: impl FnOnce() -> String) {
        if !holds {
            self.errors.push(error());
        }
    }

    /// Ids are in range and everything a function refers to is its own.
    fn tables(&mut self) {
        let p = self.program;
        self.require(p.entry.0 < p.functions.len(), || format!("no entry function {}", p.entry));
        for f in p.func_ids() {
            let function = p.func(f);
            for (what, b) in [("entry", function.entry), ("exit", function.exit)] {
                self.block(f, b, what);
            }
            self.var(f, function.result, "result");
            function.params.iter().for_each(|v| self.var(f, *v, "parameter"));
        }
        for b in p.block_ids() {
            let block = p.block(b);
            let f = block.func;
            if f.0 >= p.functions.len() {
                self.errors.push(format!("{b} belongs to no function"));
                continue;
            }
            block.successors().into_iter().for_each(|s| self.block(f, s, "successor"));
            self.block(f, block.region, "region");
            let mut vars: VarSet =
                block.pops.iter().chain(&block.reads).chain(&block.arrives).copied().collect();
            for op in &block.ops {
                [&op.uses, &op.defs, &op.declares].into_iter().for_each(|set| vars.extend(set));
            }
            vars.extend(block.term.uses());
            (0..block.term.successors().len()).for_each(|nth| vars.extend(block.term.binds(nth)));
            if let Terminator::Call(call) = &block.term {
                vars.extend(call.pushes.iter().chain(&call.updates).chain(&call.keeps));
            }
            vars.into_iter().for_each(|v| self.var(f, v, "variable"));
        }
    }

    fn block(&mut self, f: FuncId, b: BlockId, what: &str) {
        let own = self.program.blocks.get(b.0).is_some_and(|block| block.func == f);
        self.require(own, || format!("{what} {b} is not a block of {f}"));
    }

    fn var(&mut self, f: FuncId, v: VarId, what: &str) {
        let own = self.program.variables.get(v.0).is_some_and(|var| var.func == f);
        self.require(own, || format!("{what} {v} is not a variable of {f}"));
    }

    /// An identifier names one variable of its function; roles agree with the function.
    fn names(&mut self) {
        let p = self.program;
        let mut seen = BTreeSet::new();
        for v in p.var_ids() {
            let var = p.var(v);
            let fresh = seen.insert((var.func, var.ident.to_string()));
            self.require(fresh, || format!("two variables of {} are named `{}`", var.func, var.ident));
            let fits = match var.role {
                Role::Param(i) => p.func(var.func).params.get(i) == Some(&v),
                Role::Result => p.func(var.func).result == v,
                Role::Local | Role::Temp => true,
            };
            self.require(fits, || format!("{v} has a role that {} does not give it", var.func));
        }
        for f in p.func_ids() {
            let function = p.func(f);
            let roles = function.params.iter().enumerate().all(|(i, v)| p.var(*v).role == Role::Param(i));
            self.require(roles, || format!("a parameter of {f} has another role"));
            self.require(p.var(function.result).role == Role::Result, || {
                format!("the result of {f} has another role")
            });
        }
    }

    /// Entry and exit blocks have their form, and the jump markers in the code are the listed exits.
    fn exits(&mut self, flow: &Flow) {
        let p = self.program;
        for f in p.func_ids() {
            let function = p.func(f);
            let exit = p.block(function.exit);
            let empty = exit.ops.is_empty() && matches!(exit.term, Terminator::Return);
            self.require(empty, || format!("the exit block of {f} is not just a return"));
            self.require(function.entry != function.exit, || format!("{f} enters at its exit"));
            let entered = !flow.preds[function.entry.0].is_empty();
            self.require(!entered, || format!("a block of {f} jumps to the entry block"));
        }
        for b in p.block_ids() {
            let block = p.block(b);
            let stray = matches!(block.term, Terminator::Return) && !p.is_exit(b);
            self.require(!stray, || format!("{b} returns but is not an exit block"));
            let jumps = matches!(block.term, Terminator::Jump(_));
            let exits = || block.ops.iter().flat_map(|op| &op.exits);
            let straight = jumps && exits().next().is_none();
            let returns = jumps && exits().all(|exit| p.is_exit(*exit));
            self.require(!block.interchanged || returns, || {
                format!("{b} runs lane-interchanged but goes on to several blocks")
            });
            let call = block.ops.last().is_some_and(|op| op.code.len() == 1);
            let primitive = block.primitive.is_none() || (straight && call && !block.interchanged);
            self.require(primitive, || format!("{b} is a primitive but not just its call"));
            for op in &block.ops {
                let mut marked = Vec::new();
                op.code.iter().for_each(|stmt| markers(stmt.to_token_stream(), &mut marked));
                let listed: BTreeSet<BlockId> = op.exits.iter().copied().collect();
                let marked: BTreeSet<BlockId> = marked.into_iter().collect();
                self.require(listed == marked, || {
                    format!("{b}: exits {listed:?} are listed, {marked:?} are marked")
                });
            }
        }
    }

    /// Calls pass one argument per parameter and are numbered densely; groups share a return type.
    fn calls(&mut self) {
        let p = self.program;
        let mut ids = Vec::new();
        for b in p.block_ids() {
            ids.extend(p.block(b).term.call().map(|call| call.id));
            let Some((callee, args)) = called(p, b) else { continue };
            let Some(function) = p.functions.get(callee.0) else {
                self.errors.push(format!("{b} calls {callee}, which does not exist"));
                continue;
            };
            self.require(function.params.len() == args.len(), || {
                format!("{b} passes {} arguments", args.len())
            });
            if matches!(p.block(b).term, Terminator::TailCall { .. }) {
                let together = p.func(p.block(b).func).group == function.group;
                self.require(together, || format!("{b} tail-calls out of its group"));
            }
        }
        ids.sort();
        let dense = ids.iter().copied().eq((0..p.calls).map(CallId));
        self.require(dense, || format!("call ids {ids:?} are not 0..{}", p.calls));
    }

    /// Arguments and results hold values where they are handed over. (Mentions in code are no proof of
    /// a read, so code is left to rustc.)
    fn definitions(&mut self, flow: &Flow) {
        let p = self.program;
        let defined = Definedness::compute(p);
        for b in flow.blocks() {
            if let Terminator::Call(_) | Terminator::TailCall { .. } = &p.block(b).term {
                let missing = &p.block(b).term.uses() - &defined.before_terminator(p, b);
                self.require(missing.is_empty(), || format!("{b} passes {missing:?} without a value"));
            }
            let result = p.func(p.block(b).func).result;
            for (target, defined) in edges(p, b, defined.at_entry[b.0].clone()) {
                let lost = p.is_exit(target) && !defined.contains(&result);
                self.require(!lost, || format!("{b} returns without a result"));
            }
        }
    }

    /// Regions are entered at their heads only and have no cycles.
    fn regions(&mut self, flow: &Flow) {
        let p = self.program;
        for function in &flow.order {
            let position: BTreeMap<BlockId, usize> =
                function.iter().enumerate().map(|(i, b)| (*b, i)).collect();
            for b in function {
                let region = p.block(*b).region;
                self.require(p.is_head(region), || {
                    format!("{b} is in the region of {region}, which is no head")
                });
                if p.is_head(*b) {
                    continue;
                }
                for pred in &flow.preds[b.0] {
                    let inside = p.block(*pred).region == region;
                    self.require(inside, || format!("{pred} enters the region of {region} at {b}"));
                    self.require(position[pred] < position[b], || {
                        format!("the region of {region} has a cycle at {b}")
                    });
                }
                let fresh = flow.continuations.contains(b) || p.is_exit(*b);
                self.require(!fresh, || format!("{b} must be a head"));
            }
        }
    }

    /// Saves and restores balance on every path, and what a callee may write is saved.
    fn saves(&mut self, flow: &Flow) {
        let p = self.program;
        let liveness = Liveness::compute(p, &Definedness::compute(p));
        let may_write = MayWrite::compute(p);
        // What is on the stacks at each block's entry, of this activation.
        let mut stacks: Vec<Option<VarSet>> = vec![None; p.blocks.len()];
        for function in &p.functions {
            stacks[function.entry.0] = Some(VarSet::new());
        }
        for b in flow.blocks() {
            let block = p.block(b);
            let Some(here) = stacks[b.0].clone() else {
                self.errors.push(format!("no state reaches {b}"));
                continue;
            };
            let leaves = p.is_exit(b) || matches!(block.term, Terminator::TailCall { .. });
            self.require(!leaves || here.is_empty(), || format!("{b} leaves {here:?} on the stacks"));
            for target in block.successors() {
                let mut arriving = here.clone();
                if let Some(call) = block.term.call().filter(|call| call.cont == target) {
                    arriving = self.saved(b, call, &here, &liveness, &may_write);
                    arriving.retain(|v| !p.block(target).pops.contains(v));
                }
                match &stacks[target.0] {
                    Some(known) => {
                        let agree = *known == arriving;
                        self.require(agree, || format!("the stacks at {target} depend on the path from {b}"));
                    }
                    None => stacks[target.0] = Some(arriving),
                }
            }
        }
        for cont in p.block_ids().filter(|b| !flow.continuations.contains(b)) {
            let none = p.block(cont).pops.is_empty() && p.block(cont).reads.is_empty();
            self.require(none, || format!("{cont} pops, but no call returns to it"));
        }
    }

    /// What is on the stacks while the callee of `call` runs.
    fn saved(
        &mut self,
        b: BlockId,
        call: &Call,
        here: &VarSet,
        live: &Liveness,
        writes: &MayWrite,
    ) -> VarSet {
        let p = self.program;
        let fresh: VarSet = call.pushes.iter().copied().collect();
        let in_place: VarSet = call.updates.iter().chain(&call.keeps).copied().collect();
        let after: VarSet =
            p.block(call.cont).pops.iter().chain(&p.block(call.cont).reads).copied().collect();
        self.require(fresh.is_disjoint(here), || format!("{b} pushes what it has pushed before"));
        self.require(in_place == *here, || format!("{b} updates {in_place:?}, on the stacks are {here:?}"));
        let saved = &fresh | &in_place;
        self.require(saved == after, || format!("{b} saves {saved:?}, {} restores {after:?}", call.cont));
        let across = live.across(call);
        let mut exposed = &(&across & writes.of(call.callee)) - &saved;
        exposed.retain(|v| !p.var(*v).is_uniform());
        self.require(exposed.is_empty(), || format!("{b}: the callee may write {exposed:?}"));
        let stacked = saved.iter().all(|v| p.var(*v).class == Class::Stacked && across.contains(v));
        self.require(stacked, || format!("{b} saves a variable that is not stacked or not live"));
        saved
    }

    /// Every reachable head is ordered, once.
    fn order(&mut self, flow: &Flow) {
        let p = self.program;
        let reachable = CallGraph::compute(p);
        let heads: BTreeSet<BlockId> = flow
            .blocks()
            .filter(|b| p.is_head(*b) && !p.is_exit(*b) && reachable.can_run(p.entry, p.block(*b).func))
            .collect();
        let listed: BTreeSet<BlockId> = p.order.iter().copied().collect();
        self.require(listed.len() == p.order.len(), || "a head is ordered twice".into());
        self.require(listed == heads, || format!("ordered are {listed:?}, heads are {heads:?}"));
    }
}

/// The targets of jump markers anywhere in the tokens, macros included.
fn markers(tokens: TokenStream, found: &mut Vec<BlockId>) {
    let mut pending = false;
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) => pending = ident == GOTO,
            TokenTree::Group(group) if pending => {
                found.extend(group.stream().to_string().parse().ok().map(BlockId));
                pending = false;
            }
            TokenTree::Group(group) => markers(group.stream(), found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{EVEN_ODD, FIB, PEA_NUTS, analysed};

    fn errors(stage: Stage, damage: impl FnOnce(&mut Program)) -> String {
        let (mut program, ..) = analysed(FIB);
        damage(&mut program);
        verify(&program, stage).expect_err("the damage is noticed").join("; ")
    }

    fn first_call(program: &mut Program) -> &mut Call {
        let calls = program.blocks.iter_mut().filter_map(|b| match &mut b.term {
            Terminator::Call(call) => Some(call),
            _ => None,
        });
        calls.into_iter().next().unwrap()
    }

    #[test]
    fn sound_programs_pass() {
        for source in [FIB, EVEN_ODD, PEA_NUTS] {
            let (program, ..) = analysed(source);
            assert_eq!(verify(&program, Stage::Ordered), Ok(()));
        }
    }

    #[test]
    fn broken_tables() {
        let error = errors(Stage::Lowered, |p| first_call(p).cont = BlockId(99));
        assert!(error.contains("b99 is not a block of f0"), "{error}");
        let error = errors(Stage::Lowered, |p| p.functions[0].result = VarId(77));
        assert!(error.contains("v77 is not a variable"), "{error}");
        let error = errors(Stage::Lowered, |p| p.variables[1].ident = p.variables[0].ident.clone());
        assert!(error.contains("are named `n`"), "{error}");
        let error = errors(Stage::Lowered, |p| p.calls = 3);
        assert!(error.contains("not 0..3"), "{error}");
    }

    #[test]
    fn broken_code() {
        let error = errors(Stage::Lowered, |p| p.blocks.iter_mut().for_each(|b| b.ops.clear()));
        assert!(error.contains("without a"), "{error}");
        let error = errors(Stage::Lowered, |p| {
            let exit = p.functions[0].exit;
            p.blocks.iter_mut().find(|b| !b.ops.is_empty()).unwrap().ops[0].exits.push(exit);
        });
        assert!(error.contains("are listed"), "{error}");
    }

    #[test]
    fn broken_stack_discipline() {
        let error = errors(Stage::Saved, |p| first_call(p).pushes.clear());
        assert!(error.contains("restores"), "{error}");
        let error = errors(Stage::Saved, |p| {
            let call = first_call(p);
            call.pushes.clear();
            let cont = call.cont;
            p.blocks[cont.0].pops.clear();
        });
        assert!(error.contains("the callee may write"), "{error}");
    }

    #[test]
    fn broken_order() {
        let error = errors(Stage::Ordered, |p| p.order.truncate(1));
        assert!(error.contains("ordered are"), "{error}");
    }
}
