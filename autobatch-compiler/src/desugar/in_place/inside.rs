//! Statements in blocks inside of a statement, which the local outlives: it is in place for one `let` that binds what borrows
//! nothing, or one assignment of such, and has its value again behind that.
//!
//! ```text
//! let (x, back) = { let hand = Lent::new(hand); let made = …; let back = Lent::back(hand); (made, back) };
//! hand = back;
//! ```

use proc_macro2::{Ident, Span};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Local, Pat, Stmt, parse_quote};

use super::{Back, InPlace};
use crate::desugar::runs::Lent;

/// Rewrites them; how the local gets its value back, if there is one.
pub(super) fn in_runs<'a>(
    stmt: &mut Stmt,
    lent: &Lent<'_>,
    places: &dyn Fn() -> InPlace<'a>,
) -> Option<Back> {
    let mut inside = Inside { lent, places, any: false };
    if !places().reference {
        inside.visit_stmt_mut(stmt);
    }
    inside.any.then_some(Back::Assigned)
}

struct Inside<'l, 'a> {
    lent: &'l Lent<'l>,
    places: &'l dyn Fn() -> InPlace<'a>,
    any: bool,
}

impl Inside<'_, '_> {
    /// A statement, with the local in place for the value that it binds, or for all of it.
    fn around(&self, stmt: &Stmt) -> Option<[Stmt; 2]> {
        if breaks(stmt) {
            return None;
        }
        let (mut stmt, mut place) = (stmt.clone(), (self.places)());
        let (krate, kind, ident) = (place.krate, place.kind, Ident::new(self.lent.name, Span::call_site()));
        let [made, back] = ["__made", "__back"].map(|name| Ident::new(name, Span::mixed_site()));
        let new: Stmt = parse_quote!(let #ident = #krate::__rt::#kind::new(#ident););
        let taken: Expr = parse_quote!(#krate::__rt::#kind::back(#ident));
        let there: Stmt = match &mut stmt {
            Stmt::Local(Local { pat: Pat::Ident(pat), init: Some(init), attrs, .. })
                if pat.by_ref.is_none()
                    && pat.subpat.is_none()
                    && init.diverge.is_none()
                    && attrs.is_empty() =>
            {
                let value = &mut init.expr;
                place.visit_expr_mut(value);
                parse_quote!(let (#pat, #back) = {
                    #new
                    let #made = #value;
                    let #back = #taken;
                    (#made, #back)
                };)
            }
            Stmt::Expr(Expr::Assign(_) | Expr::Binary(_), Some(_)) => {
                place.visit_stmt_mut(&mut stmt);
                parse_quote!(let #back = { #new #stmt #taken };)
            }
            _ => return None,
        };
        if place.refused || place.defined > 0 {
            return None;
        }
        Some([there, parse_quote!(#ident = #back;)])
    }
}

/// Whether control may leave a statement for another of the function, where the local would be in its place.
fn breaks(stmt: &Stmt) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= matches!(expr, Expr::Break(_) | Expr::Continue(_));
            visit::visit_expr(self, expr);
        }
    }
    let mut scan = Scan(false);
    scan.visit_stmt(stmt);
    scan.0
}

impl VisitMut for Inside<'_, '_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        // Before there is a place in this one.
        visit_mut::visit_block_mut(self, block);
        for run in self.lent.runs(block, 0).into_iter().rev().filter(|run| run.start() == run.end()) {
            let stmt = &block.stmts[*run.start()];
            if let Some(new) = self.around(stmt) {
                block.stmts.splice(run, new);
                self.any = true;
            }
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
