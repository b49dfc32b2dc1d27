//! Loops of counted clones: each turn is a tick, and where ticks are steps so is the look that finds no more.
//!
//! ```text
//! for x in xs { if c { break; } … }   ──▶   let mut left = false;
//!                                           for x in xs { tick_turn(); if c { left = true; break; } … }
//!                                           if !left { tick_turn(); }
//! ```
//!
//! What a `for` goes over stays as it is: rustc's errors about it are those about the function's.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Expr, parse_quote};

use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, AtMut, Next};

/// Has the loops of a function count their turns; each look at the condition if it is a step.
pub(super) fn in_loops(code: &mut (impl walk::Code + ?Sized), rt: &TokenStream, steps: bool) {
    walk::map(code, |at| {
        let body = match at {
            // Each turn, and the look that finds no more.
            AtMut::Expr(expr @ Expr::ForLoop(_)) if steps => {
                let Expr::ForLoop(e) = &mut *expr else { return Next::On };
                // Loops in it have fewer inside.
                let mut inside = 0;
                walk::each(&e.body, |at| inside += usize::from(matches!(at, At::Expr(Expr::ForLoop(_)))));
                let left = format_ident!("__left_{inside}", span = Span::mixed_site());
                let leaves = Leaves::mark(e, &left);
                in_loops(&mut *e.expr, rt, steps);
                e.body.stmts.insert(0, parse_quote!(#rt::tick_turn();));
                in_loops(&mut e.body, rt, steps);
                let (flag, last): (TokenStream, TokenStream) = match leaves {
                    true => (quote!(let mut #left = false;), quote!(if !#left { #rt::tick_turn(); })),
                    false => (quote!(), quote!(#rt::tick_turn();)),
                };
                *expr = parse_quote!({ #flag #expr #last });
                return Next::Past;
            }
            AtMut::Expr(expr @ Expr::While(_)) if steps => {
                let Expr::While(e) = &*expr else { return Next::On };
                let (attrs, label, cond, body) = (&e.attrs, &e.label, &e.cond, &e.body);
                *expr =
                    parse_quote!(#(#attrs)* #label loop { #rt::tick_turn(); if #cond #body else { break; } });
                return Next::On;
            }
            AtMut::Expr(Expr::ForLoop(e)) => &mut e.body,
            AtMut::Expr(Expr::While(e)) => &mut e.body,
            AtMut::Expr(Expr::Loop(e)) => &mut e.body,
            // Its length is a constant.
            AtMut::Expr(Expr::Repeat(e)) => {
                in_loops(&mut *e.expr, rt, steps);
                return Next::Past;
            }
            AtMut::Expr(Expr::Const(_) | Expr::Async(_)) | AtMut::Type(_) => return Next::Past,
            _ => return Next::On,
        };
        body.stmts.insert(0, parse_quote!(#rt::tick_turn();));
        Next::On
    });
}

/// The `break`s that leave a loop, each of which sets a flag before.
struct Leaves<'a> {
    label: Option<syn::Lifetime>,
    flag: &'a Ident,
    /// How many loops are around, inside of that one.
    depth: usize,
    found: bool,
}

impl Leaves<'_> {
    /// Whether there are any.
    fn mark(e: &mut syn::ExprForLoop, flag: &Ident) -> bool {
        let label = e.label.as_ref().map(|label| label.name.clone());
        let mut leaves = Leaves { label, flag, depth: 0, found: false };
        leaves.visit_block_mut(&mut e.body);
        leaves.found
    }
}

impl VisitMut for Leaves<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Break(e) => {
                let leaves = match &e.label {
                    Some(label) => self.label.as_ref() == Some(label),
                    None => self.depth == 0,
                };
                if leaves {
                    let flag = self.flag;
                    self.found = true;
                    *expr = parse_quote!({ #flag = true; #expr });
                }
            }
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                self.depth += 1;
                visit_mut::visit_expr_mut(self, expr);
                self.depth -= 1;
            }
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
