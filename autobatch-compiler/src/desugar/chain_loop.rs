//! The loop that a chain becomes.

use syn::{Expr, Lifetime, Stmt, parse_quote};

/// What the code of one element needs to know of the loop around it.
pub(super) struct Loop {
    /// Leaves the loop.
    pub(super) stop: Lifetime,
    pub(super) stops: bool,
    /// What stands before the loop.
    pub(super) before: Vec<Stmt>,
    /// Where one of these is false, no element is asked for.
    pub(super) asks: Vec<Expr>,
}

/// `break` out of the loop.
pub(super) fn stop(around: &mut Loop) -> Expr {
    around.stops = true;
    let stop = &around.stop;
    parse_quote!({ break #stop; })
}

/// An expression as it can stand before a `{`.
pub(super) fn condition(expr: Expr) -> Expr {
    match expr {
        Expr::Path(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Unary(_) => expr,
        other => parse_quote!((#other)),
    }
}

/// Whether an expression can be evaluated before what stands left of it: it neither fails nor reads anything that
/// might change.
pub(crate) fn is_quiet(expr: &Expr) -> bool {
    match crate::syntax::mentions::bare(expr) {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => true,
        Expr::Unary(e) => {
            matches!(e.op, syn::UnOp::Neg(_)) && matches!(*e.expr, Expr::Lit(_) | Expr::Path(_))
        }
        Expr::Tuple(e) => e.elems.iter().all(is_quiet),
        Expr::Array(e) => e.elems.iter().all(is_quiet),
        Expr::Repeat(e) => is_quiet(&e.expr) && is_quiet(&e.len),
        Expr::Macro(m) => m.mac.path.is_ident("vec") && m.mac.tokens.is_empty(),
        Expr::Call(e) => {
            let Expr::Path(func) = &*e.func else { return false };
            let last = func.path.segments.last().map(|s| s.ident.to_string());
            match last.as_deref() {
                Some("new" | "default") => e.args.is_empty(),
                Some("Some" | "Ok" | "Err") => e.args.iter().all(is_quiet),
                _ => false,
            }
        }
        _ => false,
    }
}
