//! Statements in blocks inside of a statement, which the local outlives: it is in place for one `let` that binds what borrows
//! nothing, and has its value again behind that.
//!
//! ```text
//! let (x, back) = { let hand = Lent::new(hand); let made = …; let back = Lent::back(hand); (made, back) };
//! hand = back;
//! ```

use proc_macro2::{Ident, Span};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Local, Pat, Stmt, parse_quote};

use super::InPlace;
use crate::desugar::runs::Lent;

/// Rewrites them; true if there is one.
pub(super) fn in_runs<'a>(stmt: &mut Stmt, lent: &Lent<'_>, places: &dyn Fn() -> InPlace<'a>) -> bool {
    let place = places();
    let mut inside = Inside { lent, places, any: false };
    if place.mutable && !place.reference {
        inside.visit_stmt_mut(stmt);
    }
    inside.any
}

struct Inside<'l, 'a> {
    lent: &'l Lent<'l>,
    places: &'l dyn Fn() -> InPlace<'a>,
    any: bool,
}

impl Inside<'_, '_> {
    /// `let x = value;`, with the local in place for the value.
    fn bound(&self, stmt: &Stmt) -> Option<[Stmt; 2]> {
        let Stmt::Local(Local { pat: Pat::Ident(pat), init: Some(init), attrs, .. }) = stmt else {
            return None;
        };
        if pat.by_ref.is_some() || pat.subpat.is_some() || init.diverge.is_some() || !attrs.is_empty() {
            return None;
        }
        let (mut value, mut place) = (init.expr.clone(), (self.places)());
        place.visit_expr_mut(&mut value);
        if place.refused || place.defined > 0 {
            return None;
        }
        let (krate, kind, ident) = (place.krate, place.kind, Ident::new(self.lent.name, Span::call_site()));
        let [made, back] = ["__made", "__back"].map(|name| Ident::new(name, Span::mixed_site()));
        Some([
            parse_quote!(let (#pat, #back) = {
                let #ident = #krate::__rt::#kind::new(#ident);
                let #made = #value;
                let #back = #krate::__rt::#kind::back(#ident);
                (#made, #back)
            };),
            parse_quote!(#ident = #back;),
        ])
    }
}

impl VisitMut for Inside<'_, '_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        // Before there is a place in this one.
        visit_mut::visit_block_mut(self, block);
        for run in self.lent.runs(block, 0).into_iter().rev().filter(|run| run.start() == run.end()) {
            if let Some(bound) = self.bound(&block.stmts[*run.start()]) {
                block.stmts.splice(run, bound);
                self.any = true;
            }
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
