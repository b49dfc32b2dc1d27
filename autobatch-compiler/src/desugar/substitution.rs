//! Names, values and places in the place of variables.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::{Block, Expr, Ident, LitInt, Pat, Stmt, UnOp, parse_quote};

use crate::syntax::mentions::{bare, is_variable, untyped};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, AtMut, Next};

/// Gives variables other names.
pub(super) fn rename(code: &mut Block, names: &BTreeMap<String, Ident>) {
    Rename(names).visit_block_mut(code);
}

struct Rename<'a>(&'a BTreeMap<String, Ident>);

impl VisitMut for Rename<'_> {
    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        if let Some(new) = path.path.get_ident().and_then(|ident| self.0.get(&ident.to_string())) {
            path.path = new.clone().into();
        }
    }
    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        if let Some(new) = self.0.get(&pat.ident.to_string()) {
            pat.ident = new.clone();
        }
    }
    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        let was = field.pat.clone();
        visit_mut::visit_field_pat_mut(self, field);
        if field.pat != was {
            field.colon_token.get_or_insert_default();
        }
    }
}

/// Takes the declarations of variables away.
pub(super) fn without_lets(body: &mut Block, gone: &dyn Fn(&str) -> bool) {
    WithoutLets(gone).visit_block_mut(body);
}

struct WithoutLets<'a>(&'a dyn Fn(&str) -> bool);

impl VisitMut for WithoutLets<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        block.stmts.retain(|stmt| match stmt {
            Stmt::Local(local) => {
                !matches!(untyped(&local.pat), Pat::Ident(p) if (self.0)(&p.ident.to_string()))
            }
            _ => true,
        });
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// An index as it is written.
pub(super) fn index(at: u64) -> Expr {
    let literal = LitInt::new(&format!("{at}usize"), Span::call_site());
    parse_quote!(#literal)
}

/// Puts a variable in the place of another.
pub(super) fn put_in_place(body: &mut Block, name: &Ident, value: &Expr) {
    let name = name.to_string();
    walk::map(body, |at| {
        if let AtMut::Expr(expr) = at
            && is_variable(expr, &name)
        {
            *expr = value.clone();
            return Next::Past;
        }
        Next::On
    });
}

/// Puts a place in the place of what a variable refers to, and `base` where a part of that is taken.
pub(super) fn put_in_place_of_reference(body: &mut Block, name: &Ident, place: &Expr, base: &Expr) {
    let name = name.to_string();
    walk::map(body, |at| {
        let AtMut::Expr(expr) = at else { return Next::On };
        match expr {
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && is_variable(bare(&e.expr), &name) => {
                *expr = place.clone();
                return Next::Past;
            }
            Expr::Field(e) if is_variable(&e.base, &name) => *e.base = base.clone(),
            Expr::Index(e) if is_variable(&e.expr, &name) => *e.expr = base.clone(),
            Expr::MethodCall(e) if is_variable(&e.receiver, &name) => *e.receiver = base.clone(),
            // Then it is not copied.
            other if is_variable(other, &name) => {
                *other = parse_quote!((&#place));
                return Next::Past;
            }
            _ => {}
        }
        Next::On
    });
}
