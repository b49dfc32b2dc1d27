//! Numbers of calls, by which tables know them.
//!
//! A call keeps its number in an attribute, `#[autobatch_call(3)] f(x)`, through all rewriting, and a copy of it has the same one.
//! Calls in tail position are numbered when the item is parsed, others when resolution has an answer about them. The attributes are
//! taken away before anything is printed.

use proc_macro2::{Literal, Span};
use syn::{Attribute, Expr, ExprCall, ExprMethodCall, Ident, parse_quote_spanned};

use crate::syntax::walk::{self, AtMut, Code};

/// The attribute that holds the number.
const MARK: &str = "autobatch_call";

/// A call of a function, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CallSite(pub usize);

/// Gives a call a number. The attribute stands at `span`, since an expression is where its first token is.
pub(crate) fn mark(attrs: &mut Vec<Attribute>, site: CallSite, span: Span) {
    let (name, number) = (Ident::new(MARK, span), Literal::usize_unsuffixed(site.0));
    attrs.push(parse_quote_spanned!(span=> #[#name(#number)]));
}

/// The number in the attributes of a call, if it has one.
pub(crate) fn marked(attrs: &[Attribute]) -> Option<CallSite> {
    let mark = attrs.iter().find(|attr| attr.path().is_ident(MARK))?;
    mark.parse_args::<syn::LitInt>().ok()?.base10_parse().ok().map(CallSite)
}

/// The number of a call, if it has one.
pub(crate) fn of(call: &Expr) -> Option<CallSite> {
    let (Expr::Call(ExprCall { attrs, .. }) | Expr::MethodCall(ExprMethodCall { attrs, .. })) = call else {
        return None;
    };
    marked(attrs)
}

/// Takes all numbers away.
pub(crate) fn unmark(code: &mut impl Code) {
    retain(code, |_| false);
}

/// Takes the numbers away that are not `wanted`.
pub(crate) fn retain(code: &mut impl Code, wanted: impl Fn(CallSite) -> bool) {
    walk::map(code, |at| {
        if let AtMut::Expr(
            Expr::Call(ExprCall { attrs, .. }) | Expr::MethodCall(ExprMethodCall { attrs, .. }),
        ) = at
            && marked(attrs).is_some_and(|site| !wanted(site))
        {
            attrs.retain(|attr| !attr.path().is_ident(MARK));
        }
    });
}
