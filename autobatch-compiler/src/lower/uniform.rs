//! Which values are the same for every member, as far as the front end can tell.
//!
//! The roots are literals, constants and shared parameters; a value computed from such values only is
//! uniform, and so are the pattern variables of a `for` loop over one. A `for` over a uniform iterator
//! stays whole inside the lane code, which is right for any loop and fast for those whose trip count is
//! the same in all lanes; so imprecision costs time only.

use syn::Expr;

use super::Lowering;
use crate::effects::{bound, variable};
use crate::ir::VarSet;
use crate::walk::{self, At, Next};

/// Whether an expression is built from literals, constants, shared parameters and `uniforms` only.
pub(super) fn is_uniform(lower: &Lowering<'_>, uniforms: &VarSet, expr: &Expr) -> bool {
    !walk::any(expr, |at| match at {
        At::Expr(path @ Expr::Path(_)) => match variable(&lower.names, path) {
            Some(id) if lower.program.var(id).mutable => Next::Found,
            Some(id) if !lower.program.var(id).shared && !uniforms.contains(&id) => Next::Found,
            _ => Next::Past,
        },
        At::Expr(Expr::Closure(_) | Expr::Macro(_) | Expr::Block(_) | Expr::If(_) | Expr::Match(_)) => {
            Next::Found
        }
        _ => Next::On,
    })
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
