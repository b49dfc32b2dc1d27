//! Which values are the same for every member, as far as the front end can tell.
//!
//! The roots are literals, constants and shared parameters; a value computed from such values only is
//! uniform, and so are the pattern variables of a `for` loop over one. A `for` over a uniform iterator
//! stays whole inside the lane code, which is right for any loop and fast for those whose trip count is
//! the same in all lanes; so imprecision costs time only.

use syn::Expr;
use syn::visit::{self, Visit};

use super::Lowering;
use crate::effects::{bound, variable};
use crate::ir::VarSet;

/// Whether an expression is built from literals, constants, shared parameters and `uniforms` only.
pub(super) fn is_uniform(lower: &Lowering<'_>, uniforms: &VarSet, expr: &Expr) -> bool {
    struct Scan<'a, 'b>(&'a Lowering<'b>, &'a VarSet, bool);
    impl<'ast> Visit<'ast> for Scan<'_, '_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Path(_) => {
                    if let Some(id) = variable(&self.0.names, expr) {
                        let var = self.0.program.var(id);
                        self.2 &= !var.mutable && (var.shared || self.1.contains(&id));
                    }
                }
                Expr::Closure(_) | Expr::Macro(_) | Expr::Block(_) | Expr::If(_) | Expr::Match(_) => {
                    self.2 = false;
                }
                _ => visit::visit_expr(self, expr),
            }
        }
    }
    let mut scan = Scan(lower, uniforms, true);
    scan.visit_expr(expr);
    scan.2
}

/// The variables that a `let` makes uniform.
pub(super) fn defines(lower: &Lowering<'_>, uniforms: &VarSet, local: &syn::Local) -> VarSet {
    match &local.init {
        Some(init) if init.diverge.is_none() && is_uniform(lower, uniforms, &init.expr) => {
            let mut vars = bound(&lower.names, &local.pat);
            vars.retain(|var| !lower.program.var(*var).mutable);
            vars
        }
        _ => VarSet::new(),
    }
}
