//! Arms behind one that takes all, `match x { y => a, Some(z) if b => c }`, are left out: no control arrives there, and
//! what they mention would seem to be needed.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, ExprMatch, Pat};

/// Leaves them out of a body.
pub(crate) fn arms(body: &mut Block) {
    Arms.visit_block_mut(body);
}

struct Arms;

impl VisitMut for Arms {
    fn visit_expr_match_mut(&mut self, e: &mut ExprMatch) {
        let all = e.arms.iter().position(|arm| arm.attrs.is_empty() && takes_all(&arm.pat));
        e.arms.truncate(all.map_or(usize::MAX, |all| all + 1));
        visit_mut::visit_expr_match_mut(self, e);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Whether a pattern certainly takes any value.
fn takes_all(pat: &Pat) -> bool {
    match pat {
        Pat::Wild(_) => true,
        // Constants have upper case names.
        Pat::Ident(p) => p.subpat.is_none() && !p.ident.to_string().starts_with(char::is_uppercase),
        _ => false,
    }
}
