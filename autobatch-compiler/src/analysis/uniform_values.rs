//! Which values are the same for every member, as far as the front end can tell.
//!
//! The roots are literals, constants and shared parameters; a value computed from such values only is
//! uniform, and so are the pattern variables of a `for` loop over one. A `for` over a uniform iterator
//! stays whole inside the lane code, which is right for any loop and fast for those whose trip count is
//! the same in all lanes; so imprecision costs time only.

use syn::Expr;

use crate::ir::effects::{Names, bound, variable};
use crate::ir::{Program, VarSet};
use crate::syntax::walk::{self, At, Next};

/// Whether an expression is built from literals, constants, shared parameters and `uniforms` only.
pub(crate) fn is_uniform(program: &Program, names: &Names, uniforms: &VarSet, expr: &Expr) -> bool {
    !walk::any(expr, |at| match at {
        At::Expr(path @ Expr::Path(_)) => match variable(names, path) {
            Some(id) if program.var(id).mutable => Next::Found,
            Some(id) if !program.var(id).shared && !uniforms.contains(&id) => Next::Found,
            _ => Next::Past,
        },
        At::Expr(Expr::Closure(_) | Expr::Macro(_) | Expr::Block(_) | Expr::If(_) | Expr::Match(_)) => {
            Next::Found
        }
        _ => Next::On,
    })
}

/// The variables that a `let` makes uniform.
pub(crate) fn defines(program: &Program, names: &Names, uniforms: &VarSet, local: &syn::Local) -> VarSet {
    match &local.init {
        Some(init) if init.diverge.is_none() && is_uniform(program, names, uniforms, &init.expr) => {
            let mut vars = bound(names, &local.pat);
            vars.retain(|var| !program.var(*var).mutable);
            vars
        }
        _ => VarSet::new(),
    }
}
