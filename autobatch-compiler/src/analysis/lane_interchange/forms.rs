//! Forms of statements and expressions that the walk knows.

use syn::{Expr, Pat, Stmt};

use crate::ir::{Program, goto_target};
use crate::std_models::pure::is_swap;
use crate::syntax::mentions::{bare, has_let};
use crate::syntax::walk::{self, At, Code, Next};

/// What an expression indexes, and the indices, the first first: `a` and `i`, `j` of `a[i][j]`.
pub fn indexed(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    match bare(expr) {
        Expr::Index(e) => {
            let (root, mut indices) = indexed(&e.expr);
            indices.push(&e.index);
            (root, indices)
        }
        root => (root, vec![]),
    }
}

/// What a lane returns from the function: `return value`, or what that is lowered to.
pub fn returned<'e>(program: &Program, expr: &'e Expr) -> Option<&'e Expr> {
    match expr {
        Expr::Return(e) => e.expr.as_deref(),
        Expr::Block(e) => match &e.block.stmts[..] {
            [Stmt::Local(local), Stmt::Expr(Expr::Macro(mac), _)] => {
                let target = goto_target(&mac.mac).filter(|target| program.is_exit(*target));
                target.and(local.init.as_ref()).map(|init| &*init.expr)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether code may leave a piece that way.
pub(super) fn is_exit(at: At<'_>) -> bool {
    matches!(at, At::Expr(Expr::Return(_) | Expr::Macro(_) | Expr::Break(_)))
}

/// Whether a `break` in the body of a loop ends that loop.
pub(crate) fn breaks<C: Code + ?Sized>(body: &C) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Break(e)) if e.label.is_none() => Next::Found,
        At::Expr(Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Closure(_)) => Next::Past,
        _ => Next::On,
    })
}

/// The condition under which a statement skips the rest of a round: `if c { continue; }`.
pub(super) fn skips(stmt: &Stmt) -> Option<&Expr> {
    only_if(stmt, |e| matches!(e, Expr::Continue(c) if c.label.is_none() && c.attrs.is_empty()))
}

/// The condition under which a statement ends the loop: `if c { break; }`.
pub(super) fn ends(stmt: &Stmt) -> Option<&Expr> {
    let is_end =
        |e: &Expr| matches!(e, Expr::Break(b) if b.label.is_none() && b.expr.is_none() && b.attrs.is_empty());
    only_if(stmt, is_end)
}

/// The condition of an `if` that does nothing else than such an expression.
fn only_if(stmt: &Stmt, does: impl Fn(&Expr) -> bool) -> Option<&Expr> {
    let Stmt::Expr(Expr::If(e), _) = stmt else { return None };
    let only = match &e.then_branch.stmts[..] {
        [Stmt::Expr(e, _)] => does(e),
        _ => false,
    };
    (only && e.else_branch.is_none() && e.attrs.is_empty() && !has_let(&e.cond)).then_some(&e.cond)
}

/// A pattern that only gives names: `x`, `(i, w)`, `_`.
pub(super) fn names_only(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.subpat.is_none(),
        Pat::Type(p) => names_only(&p.pat),
        Pat::Tuple(p) => p.elems.iter().all(names_only),
        Pat::Slice(p) => p.elems.iter().all(names_only),
        Pat::Paren(p) => names_only(&p.pat),
        Pat::Reference(p) => p.mutability.is_none() && names_only(&p.pat),
        Pat::Wild(_) => true,
        _ => false,
    }
}

/// Whether a call is the language's copy of a slice: a method of `[T]`, on a range of something.
pub(super) fn is_slice_copy(e: &syn::ExprMethodCall) -> bool {
    let of_range = |e: &Expr| matches!(indexed(e).1.last(), Some(Expr::Range(_)));
    e.method == "copy_from_slice" && e.args.len() == 1 && of_range(&e.receiver)
}

/// The places that a call of std's `swap` exchanges.
pub(crate) fn swapped(expr: &Expr) -> Option<[&Expr; 2]> {
    let Expr::Call(call) = bare(expr) else { return None };
    fn place(arg: &Expr) -> Option<&Expr> {
        match bare(arg) {
            Expr::Reference(e) if e.mutability.is_some() => Some(&e.expr),
            _ => None,
        }
    }
    let is_swap = matches!(&*call.func, Expr::Path(path) if is_swap(path));
    match (is_swap, call.args.len()) {
        (true, 2) => Some([place(&call.args[0])?, place(&call.args[1])?]),
        _ => None,
    }
}
