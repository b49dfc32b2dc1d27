//! The code of one lane, in the straight pieces.

use syn::{BinOp, Expr, Stmt, UnOp};

use crate::analysis::lane_interchange::admit::Admit;
use crate::analysis::lane_interchange::forms::{breaks, indexed, is_exit, names_only, returned, skips};
use crate::analysis::lane_interchange::plan::SMALL;
use crate::analysis::lane_interchange::rounds::counted;
use crate::diagnostics::reasons::{
    LOOP_ARRAY, LOOP_CALLS, LOOP_CALLS_METHOD, LOOP_CODE, LOOP_FIELD, LOOP_INDEX, LOOP_INNER, LOOP_LEAVES,
    LOOP_LIST, LOOP_PATTERN, LOOP_REFERENCE, Reason,
};
use crate::ir::Role;
use crate::ir::effects::bound;
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_constant, is_plain_literal, is_primitive, is_pure_function};
use crate::syntax::mentions::{bare, has_let, is_compound, text};
use crate::syntax::walk;

impl Admit<'_, '_> {
    pub(super) fn lane(&mut self, expr: &Expr) -> bool {
        let admitted = self.admits(expr);
        self.noted(expr, admitted)
    }

    /// Whether an expression is admitted; if not, why is noted, unless something else was before.
    fn noted(&mut self, expr: &Expr, admitted: bool) -> bool {
        if !admitted && self.refused.is_none() {
            let (name, reason) = self.reason(bare(expr));
            self.refuse_named::<()>(expr, name, reason);
        }
        admitted
    }

