//! `for` loops over ranges: the ends become variables of their own (see the runtime's `desugar::ranges`).

use syn::{Expr, Pat, RangeLimits, Stmt, parse_quote};

use crate::lower::lowering::Lowering;
use crate::syntax::mentions::bare;

/// The range and whether it is walked from its end, if that is what `expr` is.
fn range(expr: &Expr) -> Option<(&syn::ExprRange, bool)> {
    match bare(expr) {
        Expr::Range(e) if e.attrs.is_empty() && e.start.is_some() && e.end.is_some() => Some((e, false)),
        Expr::MethodCall(e) if e.method == "rev" && e.args.is_empty() && e.turbofish.is_none() => {
            range(&e.receiver).map(|(range, back)| (range, !back))
        }
        _ => None,
    }
}

impl Lowering<'_> {
    /// Defines the counters of a loop over `expr`, which has been lowered, if it is a range. Says whether there is another, and
    /// binds it to the pattern.
    pub(super) fn counting(&mut self, pat: &Pat, expr: &Expr) -> Option<(Expr, Stmt)> {
        let (range, back) = range(expr)?;
        let (start, end) = (range.start.clone()?, range.end.clone()?);
        let closed = matches!(range.limits, RangeLimits::Closed(_));
        let krate = self.facts.options.krate.clone();
        let (at_var, at) = self.temp("at", None);
        let (end_var, to) = self.temp("end", None);
        self.program.variables[at_var.0].mutable = !back;
        self.program.variables[end_var.0].mutable = back;
        self.define(at_var, None, *start);
        self.define(end_var, None, *end);
        if !closed {
            let bind = match back {
                false => parse_quote!(let #pat = #krate::__rt::count_up(&mut #at);),
                true => parse_quote!(let #pat = #krate::__rt::count_down(&mut #to);),
            };
            return Some((parse_quote!(#krate::__rt::count_more(&#at, &#to)), bind));
        }
        let (more_var, more) = self.temp("more", None);
        self.program.variables[more_var.0].mutable = true;
        self.define(more_var, None, parse_quote!(#krate::__rt::count_any(&#at, &#to)));
        let bind = match back {
            false => parse_quote!(let #pat = #krate::__rt::count_up_to(&mut #at, &#to, &mut #more);),
            true => parse_quote!(let #pat = #krate::__rt::count_down_to(&#at, &mut #to, &mut #more);),
        };
        Some((parse_quote!(#krate::__rt::count_is(&#more)), bind))
    }
}
