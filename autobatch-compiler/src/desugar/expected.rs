//! The type that a place expects of an expression, as far as the code says it.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, GenericArgument, PathArguments, Stmt, Type};

use super::Rewrite;

impl Rewrite<'_> {
    /// Rewrites a block whose value has the type `ty`.
    pub(super) fn block(&mut self, block: &mut Block, ty: Option<&Type>) {
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter_mut().enumerate() {
            match stmt {
                Stmt::Expr(expr, None) if i == last => self.expr(expr, ty),
                other => self.visit_stmt_mut(other),
            }
        }
    }
}

/// Rewrites what stands in an expression of the type `ty`.
pub(super) fn children(rewrite: &mut Rewrite<'_>, expr: &mut Expr, ty: Option<&Type>) {
    match expr {
        Expr::Paren(e) => rewrite.expr(&mut e.expr, ty),
        Expr::Group(e) => rewrite.expr(&mut e.expr, ty),
        Expr::Block(e) => rewrite.block(&mut e.block, ty),
        Expr::If(e) => {
            rewrite.expr(&mut e.cond, None);
            rewrite.block(&mut e.then_branch, ty);
            if let Some((_, otherwise)) = &mut e.else_branch {
                rewrite.expr(otherwise, ty);
            }
        }
        Expr::Match(e) => {
            rewrite.expr(&mut e.expr, None);
            for arm in &mut e.arms {
                rewrite.visit_pat_mut(&mut arm.pat);
                rewrite.expr(&mut arm.body, ty);
            }
        }
        Expr::Call(e) if e.args.len() == 1 => {
            let inner = ty.and_then(|ty| of_constructor(&e.func, ty)).cloned();
            rewrite.expr(&mut e.args[0], inner.as_ref());
        }
        other => visit_mut::visit_expr_mut(rewrite, other),
    }
}

/// The type of `x` in `Some(x)`, `Ok(x)`, `Err(x)` of the type `ty`.
fn of_constructor<'a>(func: &Expr, ty: &'a Type) -> Option<&'a Type> {
    let Expr::Path(path) = func else { return None };
    let name = path.path.get_ident()?.to_string();
    let (of, nth) = match name.as_str() {
        "Some" => ("Option", 0),
        "Ok" => ("Result", 0),
        "Err" => ("Result", 1),
        _ => return None,
    };
    generic_argument(ty, of, nth)
}

/// The nth type argument of a type called `name`.
pub(super) fn generic_argument<'a>(ty: &'a Type, name: &str, nth: usize) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    args.args
        .iter()
        .filter_map(|arg| match arg {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
        .nth(nth)
}
