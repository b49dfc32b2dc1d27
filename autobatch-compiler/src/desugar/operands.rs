//! The operands of an expression in the order in which they are evaluated.

use syn::{BinOp, Expr, UnOp};

use crate::syntax::mentions::{bare, is_compound};

/// The operands that are evaluated once and before anything else is done; none where one of them is a place.
pub(super) fn operands(expr: &mut Expr) -> Option<Vec<&mut Expr>> {
    let is_place = |expr: &Expr| matches!(expr, Expr::Path(_));
    Some(match expr {
        Expr::Lit(_) | Expr::Path(_) => vec![],
        Expr::Paren(e) => vec![&mut e.expr],
        Expr::Group(e) => vec![&mut e.expr],
        Expr::Unary(e) => match e.op {
            UnOp::Neg(_) | UnOp::Not(_) => vec![&mut e.expr],
            _ => return None,
        },
        Expr::Cast(e) => vec![&mut e.expr],
        // Of a value, not of a place.
        Expr::Field(e) if matches!(bare(&e.base), Expr::MethodCall(_) | Expr::Call(_)) => vec![&mut e.base],
        Expr::Assign(e) => match is_place(&e.left) {
            true => vec![&mut e.right],
            false => return None,
        },
        Expr::Binary(e) => match &e.op {
            // The other may be left out.
            BinOp::And(_) | BinOp::Or(_) => vec![&mut e.left],
            // Of numbers the right side comes first.
            op if is_compound(op) && is_place(&e.left) => vec![&mut e.right],
            op if is_compound(op) => return None,
            _ => vec![&mut e.left, &mut e.right],
        },
        Expr::Tuple(e) => e.elems.iter_mut().collect(),
        Expr::Array(e) => e.elems.iter_mut().collect(),
        Expr::Struct(e) if e.rest.is_none() => e.fields.iter_mut().map(|field| &mut field.expr).collect(),
        Expr::MethodCall(e) => std::iter::once(&mut *e.receiver).chain(&mut e.args).collect(),
        Expr::Call(e) => match is_place(&e.func) {
            true => e.args.iter_mut().collect(),
            false => return None,
        },
        Expr::Let(e) => vec![&mut e.expr],
        Expr::If(e) => vec![&mut e.cond],
        Expr::Match(e) => vec![&mut e.expr],
        Expr::Return(e) => e.expr.iter_mut().map(|e| &mut **e).collect(),
        _ => return None,
    })
}
