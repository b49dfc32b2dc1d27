//! Rewrites `return`, `?`, `break` and `continue` that leave a verbatim piece of code into jumps.

use proc_macro2::Span;
use syn::{
    Expr, ExprBlock, ExprForLoop, ExprLoop, ExprWhile, Ident, Label, Lifetime, Path, Type, parse_quote,
};

use crate::ir::{BlockId, goto};
use crate::lower::lowering::LoopContext;
use crate::syntax::visit_mut::{self, VisitMut};

/// What the rewriting needs to know of the function.
pub(super) struct Exits<'a> {
    pub(super) krate: &'a Path,
    pub(super) result: &'a Ident,
    pub(super) output: &'a Type,
    pub(super) exit: BlockId,
    pub(super) loops: &'a [LoopContext],
    /// Labels of the loops and blocks inside the verbatim code, innermost last; `None` is an
    /// unlabelled loop.
    pub(super) inner: Vec<(Option<String>, bool)>,
}

impl<'a> Exits<'a> {
    /// The lowered loop or block that a `break` or `continue` refers to, unless it is inside.
    fn target(&self, label: Option<&Lifetime>) -> Option<&'a LoopContext> {
        let label = label.map(|label| label.ident.to_string());
        let means = |own: &Option<String>, is_loop| if label.is_some() { *own == label } else { is_loop };
        if self.inner.iter().any(|(own, is_loop)| means(own, *is_loop)) {
            return None;
        }
        self.loops.iter().rev().find(|l| means(&l.label, l.is_loop))
    }

    /// What stands in a loop or block.
    fn inside(&mut self, expr: &mut Expr, label: Option<String>, is_loop: bool) {
        self.inner.push((label, is_loop));
        visit_mut::visit_expr_mut(self, expr);
        self.inner.pop();
    }

    /// `return value` as an expression.
    fn leave(&self, value: Option<Expr>) -> Expr {
        let (result, output) = (self.result, self.output);
        let value = value.unwrap_or_else(|| parse_quote!(()));
        let goto = goto(self.exit);
        parse_quote!({ let #result: #output = #value; #goto })
    }
}

impl VisitMut for Exits<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let name = |label: &Label| label.name.ident.to_string();
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) | Expr::TryBlock(_) => {}
            Expr::Return(e) => {
                visit_mut::visit_expr_return_mut(self, e);
                *expr = self.leave(e.expr.take().map(|value| *value));
            }
            Expr::Try(e) => {
                self.visit_expr_mut(&mut e.expr);
                let named = |name| Ident::new(name, Span::mixed_site());
                let (residual, output) = (named("__residual"), named("__output"));
                let (krate, own, inner) = (self.krate, self.output, &e.expr);
                let rest = parse_quote!(#krate::__rt::leaving::<_, #own>(#residual).leave());
                let leave = self.leave(Some(rest));
                *expr = parse_quote!(match #krate::__rt::Asked(#inner).branch() {
                    ::core::ops::ControlFlow::Continue(#output) => #output,
                    ::core::ops::ControlFlow::Break(#residual) => #leave,
                });
            }
            Expr::Break(e) => {
                visit_mut::visit_expr_break_mut(self, e);
                if let Some(target) = self.target(e.label.as_ref()) {
                    let goto = goto(target.break_to);
                    *expr = match (&target.dest, e.expr.take()) {
                        (Some(dest), value) => {
                            let value = value.unwrap_or_else(|| parse_quote!(()));
                            parse_quote!({ let #dest = #value; #goto })
                        }
                        (None, Some(value)) => parse_quote!({ #value; #goto }),
                        (None, None) => goto,
                    };
                }
            }
            Expr::Continue(e) => {
                if let Some(target) = self.target(e.label.as_ref())
                    && let Some(header) = target.continue_to
                {
                    *expr = goto(header);
                }
            }
            Expr::While(ExprWhile { label, .. })
            | Expr::ForLoop(ExprForLoop { label, .. })
            | Expr::Loop(ExprLoop { label, .. }) => {
                let label = label.as_ref().map(name);
                self.inside(expr, label, true);
            }
            Expr::Block(ExprBlock { label: Some(label), .. }) => {
                let label = name(label);
                self.inside(expr, Some(label), false);
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
