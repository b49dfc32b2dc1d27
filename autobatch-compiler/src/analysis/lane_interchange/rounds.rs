//! Loops whose rounds are counted before they run: `let n = rounds(&(a..b)); for i in steps(a..b, n) { … }`.

use syn::{Expr, ExprRange};

use crate::syntax::mentions::bare;

/// The range that is counted, if an expression counts one.
pub fn counted(expr: &Expr) -> Option<&ExprRange> {
    let Expr::Reference(range) = called(expr, "rounds")?.first()? else { return None };
    as_range(&range.expr)
}

/// The range that a loop runs through, and the number of its rounds, if they are counted.
pub fn steps(expr: &Expr) -> Option<(&ExprRange, &Expr)> {
    let args = called(expr, "steps")?;
    Some((as_range(args.first()?)?, args.get(1)?))
}

fn as_range(expr: &Expr) -> Option<&ExprRange> {
    match bare(expr) {
        Expr::Range(range) => Some(range),
        _ => None,
    }
}

/// The arguments of a call of one of the lowering's own functions.
fn called<'e>(expr: &'e Expr, name: &str) -> Option<&'e syn::punctuated::Punctuated<Expr, syn::Token![,]>> {
    let Expr::Call(call) = bare(expr) else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let mut segments = path.path.segments.iter().rev().map(|segment| &segment.ident);
    let is_own =
        segments.next()? == name && segments.next()? == "lane_interchange" && segments.next()? == "__rt";
    is_own.then_some(&call.args)
}
