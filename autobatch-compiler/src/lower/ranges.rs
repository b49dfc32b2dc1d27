//! `for` loops that count: of ranges the ends become variables of their own (see the runtime's `desugar::ranges`), of a list that
//! nobody changes meanwhile the index of the next element.

use proc_macro2::Literal;
use syn::{Expr, ExprForLoop, ExprMethodCall, ExprRange, Pat, RangeLimits, Stmt, Type, parse_quote};

use crate::analysis::typed_places::TypedPlaces;
use crate::ir::effects::variable;
use crate::lower::lowering::Lowering;
use crate::std_models::pure::literal;
use crate::syntax::mentions::bare;

/// The range and whether it is walked from its end, if that is what `expr` is.
pub(super) fn range(expr: &Expr) -> Option<(&syn::ExprRange, bool)> {
    match bare(expr) {
        Expr::Range(e) if e.attrs.is_empty() && e.start.is_some() && e.end.is_some() => Some((e, false)),
        Expr::MethodCall(e) if e.method == "rev" && e.args.is_empty() && e.turbofish.is_none() => {
            range(&e.receiver).map(|(range, back)| (range, !back))
        }
        _ => None,
    }
}

/// What a loop over a list goes through.
struct Elements<'e> {
    place: &'e Expr,
    way: Way,
    /// Whether it counts the elements.
    counted: bool,
}

/// How a loop goes through a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Iter,
    /// By `iter().copied()`.
    Copied,
    /// By `&`.
    Reference,
    /// As it is.
    Place,
}

/// What a loop goes through.
fn elements(expr: &Expr) -> Elements<'_> {
    let whole = Elements { place: expr, way: Way::Place, counted: false };
    match bare(expr) {
        Expr::MethodCall(e) if e.args.is_empty() && e.turbofish.is_none() => {
            let of = elements(&e.receiver);
            match (&e.method.to_string()[..], of.way, of.counted) {
                ("iter", ..) => Elements { place: &e.receiver, way: Way::Iter, counted: false },
                ("copied", Way::Iter, false) => Elements { way: Way::Copied, ..of },
                ("enumerate", Way::Iter | Way::Copied, false) => Elements { counted: true, ..of },
                _ => whole,
            }
        }
        Expr::Reference(e) if e.mutability.is_none() => {
            Elements { place: &e.expr, way: Way::Reference, counted: false }
        }
        expr => Elements { place: expr, ..whole },
    }
}

