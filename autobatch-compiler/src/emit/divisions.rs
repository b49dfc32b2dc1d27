//! Divisions in lane code whose operands no lane has for itself: LLVM 22 must not make vectors around them.
//!
//! A division that only some lanes make, because it stands under a condition, LLVM makes lane by lane. Where it sees that the operands are
//! the same for all lanes it then keeps the first lane's only (the loop vectoriser's narrowing to single scalars), and
//! if that lane does not divide, what the others get is junk, or an index into nowhere. Safe code is compiled wrongly in just the same way
//! (rustc 1.95, `-C target-cpu=znver4`):
//!
//! ```text
//! for l in 0..64 { if on[l] && !xs.is_empty() { out[l] ^= xs[8 % xs.len()] } }
//! ```
//!
//! So their divisors go through the runtime's `same_for_all`: a loop with it has no vectors, unless the numbers are floats, of which no
//! division has to be left out. In functions that the macro does not see LLVM does what it does to scalar code.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Pat, Stmt, parse_quote};

use super::Emitter;
use crate::ir::{FuncId, Program, Terminator};
use crate::lockstep::is_compound;
use crate::mentions::roots;
use crate::vector_math::Rewrite;

/// What is done to the code of ops and terminators before it stands in a loop over lanes.
pub(super) struct LaneCode<'e, 'a> {
    math: Option<Rewrite<'e, 'a>>,
    divisions: Divisions<'e>,
}

impl<'a> Emitter<'a> {
    pub(super) fn lane_code(&self, func: FuncId) -> LaneCode<'_, 'a> {
        let divisions = Divisions { varying: &self.varying[func.0], rt: &self.rt };
        LaneCode { math: self.vector_math(func), divisions }
    }
}

/// The names of a function's variables that hold something of the lane's own: parameters, results of calls, what is made of
/// them. Not what depends on them by its control flow only: that LLVM may see through.
pub(super) fn varying(program: &Program, func: FuncId) -> BTreeSet<String> {
    let mut varying: BTreeSet<String> = BTreeSet::new();
    let mut made = Made(Vec::new());
    let params = program.func(func).params.iter().map(|v| program.var(*v));
    varying.extend(params.filter(|v| !v.shared && !v.is_uniform()).map(|v| v.ident.to_string()));
    for block in program.blocks.iter().filter(|block| block.func == func) {
        block.ops.iter().flat_map(|op| &op.code).for_each(|stmt| made.visit_stmt(stmt));
        match &block.term {
            Terminator::Branch { cond, .. } => made.visit_expr(cond),
            Terminator::Switch { scrutinee, arms, .. } => {
                made.visit_expr(scrutinee);
                for arm in arms {
                    made.of(bound([&arm.pat]), mentioned(scrutinee));
                    arm.guard.iter().for_each(|guard| made.visit_expr(guard));
                }
            }
            Terminator::Call(call) => _ = varying.insert(program.var(call.dest).ident.to_string()),
            _ => {}
        }
    }
    let mut before = 0;
    while before < varying.len() {
        before = varying.len();
        for (to, from) in &made.0 {
            if !from.is_disjoint(&varying) {
                varying.extend(to.iter().cloned());
            }
        }
    }
    varying
}

/// Names that get a value, and those that it is made of.
struct Made(Vec<(BTreeSet<String>, BTreeSet<String>)>);

impl Made {
    fn of(&mut self, to: BTreeSet<String>, from: BTreeSet<String>) {
        self.0.push((to, from));
    }
}

impl<'ast> Visit<'ast> for Made {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            self.of(bound([&local.pat]), mentioned(&init.expr));
        }
        visit::visit_local(self, local);
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(e) => self.of(roots(&e.left).into_iter().collect(), mentioned(&e.right)),
            Expr::Binary(e) if is_compound(&e.op) => {
                self.of(roots(&e.left).into_iter().collect(), mentioned(&e.right))
            }
            Expr::Let(e) => self.of(bound([&*e.pat]), mentioned(&e.expr)),
            Expr::ForLoop(e) => self.of(bound([&*e.pat]), mentioned(&e.expr)),
            Expr::Match(e) => self.of(bound(e.arms.iter().map(|arm| &arm.pat)), mentioned(&e.expr)),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// The names that patterns bind.
