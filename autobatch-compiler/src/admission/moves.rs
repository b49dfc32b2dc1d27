//! Parts of owned locals that code may move out of them, `front = tree.front`, while the rest is needed behind the block: a column holds
//! whole values, so such a part must be copied.
//!
//! Only a local that is no reference can lose a part: nothing moves out of what is borrowed. Whether a method takes the part that it
//! is called on is not written. It does not where control may go on to use the part ([`uses`]): rustc would refuse the scalar function.

use std::collections::BTreeSet;

use syn::{Expr, Pat, UnOp};

use crate::admission::uses;
use crate::analysis::reference_flow::ReferenceFlow;
use crate::ir::effects::{self, Names};
use crate::ir::{FuncId, Program, Role, Terminator, VarId, VarSet};
use crate::passes::Analyses;
use crate::syntax::mentions::{self, is_truth};
use crate::syntax::visit::{self, Visit};

/// The parts that must be copied, as places; a whole variable stands for what a pattern takes out of it.
pub(super) fn parts(program: &Program, analyses: &Analyses, func: FuncId, flow: &ReferenceFlow) -> Vec<Expr> {
    let names = effects::names(program, func);
    let mut found: Vec<Expr> = Vec::new();
    let mut seen = BTreeSet::new();
    for id in program.block_ids().filter(|id| program.block(*id).func == func) {
        let block = program.block(id);
        let mut live = VarSet::new();
        for (nth, next) in block.term.successors().into_iter().enumerate() {
            live.extend(&analyses.liveness.live_in[next.0] - &block.term.binds(nth));
        }
        for exit in block.ops.iter().flat_map(|op| &op.exits) {
            live.extend(&analyses.liveness.live_in[exit.0]);
        }
        if let Terminator::Call(call) = &block.term {
            live.extend(&call.args);
        }
        let owned = |var: &VarId| {
            let variable = program.var(*var);
            let reference = matches!(&variable.ty, Some(syn::Type::Reference(_)));
            let name = variable.ident.to_string();
            analyses.needs_column(*var)
                && matches!(variable.role, Role::Param(_) | Role::Local)
                && !reference
                && !flow.is_number(&name)
                && !flow.is_outer(&name)
        };
        live.retain(owned);
        if live.is_empty() {
            continue;
        }
        let mut scan = Moves { names: &names, live: &live, found: Vec::new(), called: Vec::new() };
        block.code().for_each(|stmt| scan.visit_stmt(stmt));
        match &block.term {
            Terminator::Branch { cond, .. } => scan.visit_expr(cond),
            Terminator::Switch { scrutinee, arms, .. } => {
                let binds = arms.iter().any(|arm| takes(&arm.pat));
                scan.matched(scrutinee, binds);
            }
            _ => {}
        }
        let called = scan.called.into_iter().filter(|part| !uses::is_used_again(program, &names, id, part));
        for part in scan.found.into_iter().chain(called) {
            if seen.insert(crate::syntax::mentions::text(part)) {
                found.push(part.clone());
            }
        }
    }
    found
}

struct Moves<'a, 'p> {
    names: &'a Names,
    live: &'a VarSet,
    found: Vec<&'p Expr>,
    /// Parts that a method is called on, which may take them by value.
    called: Vec<&'p Expr>,
}

impl<'p> Moves<'_, 'p> {
    /// Whether a place is a part of one of the variables, not behind a pointer that is indexed.
    fn is_part(&self, place: &Expr) -> bool {
        match place {
            Expr::Path(_) => self.is_live(place),
            Expr::Field(e) => self.is_part(&e.base),
            Expr::Paren(e) => self.is_part(&e.expr),
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)) && self.is_part(&e.expr),
            _ => false,
        }
    }

    fn is_live(&self, expr: &Expr) -> bool {
        effects::variable(self.names, expr).is_some_and(|var| self.live.contains(&var))
    }

    /// A place that is not read as a value: its indices are.
    fn place(&mut self, place: &'p Expr) {
        match place {
            Expr::Field(e) => self.place(&e.base),
            Expr::Paren(e) => self.place(&e.expr),
            Expr::Index(e) => {
                self.place(&e.expr);
                self.visit_expr(&e.index);
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.place(&e.expr),
            Expr::Path(_) => {}
            Expr::Tuple(e) => e.elems.iter().for_each(|e| self.place(e)),
            Expr::Array(e) => e.elems.iter().for_each(|e| self.place(e)),
            Expr::Struct(e) => e.fields.iter().for_each(|field| self.place(&field.expr)),
            Expr::Call(e) => e.args.iter().for_each(|e| self.place(e)),
            other => self.visit_expr(other),
        }
    }

    /// What is matched: patterns may take parts out of it.
    fn matched(&mut self, scrutinee: &'p Expr, takes: bool) {
        if self.is_part(scrutinee) {
            if takes {
                self.found.push(scrutinee);
            }
        } else {
            self.visit_expr(scrutinee);
        }
    }
}

/// Whether a pattern may take a part by value: other than all of it, which is liveness's affair.
pub(crate) fn takes(pat: &Pat) -> bool {
    let by_ref = mentions::bound_by_ref(pat);
    !matches!(pat, Pat::Ident(_) | Pat::Type(_))
        && mentions::names(pat).iter().any(|name| !by_ref.contains(&name))
}

impl<'p> Visit<'p> for Moves<'_, 'p> {
    fn visit_local(&mut self, local: &'p syn::Local) {
        if let Some(init) = &local.init {
            match &local.pat {
                Pat::Ident(_) | Pat::Type(_) => self.visit_expr(&init.expr),
                pat => self.matched(&init.expr, takes(pat)),
            }
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
        }
    }
    fn visit_expr(&mut self, expr: &'p Expr) {
        if let Some((place, value)) = mentions::assignment(expr) {
            self.place(place);
            return self.visit_expr(value);
        }
        match expr {
            Expr::Field(_) | Expr::Unary(syn::ExprUnary { op: UnOp::Deref(_), .. }) if self.is_part(expr) => {
                self.found.push(expr);
            }
            Expr::Field(_) | Expr::Index(_) => self.place(expr),
            Expr::Reference(e) => self.place(&e.expr),
            // Compared by reference.
            Expr::Binary(e) if is_truth(&e.op) => [&e.left, &e.right]
                .into_iter()
                .for_each(|side| if self.is_part(side) { self.place(side) } else { self.visit_expr(side) }),
            Expr::MethodCall(e) => {
                match &*e.receiver {
                    Expr::Path(_) => {}
                    // A method may take its receiver by value.
                    part if self.is_part(part) => self.called.push(part),
                    other => self.visit_expr(other),
                }
                e.args.iter().for_each(|arg| self.visit_expr(arg));
            }
            Expr::Let(e) => self.matched(&e.expr, takes(&e.pat)),
            Expr::Match(e) => {
                self.matched(&e.expr, e.arms.iter().any(|arm| takes(&arm.pat)));
                for arm in &e.arms {
                    if let Pat::Guard(guarded) = &arm.pat {
                        self.visit_expr(&guarded.guard);
                    }
                    self.visit_expr(&arm.body);
                }
            }
            Expr::Struct(e) => {
                e.fields.iter().for_each(|field| self.visit_expr(&field.expr));
                if let Some(rest) = &e.rest {
                    self.matched(rest, true);
                }
            }
            _ => visit::visit_expr(self, expr),
        }
    }
    fn visit_item(&mut self, _: &'p syn::Item) {}
}
