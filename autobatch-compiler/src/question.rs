//! `?` spelled out, where it can't stand: it leaves the function that it stands in, and its errors point at its own expansion,
//! so that rustc would show them once for each copy of the user's code.

use proc_macro2::{Ident, Span, TokenStream};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Type, parse_quote};

/// What the arms below call the residual.
pub(crate) fn residual() -> Ident {
    Ident::new("__residual", Span::mixed_site())
}

/// The value of `inner?`, or `leave`.
pub(crate) fn branch(rt: &TokenStream, inner: &Expr, residual: &Ident, leave: &Expr) -> Expr {
    let output = Ident::new("__output", Span::mixed_site());
    parse_quote!(match #rt::Asked(#inner).branch() {
        ::core::ops::ControlFlow::Continue(#output) => #output,
        ::core::ops::ControlFlow::Break(#residual) => #leave,
    })
}

/// What a function leaves with that returns a value of type `output`.
pub(crate) fn leave(rt: &TokenStream, output: &Type, residual: &Ident) -> Expr {
    parse_quote!(#rt::leaving::<_, #output>(#residual).leave())
}

/// Spells out the `?` of a function's own body.
pub(crate) fn spell_out(body: &mut Block, output: &Type, rt: &TokenStream) {
    struct Spell<'a>(&'a Type, &'a TokenStream);
    impl VisitMut for Spell<'_> {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            match expr {
                Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) | Expr::TryBlock(_) => {}
                _ => visit_mut::visit_expr_mut(self, expr),
            }
            if let Expr::Try(e) = expr {
                let (residual, Spell(output, rt)) = (residual(), &*self);
                let leave = leave(rt, output, &residual);
                *expr = branch(rt, &e.expr, &residual, &parse_quote!(return #leave));
            }
        }
        fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    }
    Spell(output, rt).visit_block_mut(body);
}