fn bound<'p>(pats: impl IntoIterator<Item = &'p Pat>) -> BTreeSet<String> {
    struct Bound(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.0.insert(pat.ident.to_string());
            visit::visit_pat_ident(self, pat);
        }
    }
    let mut bound = Bound(BTreeSet::new());
    pats.into_iter().for_each(|pat| bound.visit_pat(pat));
    bound.0
}

/// The variables that an expression mentions.
fn mentioned(expr: &Expr) -> BTreeSet<String> {
    struct Mentioned(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Mentioned {
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            self.0.extend(path.path.get_ident().map(ToString::to_string));
        }
    }
    let mut mentioned = Mentioned(BTreeSet::new());
    mentioned.visit_expr(expr);
    mentioned.0
}

impl LaneCode<'_, '_> {
    pub(super) fn stmt(&mut self, stmt: &mut Stmt) {
        self.divisions(stmt);
        self.math(stmt);
    }

    /// The first half: the code has its variables' names still.
    pub(super) fn divisions(&mut self, stmt: &mut Stmt) {
        self.divisions.visit_stmt_mut(stmt);
    }

    pub(super) fn math(&mut self, stmt: &mut Stmt) {
        if let Some(math) = &mut self.math {
            math.visit_stmt_mut(stmt);
        }
    }

    pub(super) fn expr(&mut self, expr: &mut Expr) {
        self.divisions.visit_expr_mut(expr);
        if let Some(math) = &mut self.math {
            math.visit_expr_mut(expr);
        }
    }
}

struct Divisions<'e> {
    /// Names of what a lane has for itself.
    varying: &'e BTreeSet<String>,
    rt: &'e TokenStream,
}

impl Divisions<'_> {
    fn varies(&self, expr: &Expr) -> bool {
        !mentioned(expr).is_disjoint(self.varying)
    }

    /// The divisor of a division that may be the same for all lanes.
    fn same<'x>(&self, expr: &'x mut Expr) -> Option<&'x mut Expr> {
        let (dividend, divisor) = match expr {
            Expr::Binary(e) => match e.op {
                BinOp::Div(_) | BinOp::Rem(_) | BinOp::DivAssign(_) | BinOp::RemAssign(_) => {
                    (&e.left, &mut *e.right)
                }
                _ => return None,
            },
            Expr::MethodCall(e) if divides(&e.method.to_string()) => (&e.receiver, e.args.first_mut()?),
            _ => return None,
        };
        (!is_literal(divisor) && !self.varies(dividend) && !self.varies(divisor)).then_some(divisor)
    }
}

/// Whether a number's method of that name divides by its argument.
fn divides(method: &str) -> bool {
    method.split('_').any(|word| matches!(word, "div" | "rem" | "multiple" | "ilog"))
}

/// A literal is not 0, or rustc says so.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Paren(e) => is_literal(&e.expr),
        Expr::Group(e) => is_literal(&e.expr),
        Expr::Unary(e) => is_literal(&e.expr),
        Expr::Cast(e) => is_literal(&e.expr),
        _ => false,
    }
}

impl VisitMut for Divisions<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Some(divisor) = self.same(expr) {
            let rt = self.rt;
            *divisor = parse_quote!(#rt::same_for_all(#divisor));
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use quote::quote;

    fn kept_from_vectors(body: proc_macro2::TokenStream) -> bool {
        let item = quote!(
            fn f(x: u64, on: bool, #[shared] n: u64, xs: &[u64]) -> u64 { if on { #body } else { x } }
        );
        crate::driver::autobatch(quote!(), item).to_string().contains("same_for_all")
    }

    #[test]
    fn divisions_of_what_all_lanes_have_are() {
        for body in [
            quote!(if xs.is_empty() { 0 } else { xs[8 % xs.len()] }),
            quote!(if n == 0 { x } else { x + 7 / n }),
            quote!(x + n.checked_rem(n - 1).unwrap_or(3)),
            quote!({
                let mut m = n;
                m %= n;
                x + m
            }),
            quote!(match x {
                0 => 4,
                _ if n == 3 => x,
                y => y + 8 / n,
            }),
        ] {
            assert!(kept_from_vectors(body.clone()), "{body}");
        }
    }

    #[test]
    fn others_are_not() {
        for body in [
            quote!(if n == 0 { x } else { x / n }),
            quote!(if x == 0 { x } else { n / x }),
            quote!(x + n / 10 + n % (2 as u64)),
            quote!(if xs.is_empty() { 0 } else { xs[x as usize % xs.len()] }),
        ] {
            assert!(!kept_from_vectors(body.clone()), "{body}");
        }
    }
}
