//! Loops whose rounds are counted before they run: `let n = rounds(&(a..b)); for i in steps(a..b, n) { … }`.

use syn::{Expr, ExprRange};

use crate::syntax::mentions::bare;

/// The range that is counted, if an expression counts one.
pub fn counted(expr: &Expr) -> Option<&ExprRange> {
    let Expr::Reference(range) = called(expr, "rounds")?.first()? else { return None };
    as_range(&range.expr)
}

/// What a loop goes over whose rounds are counted: `steps(a..b, n)`, `steps((a..b).rev(), n)`.
#[derive(Clone, Copy)]
pub struct Steps<'e> {
    /// The range, or what turns it round.
    pub items: &'e Expr,
    /// The range.
    pub range: &'e ExprRange,
    /// The number of rounds.
    pub rounds: &'e Expr,
}

impl Steps<'_> {
    /// Whether it goes from the end of the range to its start.
    pub fn is_reversed(self) -> bool {
        as_range(self.items).is_none()
    }
}

/// What a loop goes over, if its rounds are counted.
pub fn steps(expr: &Expr) -> Option<Steps<'_>> {
    let args = called(expr, "steps")?;
    let (items, rounds) = (args.first()?, args.get(1)?);
    let range = as_range(items).or_else(|| reversed(items))?;
    Some(Steps { items, range, rounds })
}

/// The range that an expression turns round: `(a..b).rev()`.
fn reversed(expr: &Expr) -> Option<&ExprRange> {
    match bare(expr) {
        Expr::MethodCall(e) if e.method == "rev" && e.args.is_empty() => as_range(&e.receiver),
        _ => None,
    }
}

/// The first value of the counters of a loop that ends by `break` alone: `for at in endless(first, |at| next) { … }`.
pub fn endless(expr: &Expr) -> Option<&Expr> {
    called(expr, "endless")?.first()
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
