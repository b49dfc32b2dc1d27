//! `for` loops that count: of ranges the ends become variables of their own (see the runtime's `desugar::ranges`), of a list that
//! nobody changes meanwhile the index of the next element.

use syn::{Expr, Pat, RangeLimits, Stmt, Type, parse_quote};

use crate::analysis::typed_places::TypedPlaces;
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

/// The place that a loop goes through by references, and whether by `iter()`, by `&`, or as it is; and whether it counts the elements.
fn elements(expr: &Expr) -> (&Expr, Way, bool) {
    match bare(expr) {
        Expr::MethodCall(e) if e.method == "enumerate" && e.args.is_empty() && e.turbofish.is_none() => {
            match elements(&e.receiver) {
                (place, Way::Iter, false) => (place, Way::Iter, true),
                _ => (expr, Way::Place, false),
            }
        }
        Expr::MethodCall(e) if e.method == "iter" && e.args.is_empty() && e.turbofish.is_none() => {
            (&e.receiver, Way::Iter, false)
        }
        Expr::Reference(e) if e.mutability.is_none() => (&e.expr, Way::Reference, false),
        expr => (expr, Way::Place, false),
    }
}

#[derive(PartialEq, Eq)]
enum Way {
    Iter,
    Reference,
    Place,
}

impl Lowering<'_> {
    /// Defines the counters of a loop over `expr`, which has been lowered, if it is a range or a list that nobody changes meanwhile. Says
    /// whether there is another element, and binds it to the pattern.
    pub(super) fn counting(&mut self, pat: &Pat, expr: &Expr) -> Option<(Expr, Vec<Stmt>)> {
        let (condition, bind) = match range(expr) {
            Some((range, back)) => self.counting_range(pat, range, back)?,
            None => return self.counting_list(pat, expr),
        };
        Some((condition, vec![bind]))
    }

    fn counting_list(&mut self, pat: &Pat, expr: &Expr) -> Option<(Expr, Vec<Stmt>)> {
        let (place, way, counted) = elements(expr);
        let places = TypedPlaces::of_fixed(&self.program, self.func, &self.facts.item.declared.definitions);
        let hops = places.list(place).filter(|_| places.is_uniform(place))?.hops;
        match way {
            Way::Iter => {}
            Way::Reference if hops == 0 => {}
            Way::Place if hops == 1 && matches!(places.ty(place), Some(Type::Reference(_))) => {}
            _ => return None,
        }
        let element = |at: Expr, pat: &Pat| -> Stmt {
            match pat {
                // An element by value is no reference that would have to be kept.
                Pat::Reference(p) if p.mutability.is_none() => {
                    let pat = &p.pat;
                    parse_quote!(let #pat = (#place)[#at];)
                }
                pat => parse_quote!(let #pat = &(#place)[#at];),
            }
        };
        let krate = self.facts.options.krate.clone();
        let (at_var, at) = self.temp("at", Some(parse_quote!(usize)));
        self.program.variables[at_var.0].mutable = true;
        self.define(at_var, None, parse_quote!(0usize));
        let next = parse_quote!(#krate::__rt::count_up(&mut #at));
        let bind = match (counted, pat) {
            (false, pat) => vec![element(next, pat)],
            (true, Pat::Tuple(p)) if p.elems.len() == 2 && !matches!(p.elems[0], Pat::Rest(_)) => {
                let (number, pat) = (&p.elems[0], &p.elems[1]);
                if matches!(pat, Pat::Rest(_)) {
                    return None;
                }
                let (_, now) = self.temp("now", Some(parse_quote!(usize)));
                vec![
                    parse_quote!(let #now: usize = #next;),
                    parse_quote!(let #number = #now;),
                    element(parse_quote!(#now), pat),
                ]
            }
            _ => return None,
        };
        Some((parse_quote!(#krate::__rt::count_more(&#at, &(#place).len())), bind))
    }

    fn counting_range(&mut self, pat: &Pat, range: &syn::ExprRange, back: bool) -> Option<(Expr, Stmt)> {
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
