//! Rewrites `return`, `?`, `break` and `continue` that leave a verbatim piece of code into jumps.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Label, Lifetime, Path, Stmt, Type, parse_quote};

use super::LoopContext;
use crate::ir::{BlockId, goto};

/// What the rewriting needs to know of the function.
pub(super) struct Exits<'a> {
    pub(super) krate: &'a Path,
    pub(super) result: &'a Ident,
    pub(super) output: &'a Type,
    pub(super) exit: BlockId,
    pub(super) loops: &'a [LoopContext],
    /// Labels of the loops and blocks inside the verbatim code, innermost last; `None` is an
    /// unlabelled loop.
    inner: Vec<(Option<String>, bool)>,
}

impl<'a> Exits<'a> {
    pub(super) fn new(
        krate: &'a Path,
        result: &'a Ident,
        output: &'a Type,
        exit: BlockId,
        loops: &'a [LoopContext],
    ) -> Self {
        Exits { krate, result, output, exit, loops, inner: Vec::new() }
    }

    /// The lowered loop or block that a `break` or `continue` refers to, unless it is inside.
    fn target(&self, label: Option<&Lifetime>, value_block: bool) -> Option<&'a LoopContext> {
        match label {
            Some(label) => {
                let name = label.ident.to_string();
                if self.inner.iter().any(|(inner, _)| inner.as_deref() == Some(name.as_str())) {
                    return None;
                }
                self.loops.iter().rev().find(|l| l.label.as_deref() == Some(name.as_str()))
            }
            None => {
                if self.inner.iter().any(|(_, is_loop)| *is_loop) {
                    return None;
                }
                self.loops.iter().rev().find(|l| l.is_loop || value_block)
            }
        }
    }

    fn inside(&mut self, label: Option<&Label>, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        self.inner.push((label.map(|l| l.name.ident.to_string()), is_loop));
        visit(self);
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
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) | Expr::TryBlock(_) => {}
            Expr::Return(e) => {
                if let Some(value) = &mut e.expr {
                    self.visit_expr_mut(value);
                }
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
                if let Some(value) = &mut e.expr {
                    self.visit_expr_mut(value);
                }
                if let Some(target) = self.target(e.label.as_ref(), false) {
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
                if let Some(target) = self.target(e.label.as_ref(), false)
                    && let Some(header) = target.continue_to
                {
                    *expr = goto(header);
                }
            }
            Expr::While(e) => {
                let label = e.label.clone();
                self.inside(label.as_ref(), true, |x| visit_mut::visit_expr_while_mut(x, e));
            }
            Expr::ForLoop(e) => {
                let label = e.label.clone();
                self.inside(label.as_ref(), true, |x| visit_mut::visit_expr_for_loop_mut(x, e));
            }
            Expr::Loop(e) => {
                let label = e.label.clone();
                self.inside(label.as_ref(), true, |x| visit_mut::visit_expr_loop_mut(x, e));
            }
            Expr::Block(e) if e.label.is_some() => {
                let label = e.label.clone();
                self.inside(label.as_ref(), false, |x| visit_mut::visit_expr_block_mut(x, e));
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if !matches!(stmt, Stmt::Item(_)) {
            visit_mut::visit_stmt_mut(self, stmt);
        }
    }
}
