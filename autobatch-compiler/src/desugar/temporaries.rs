//! `let xs = &[a, b];` keeps a temporary as long as `xs` is in scope. It gets a name, `let kept = [a, b]; let xs =
//! &kept;`, so that it is a local that is borrowed like any other. So does what a `for` borrows from: `for x in board.moves().iter()`.

use std::rc::Rc;

use proc_macro2::{Ident, Span};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Local, LocalInit, Stmt, Token, parse_quote};

use crate::input::Function;
use crate::lower::is_temporary;
use crate::resolve;
use crate::signatures::{Methods, Takes};

/// Names them in a function's body.
pub(crate) fn name(function: &mut Function) {
    let mut body = function.body.clone();
    let mut names = Names(function.methods.clone(), false);
    names.visit_block_mut(&mut body);
    if names.1 {
        resolve::again(function, body);
    }
}

struct Names(Rc<Methods>, bool);

impl Names {
    /// Puts a name in a temporary's place; the statement that defines it.
    fn named(&mut self, value: &mut Expr, mutability: Option<Token![mut]>) -> Stmt {
        let kept = Ident::new("__kept", Span::mixed_site());
        let value = std::mem::replace(value, parse_quote!(#kept));
        self.1 = true;
        parse_quote!(let #mutability #kept = #value;)
    }
}

impl VisitMut for Names {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.visit_stmt_mut(&mut stmt);
            if let Stmt::Local(Local { init: Some(LocalInit { expr, diverge: None, .. }), attrs, .. }) =
                &mut stmt
                && attrs.is_empty()
                && let Expr::Reference(reference) = &mut **expr
                && is_temporary(&self.0, base(&mut reference.expr))
            {
                stmts.push(self.named(base(&mut reference.expr), reference.mutability));
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let Expr::ForLoop(walk) = expr else { return };
        let Some((value, mutability)) = lent(&self.0, &mut walk.expr) else { return };
        let kept = self.named(value, mutability);
        *expr = parse_quote!({ #kept #walk });
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
}

/// The temporary that an iterator borrows from, which is made before all else; `mut`, if mutably.
fn lent<'e>(methods: &Methods, expr: &'e mut Expr) -> Option<(&'e mut Expr, Option<Token![mut]>)> {
    let (place, mutability) = match expr {
        Expr::Paren(e) => return lent(methods, &mut e.expr),
        Expr::Reference(e) => (base(&mut e.expr), e.mutability),
        Expr::MethodCall(e) => match methods.known(&e.method).filter(|method| method.borrows) {
            Some(method) => {
                (base(&mut e.receiver), (method.takes == Some(Takes::Mut)).then(<Token![mut]>::default))
            }
            None => return lent(methods, &mut e.receiver),
        },
        _ => return None,
    };
    if is_temporary(methods, place) { Some((place, mutability)) } else { lent(methods, place) }
}

/// The expression that a place is a part of.
fn base(place: &mut Expr) -> &mut Expr {
    match place {
        Expr::Field(e) => base(&mut e.base),
        Expr::Index(e) => base(&mut e.expr),
        Expr::Paren(e) => base(&mut e.expr),
        Expr::Group(e) => base(&mut e.expr),
        other => other,
    }
}
