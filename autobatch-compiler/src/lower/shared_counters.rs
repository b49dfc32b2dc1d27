//! Counters that all lanes in a loop share, although they leave it at different times.
//!
//! ```text
//! let mut j = i;                        let mut j = i;
//! while j > 0 && a[j - 1] > x {         for at in endless(i, |at| at - 1) {
//!     a[j] = a[j - 1];           ──▶        if !(at > 0 && a[at - 1] > x) { break; }
//!     j -= 1;                               a[at] = a[at - 1];
//! }                                         let next = at - 1;
//! a[j] = x;                                 j = next;
//!                                       }
//!                                       a[j] = x;
//! ```
//!
//! The lanes that are in the loop have all counted as far, so an element that they look up by the counter is a row. The user's variable stays
//! where the lane has left.
//!
//! **Invariant:** while a lane is in the loop, its variable has the counter's value.

use proc_macro2::Ident;
use syn::{BinOp, Expr, Lit, Pat, Stmt, parse_quote};

use crate::analysis::lane_interchange::assigned;
use crate::analysis::uniform_values;
use crate::ir::effects::{self, variable};
use crate::ir::{VarId, VarSet};
use crate::lower::lowering::Lowering;
use crate::resolve::types::is_number;
use crate::std_models::pure::{is_constant, literal};
use crate::syntax::mentions::{bare, untyped};
use crate::syntax::walk::{self, At, AtMut};

/// A counter of a loop.
pub(super) struct SharedCounter {
    /// What the rounds begin with.
    pub(super) at: Ident,
    /// Its first value, the same for all lanes.
    pub(super) first: Expr,
    /// The next round's value, of `at`.
    pub(super) next: Expr,
    /// The user's variable, and what it is called where the rewriting stands.
    var: VarId,
    now: Ident,
}

impl Lowering<'_> {
    /// The counters of a loop with this body behind these statements, and the body with them in the place of the user's variables.
    pub(super) fn share_counters(
        &mut self,
        body: &[Stmt],
        before: &[Stmt],
        uniforms: &VarSet,
    ) -> (Vec<SharedCounter>, Vec<Stmt>) {
        let mut counters: Vec<SharedCounter> = Vec::new();
        if walk::any(body, |at| matches!(at, At::Expr(Expr::Continue(_)))) {
            return (counters, body.to_vec());
        }
        let updated: Vec<VarId> = body.iter().filter_map(|stmt| Some(self.update(stmt)?.0)).collect();
        for var in updated {
            if counters.iter().any(|counter| counter.var == var) || !self.only_counts(var, body) {
                continue;
            }
            let Some(first) = self.first_value(var, before, uniforms) else { continue };
            let (_, at) = self.temp("at", None);
            counters.push(SharedCounter { first, next: parse_quote!(#at), var, now: at.clone(), at });
        }
        let mut stmts = Vec::new();
        for mut stmt in body.iter().cloned() {
            let updated = self.update(&stmt).map(|(var, op, by)| (var, op, by.clone()));
            let counter = updated.and_then(|(var, op, by)| {
                let counter = counters.iter_mut().find(|counter| counter.var == var)?;
                Some((counter, op, by))
            });
            if let Some((counter, op, by)) = counter {
                let (_, next) = self.temp("next", None);
                let (ident, now) = (&self.program.var(counter.var).ident, &counter.now);
                stmts.push(parse_quote!(let #next = #now #op #by;));
                stmts.push(parse_quote!(#ident = #next;));
                let value = &counter.next;
                counter.next = parse_quote!((#value #op #by));
                counter.now = next;
                continue;
            }
            walk::map(&mut stmt, |at| {
                if let AtMut::Expr(expr) = at
                    && let Some(counter) =
                        counters.iter().find(|c| variable(&self.names, expr) == Some(c.var))
                {
                    let now = &counter.now;
                    *expr = parse_quote!(#now);
                }
            });
            stmts.push(stmt);
        }
        (counters, stmts)
    }

    /// The variable that a statement counts up or down, the operator, and by how much.
    fn update<'s>(&self, stmt: &'s Stmt) -> Option<(VarId, BinOp, &'s Expr)> {
        let Stmt::Expr(Expr::Binary(e), _) = stmt else { return None };
        let op = match e.op {
            BinOp::AddAssign(_) => BinOp::Add(Default::default()),
            BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
            BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
            _ => return None,
        };
        let is_known = match bare(&e.right) {
            Expr::Path(path) => variable(&self.names, &e.right).is_none() && is_constant(path),
            other => literal(other).is_some(),
        };
        Some((variable(&self.names, &e.left).filter(|_| is_known)?, op, &e.right))
    }

    /// Whether the statements of a body change a variable in no other way.
    fn only_counts(&self, var: VarId, body: &[Stmt]) -> bool {
        let others = body.iter().filter(|stmt| self.update(stmt).is_none_or(|(other, ..)| other != var));
        others.into_iter().all(|stmt| !assigned(&self.names, std::slice::from_ref(stmt)).contains(&var))
    }

    /// What the `let` of a variable gives it, if that is the same for all lanes and what it is behind these statements.
    fn first_value(&self, var: VarId, before: &[Stmt], uniforms: &VarSet) -> Option<Expr> {
        let last = before.iter().rfind(|stmt| effects::of(&self.names, *stmt).mentions.contains(&var))?;
        let Stmt::Local(local) = last else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let first = self.part_of(var, &local.pat, &init.expr)?;
        let is_number = match bare(first) {
            Expr::Lit(lit) => matches!(lit.lit, Lit::Int(_)),
            _ => self.type_of(var).is_some_and(is_number),
        };
        let is_same = uniform_values::is_uniform(&self.program, &self.names, uniforms, first);
        (is_number && is_same).then(|| first.clone())
    }

    /// The part of a value that a pattern gives a variable.
    fn part_of<'e>(&self, var: VarId, pat: &Pat, value: &'e Expr) -> Option<&'e Expr> {
        match (untyped(pat), bare(value)) {
            (Pat::Ident(p), value) => (self.names.get(&p.ident.to_string()) == Some(&var)).then_some(value),
            (Pat::Tuple(p), Expr::Tuple(e)) if p.elems.len() == e.elems.len() => {
                p.elems.iter().zip(&e.elems).find_map(|(pat, value)| self.part_of(var, pat, value))
            }
            _ => None,
        }
    }
}