    /// Why an expression is refused, if all that is in it is admitted.
    pub(super) fn reason(&self, expr: &Expr) -> (Option<String>, Reason) {
        let reason = match expr {
            Expr::Call(e) => {
                let name = matches!(&*e.func, Expr::Path(_)).then(|| text(&e.func));
                return (name, LOOP_CALLS);
            }
            Expr::MethodCall(e) => return (Some(e.method.to_string()), LOOP_CALLS_METHOD),
            Expr::Index(_) if self.in_place(expr).is_some() => LOOP_INDEX,
            Expr::Index(_) => LOOP_LIST,
            Expr::Path(_) if self.in_place(expr).is_some() => LOOP_ARRAY,
            Expr::Array(_) | Expr::Repeat(_) => LOOP_ARRAY,
            Expr::Field(_) => LOOP_FIELD,
            Expr::Reference(_) => LOOP_REFERENCE,
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => LOOP_REFERENCE,
            Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) => LOOP_INNER,
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_) => LOOP_LEAVES,
            _ => LOOP_CODE,
        };
        (None, reason)
    }

    pub(super) fn admits(&mut self, expr: &Expr) -> bool {
        let expr = bare(expr);
        if let Some(range) = counted(expr) {
            return [&range.start, &range.end].into_iter().flatten().all(|end| self.lane(end));
        }
        match expr {
            Expr::Lit(lit) => is_plain_literal(&lit.lit),
            Expr::Path(path) => match self.variable(expr) {
                Some(var) if self.uniforms.contains(&var) => self.known(var),
                Some(var) if self.is_shared(var) => self.leaf(expr),
                Some(var) if self.is_large(var) => self.part(expr),
                Some(var) if self.scope.lists.contains(&var) => false,
                Some(var) => !matches!(self.scope.program.var(var).role, Role::Result),
                None => is_constant(path) && self.leaf(expr),
            },
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                self.is_borrowed(&e.expr) || self.is_of_element(&e.expr)
            }
            Expr::Unary(e) => matches!(e.op, UnOp::Neg(_) | UnOp::Not(_)) && self.lane(&e.expr),
            // The right side first, as primitive types have it.
            Expr::Binary(e) if is_compound(&e.op) => self.lane(&e.right) && self.place(&e.left),
            Expr::Binary(e) => {
                !matches!(e.op, BinOp::And(_) | BinOp::Or(_) if has_let(expr))
                    && self.lane(&e.left)
                    && self.lane(&e.right)
            }
            Expr::Assign(e) => self.lane(&e.right) && self.place(&e.left),
            Expr::Cast(e) => is_primitive(&e.ty) && self.lane(&e.expr),
            Expr::Field(_) => self.field(expr, Self::lane),
            Expr::Index(_) if self.in_place(expr).is_some() => self.part(expr),
            Expr::Index(e) => self.index(e),
            Expr::MethodCall(e) if e.method == "len" && e.args.is_empty() => {
                self.array(&e.receiver).is_some()
                    || self.elements(&e.receiver).is_some()
                    || self.is_list(&e.receiver)
            }
            Expr::MethodCall(e) => {
                is_pure_method(&e.method) && self.lane(&e.receiver) && e.args.iter().all(|a| self.lane(a))
            }
            Expr::Call(e) => {
                matches!(&*e.func, Expr::Path(path) if is_pure_function(path))
                    && e.args.iter().all(|a| self.lane(a))
            }
            Expr::Tuple(e) => e.elems.iter().all(|e| self.lane(e)),
            Expr::Array(e) => e.elems.len() <= SMALL && e.elems.iter().all(|e| self.lane(e)),
            Expr::Repeat(e) => {
                let length = self.scope.names.trip_counts().number(&e.len);
                length.is_some_and(|n| n <= SMALL as u64) && self.lane(&e.expr)
            }
            Expr::If(e) => {
                !has_let(&e.cond)
                    && self.lane(&e.cond)
                    && self.block(&e.then_branch)
                    && e.else_branch.as_ref().is_none_or(|(_, e)| self.lane(e))
            }
            Expr::Block(e) => e.label.is_none() && e.attrs.is_empty() && self.block(&e.block),
            Expr::ForLoop(e) => self.small_loop(e),
            Expr::Macro(e) => e.mac.path.is_ident("cfg"),
            _ => false,
        }
    }

    pub(super) fn block(&mut self, block: &syn::Block) -> bool {
        block.stmts.iter().all(|stmt| self.lane_stmt(stmt, false))
    }

    /// A statement of lane code, which may leave the loop or the function if that is said.
    pub(super) fn lane_stmt(&mut self, stmt: &Stmt, may_leave: bool) -> bool {
        match stmt {
            Stmt::Local(local) => {
                let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_none()) else {
                    return self.refuse::<()>(local, LOOP_CODE).is_some();
                };
                if self.borrows(local) || self.takes_element(local) {
                    return true;
                }
                let vars = bound(&self.scope.names, &local.pat);
                if !names_only(&local.pat) || vars.iter().any(|v| self.is_large(*v)) {
                    return self.refuse::<()>(&local.pat, LOOP_PATTERN).is_some();
                }
                // What follows from a loop's counter.
                let known = self.leaves.len();
                if vars.iter().all(|v| !self.scope.program.var(*v).mutable) && self.uniform(&init.expr) {
                    self.uniforms.extend(vars);
                    return true;
                }
                self.leaves.truncate(known);
                self.value(&local.pat, &init.expr)
            }
            Stmt::Expr(e, _) if may_leave => match (bare(e), returned(self.scope.program, e)) {
                (Expr::Break(e), _) => {
                    let leaves = self.may_break && e.label.is_none() && e.expr.is_none();
                    self.left.extend(leaves.then_some(self.innermost));
                    leaves
                }
                (_, Some(value)) => {
                    self.returns = true;
                    self.result(value)
                }
                (branches @ Expr::If(e), _) if !has_let(&e.cond) && walk::any(branches, is_exit) => {
                    self.branches(e)
                }
                _ => self.lane(e),
            },
            Stmt::Expr(e, _) => self.lane(e),
            _ => false,
        }
    }

    /// What a lane returns: a number, or `Option`s and `Result`s of such.
    pub(super) fn result(&mut self, value: &Expr) -> bool {
        match bare(value) {
            Expr::Path(p) if p.path.is_ident("None") => true,
            Expr::Call(e) => match (&*e.func, e.args.first()) {
                (Expr::Path(p), Some(value))
                    if ["Some", "Ok", "Err"].iter().any(|name| p.path.is_ident(name)) =>
                {
                    self.result(value)
                }
                _ => self.lane(value),
            },
            value => self.lane(value),
        }
    }

    /// An `if` that has no value, and in which lanes leave the loop or the function. What stands behind a `break` would not be for lanes
    /// that have left.
    pub(super) fn branches(&mut self, e: &syn::ExprIf) -> bool {
        let mut branch = |block: &syn::Block| {
            let has_value = match block.stmts.last() {
                Some(Stmt::Expr(e, None)) => {
                    returned(self.scope.program, e).is_none()
                        && !matches!(e, Expr::If(_) | Expr::ForLoop(_) | Expr::Assign(_) | Expr::Break(_))
                }
                _ => false,
            };
            let leaves_last = block.stmts.iter().rev().skip(1).all(|stmt| !breaks(stmt));
            !has_value && leaves_last && block.stmts.iter().all(|stmt| self.lane_stmt(stmt, true))
        };
        let branches = branch(&e.then_branch)
            && match &e.else_branch {
                Some((_, other)) => match &**other {
                    Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => branch(&e.block),
                    Expr::If(e) if !has_let(&e.cond) => self.branches(e),
                    _ => false,
                },
                None => true,
            };
        branches && self.lane(&e.cond)
    }

    /// A loop of a few trips, which LLVM unrolls before it vectorises.
    pub(super) fn small_loop(&mut self, e: &syn::ExprForLoop) -> bool {
        if !self.scope.names.trip_counts().is_short_range(&e.expr)
            || e.label.is_some()
            || !e.attrs.is_empty()
            || !names_only(&e.pat)
            || e.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Expr(Expr::ForLoop(_), _)))
        {
            return false;
        }
        let Some(counters) = self.counters(e) else { return false };
        self.uniforms.extend(counters);
        let may_break = std::mem::replace(&mut self.may_break, false);
        let admitted = e.body.stmts.iter().all(|stmt| match skips(stmt) {
            Some(condition) => self.lane(condition),
            None => self.lane_stmt(stmt, true),
        });
        self.may_break = may_break;
        admitted
    }

    /// A slice of the member's own.
    pub(super) fn is_list(&self, expr: &Expr) -> bool {
        self.variable(expr).is_some_and(|var| self.scope.lists.contains(&var))
    }

    pub(super) fn index(&mut self, e: &syn::ExprIndex) -> bool {
        match self.array(&e.expr) {
            Some(_) => self.lane(&e.index),
            None if self.is_list(&e.expr) => self.lane(&e.index),
            None => {
                let element = Expr::Index(e.clone());
                self.element(e, Self::lane) && indexed(&element).1.into_iter().all(|index| self.lane(index))
            }
        }
    }

    /// What may stand on the left of an assignment.
    pub(super) fn place(&mut self, place: &Expr) -> bool {
        let admitted = self.is_assignable(place);
        self.noted(place, admitted)
    }

    pub(super) fn is_assignable(&mut self, place: &Expr) -> bool {
        let place = bare(place);
        match place {
            Expr::Path(_) => {
                let var = self.variable(place);
                self.varying.extend(var.filter(|var| self.uniforms.contains(var)));
                var.is_some_and(|var| self.scope.program.var(var).mutable && !self.is_large(var))
            }
            Expr::Index(_) if self.in_place(place).is_some() => {
                let (_, array, indices) = self.in_place(place).expect("it is one");
                indices.len() == array.lengths.len() && self.part(place)
            }
            Expr::Index(e) => self.array(&e.expr).is_some() && self.index(e),
            _ => false,
        }
    }
}