/// What goes through a list but for so many elements, as what goes through all of it: `&list[1..]`, `list[1..].iter()`.
fn behind(expr: &Expr) -> Option<(Expr, u64)> {
    match bare(expr) {
        Expr::Reference(e) if e.mutability.is_none() => {
            let (list, first) = sliced(&e.expr)?;
            Some((parse_quote!(#list.iter()), first))
        }
        Expr::MethodCall(e) => {
            let receiver = match bare(&e.receiver) {
                Expr::Reference(e) => &e.expr,
                _ => &e.receiver,
            };
            let of_list = sliced(receiver).map(|(list, first)| (list.clone(), first));
            let (receiver, first) = of_list.or_else(|| behind(&e.receiver))?;
            Some((Expr::MethodCall(ExprMethodCall { receiver: Box::new(receiver), ..e.clone() }), first))
        }
        _ => None,
    }
}

/// The list of a slice, and where that begins: `list[1..]`.
fn sliced(expr: &Expr) -> Option<(&Expr, u64)> {
    let Expr::Index(e) = bare(expr) else { return None };
    let Expr::Range(ExprRange { start: Some(start), end: None, .. }) = bare(&e.index) else { return None };
    Some((&e.expr, literal(start)?))
}

/// `let pat = …` of the element of a list at an index.
fn element(place: &Expr, at: &Expr, pat: &Pat, way: Way) -> Stmt {
    match pat {
        pat if way == Way::Copied => parse_quote!(let #pat = (#place)[#at];),
        // An element by value is no reference that would have to be kept.
        Pat::Reference(p) if p.mutability.is_none() => {
            let pat = &p.pat;
            parse_quote!(let #pat = (#place)[#at];)
        }
        pat => parse_quote!(let #pat = &(#place)[#at];),
    }
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

    /// What a loop goes through, if it is a list that nobody changes meanwhile.
    fn fixed_list<'e>(&self, expr: &'e Expr) -> Option<Elements<'e>> {
        let of = elements(expr);
        let places = TypedPlaces::of_fixed(&self.program, self.func, &self.facts.item.declared.definitions);
        let hops = places.list(of.place).filter(|_| places.is_uniform(of.place))?.hops;
        let is_one = match of.way {
            Way::Iter | Way::Copied => true,
            Way::Reference => hops == 0,
            Way::Place => hops == 1 && matches!(places.ty(of.place), Some(Type::Reference(_))),
        };
        is_one.then_some(of)
    }

    /// A loop over a variable that is a list, or over what comes behind so many of its elements, as one over its indices. Stands in front of it
    /// what the slice asks of the list: a fault of it says what is wrong in words of its own, so only what scalar code runs again may have one.
    pub(super) fn by_index(&mut self, e: &ExprForLoop) -> Option<(Option<Stmt>, ExprForLoop)> {
        let (whole, first) = match behind(&e.expr) {
            Some((whole, first)) if self.facts.options.split_entry => (Some(whole), first),
            _ => (None, 0),
        };
        let Elements { place, way, counted } = self.fixed_list(whole.as_ref().unwrap_or(&e.expr))?;
        let place = bare(place);
        variable(&self.names, place)?;
        if counted && first > 0 {
            return None;
        }
        let asks = first.checked_sub(1).map(|last| {
            let last = Literal::u64_unsuffixed(last);
            let (_, element) = self.temp("last", None);
            parse_quote!(let #element = &#place[#last];)
        });
        let (number, pat) = match &*e.pat {
            Pat::Tuple(p) if counted && p.elems.len() == 2 => (Some(&p.elems[0]), &p.elems[1]),
            _ if counted => return None,
            pat => (None, pat),
        };
        let at = match number {
            Some(Pat::Ident(p)) if p.by_ref.is_none() && p.subpat.is_none() => p.ident.clone(),
            None | Some(Pat::Wild(_)) => self.temp("at", Some(parse_quote!(usize))).1,
            _ => return None,
        };
        let mut by_index = e.clone();
        *by_index.pat = match number {
            Some(number @ Pat::Ident(_)) => number.clone(),
            _ => parse_quote!(#at),
        };
        let first = Literal::u64_unsuffixed(first);
        *by_index.expr = parse_quote!(#first..#place.len());
        by_index.body.stmts.insert(0, element(place, &parse_quote!(#at), pat, way));
        Some((asks, by_index))
    }

    fn counting_list(&mut self, pat: &Pat, expr: &Expr) -> Option<(Expr, Vec<Stmt>)> {
        let (whole, first) = behind(expr).unzip();
        let Elements { place, way, counted } = self.fixed_list(whole.as_ref().unwrap_or(expr))?;
        if counted && first.is_some() {
            return None;
        }
        let krate = self.facts.options.krate.clone();
        let first: Expr = match first.map(Literal::u64_unsuffixed) {
            Some(first) => parse_quote!(#krate::__rt::count_behind(&(#place).len(), #first)),
            None => parse_quote!(0usize),
        };
        let (at_var, at) = self.temp("at", Some(parse_quote!(usize)));
        self.program.variables[at_var.0].mutable = true;
        self.define(at_var, None, first);
        let next = parse_quote!(#krate::__rt::count_up(&mut #at));
        let bind = match (counted, pat) {
            (false, pat) => vec![element(place, &next, pat, way)],
            (true, Pat::Tuple(p)) if p.elems.len() == 2 && !matches!(p.elems[0], Pat::Rest(_)) => {
                let (number, pat) = (&p.elems[0], &p.elems[1]);
                if matches!(pat, Pat::Rest(_)) {
                    return None;
                }
                let (_, now) = self.temp("now", Some(parse_quote!(usize)));
                vec![
                    parse_quote!(let #now: usize = #next;),
                    parse_quote!(let #number = #now;),
                    element(place, &parse_quote!(#now), pat, way),
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
