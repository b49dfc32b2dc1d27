//! The code of one round of the loop that a chain becomes.
//!
//! **Invariant:** an element is evaluated once.

use syn::{Expr, ExprClosure, Ident, Pat, ReturnType, Stmt, parse_quote};

use crate::desugar::closure::{is_plain, leaves};
use crate::desugar::straight_code::is_plain_pattern;
use crate::syntax::walk::{self, At};

/// The code of a round, as far as it is written.
pub(super) struct Round<'n> {
    pub(super) pat: Option<Pat>,
    pub(super) stmts: Vec<Stmt>,
    /// The element; none as long as the loop's pattern has yet to take it.
    pub(super) element: Option<Expr>,
    pub(super) closures: Vec<Expr>,
    pub(super) names: &'n mut dyn FnMut(&str) -> Ident,
}

/// A closure that may be called in place: what leaves it would leave the function.
pub(super) fn closure(expr: &Expr) -> Option<&ExprClosure> {
    let Expr::Closure(closure) = expr else { return None };
    let may_leave = leaves(&closure.body) || walk::any(&*closure.body, |at| matches!(at, At::Macro(_)));
    let is_simple = is_plain(closure)
        && closure.capture.is_none()
        && matches!(closure.output, ReturnType::Default)
        && !may_leave;
    is_simple.then_some(closure)
}

impl Round<'_> {
    /// Gives the element to a pattern.
    fn bind(&mut self, pat: &Pat) {
        if self.element.is_none() && !matches!(pat, Pat::Type(_)) {
            self.pat = Some(pat.clone());
            return;
        }
        let value = self.value();
        self.stmts.push(parse_quote!(let #pat = #value;));
    }

    /// The element, once.
    pub(super) fn value(&mut self) -> Expr {
        self.element.take().unwrap_or_else(|| {
            let item = (self.names)("item");
            self.pat = Some(parse_quote!(#item));
            parse_quote!(#item)
        })
    }

    /// What a closure makes of the element.
    pub(super) fn apply(&mut self, closure: &ExprClosure) -> Option<Expr> {
        let (1, pat) = (closure.inputs.len(), closure.inputs.first()?) else { return None };
        self.bind(pat);
        self.closures.push((*closure.body).clone());
        Some((*closure.body).clone())
    }

    pub(super) fn map(&mut self, closure: &ExprClosure) -> Option<()> {
        self.element = Some(self.apply(closure)?);
        Some(())
    }

    /// Goes on with the next round if the closure is false of a reference to the element.
    pub(super) fn filter(&mut self, closure: &ExprClosure) -> Option<()> {
        let (1, Some(Pat::Reference(pat))) = (closure.inputs.len(), closure.inputs.first()) else {
            return None;
        };
        let (pat, item) = (&pat.pat, self.item());
        let test = &closure.body;
        self.stmts.push(parse_quote!(let #pat = #item;));
        self.stmts.push(parse_quote!(if !(#test) { continue; }));
        self.closures.push((**test).clone());
        self.element = Some(parse_quote!(#item));
        Some(())
    }

    /// Goes on with the next round if the closure yields no value.
    pub(super) fn filter_map(&mut self, closure: &ExprClosure) -> Option<()> {
        let found = self.apply(closure)?;
        let item = (self.names)("item");
        self.stmts.push(parse_quote!(let Some(#item) = (#found) else { continue; };));
        self.element = Some(parse_quote!(#item));
        Some(())
    }

    /// The element in a variable.
    pub(super) fn item(&mut self) -> Ident {
        let value = self.value();
        if let Expr::Path(path) = &value
            && let Some(item) = path.path.get_ident()
        {
            return item.clone();
        }
        let item = (self.names)("item");
        self.stmts.push(parse_quote!(let #item = #value;));
        item
    }

    /// Gives the state its next value. Where its type is not known before, no method may ask for that.
    pub(super) fn fold(&mut self, state: &Ident, step: &Expr, is_known: bool) -> Option<()> {
        let next: Expr = match step {
            Expr::Path(path) => {
                let element = self.value();
                let next: Expr = parse_quote!(#path(#state, #element));
                self.closures.push(next.clone());
                next
            }
            step => {
                let closure = closure(step)?;
                let asks = |at: At<'_>| matches!(at, At::Expr(Expr::MethodCall(_) | Expr::Field(_)));
                let (2, [before, pat]) =
                    (closure.inputs.len(), [closure.inputs.first()?, closure.inputs.last()?])
                else {
                    return None;
                };
                if !is_plain_pattern(before) || !is_known && walk::any(&*closure.body, asks) {
                    return None;
                }
                self.bind(pat);
                self.stmts.push(parse_quote!(let #before = #state;));
                self.closures.push((*closure.body).clone());
                (*closure.body).clone()
            }
        };
        self.stmts.push(parse_quote!(#state = #next;));
        Some(())
    }
}
