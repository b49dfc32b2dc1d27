//! Statements under `#[cfg(…)]`. Whether they are there the macro can't know, so they stay whole, with their attribute,
//! in lane code, and no other code may depend on what they define.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Local, Meta, MetaList, Pat, Stmt, parse_quote};

use crate::input::Function;

/// The condition that attributes make, if they make one.
pub(crate) fn condition(attrs: &[Attribute]) -> Option<TokenStream> {
    let lists = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::List(MetaList { path, tokens, .. }) if path.is_ident("cfg") => Some(tokens.clone()),
        _ => None,
    });
    let all: Vec<TokenStream> = lists.collect();
    match &all[..] {
        [] => None,
        [one] => Some(one.clone()),
        _ => Some(quote!(all(#(#all),*))),
    }
}

fn has(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
}

/// Whether an expression stands under a condition.
pub(crate) fn is_conditional_expr(expr: &Expr) -> bool {
    macro_rules! attrs {
        ($($kind:ident)*) => {
            match expr {
                $(Expr::$kind(e) => &e.attrs[..],)*
                _ => &[],
            }
        };
    }
    let attrs = attrs!(
        Array Assign Binary Block Break Call Cast Closure Continue Field ForLoop If Index Lit Loop Macro Match MethodCall Paren
        Path Reference Return Struct Try Tuple Unary Unsafe While
    );
    has(attrs)
}

/// Whether a statement, or the value of a `let`, stands under a condition.
pub(crate) fn is_conditional(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Local(local) => has(&local.attrs) || chooses(local),
        Stmt::Expr(expr, _) => is_conditional_expr(expr),
        Stmt::Macro(m) => has(&m.attrs),
        Stmt::Item(_) => false,
    }
}

/// What the resolver makes of a `let` that hides a variable under a condition.
fn chooses(local: &Local) -> bool {
    let Some(init) = &local.init else { return false };
    matches!(&*init.expr, Expr::Block(e) if e.block.stmts.iter().any(is_conditional))
}

/// A statement under a condition as a block under it, so that the attribute stays whatever becomes of the expression.
pub(crate) fn wrapped(stmt: Stmt) -> Stmt {
    match stmt {
        Stmt::Expr(expr, semi) if !matches!(expr, Expr::Block(_)) => {
            let (conditions, expr) = taken(expr);
            Stmt::Expr(parse_quote!(#(#conditions)* { #expr #semi }), None)
        }
        other => other,
    }
}

/// The conditional expressions that a block ends in, as one block.
pub(crate) fn conditional_tail(stmts: &mut Vec<Stmt>) -> Option<Expr> {
    let Some(Stmt::Expr(tail, None)) = stmts.last() else { return None };
    if !is_conditional_expr(tail) {
        return None;
    }
    let first = stmts.iter().rposition(|stmt| !matches!(stmt, Stmt::Expr(e, None) if is_conditional_expr(e)));
    let run = stmts.split_off(first.map_or(0, |at| at + 1)).into_iter().map(wrapped);
    Some(parse_quote!({ #(#run)* }))
}

fn taken(mut expr: Expr) -> (Vec<Attribute>, Expr) {
    struct Take(Option<Vec<Attribute>>, bool);
    impl VisitMut for Take {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            if !std::mem::replace(&mut self.1, true) {
                visit_mut::visit_expr_mut(self, expr);
            }
        }
        fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
            // Those of the expression itself come first.
            if self.0.is_some() {
                return;
            }
            let (taken, kept) =
                std::mem::take(attrs).into_iter().partition(|attr| has(std::slice::from_ref(attr)));
            self.0 = Some(taken);
            *attrs = kept;
        }
    }
    let mut take = Take(None, false);
    take.visit_expr_mut(&mut expr);
    (take.0.unwrap_or_default(), expr)
}

/// Whether a function has statements under conditions.
pub(crate) fn in_function(function: &Function) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_stmt(&mut self, stmt: &'ast Stmt) {
            self.0 |= is_conditional(stmt);
            visit::visit_stmt(self, stmt);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scan = Scan(false);
    scan.visit_block(&function.body);
    scan.0
}

/// The variables that a pattern binds, in order.
pub(crate) fn names(pat: &Pat) -> Vec<Ident> {
    struct Scan(Vec<Ident>);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            if !self.0.contains(&p.ident) {
                self.0.push(p.ident.clone());
            }
            visit::visit_pat_ident(self, p);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut scan = Scan(Vec::new());
    scan.visit_pat(pat);
    scan.0
}
