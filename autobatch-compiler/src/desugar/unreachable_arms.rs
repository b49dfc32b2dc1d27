//! Arms behind one that takes all, `match x { y => a, Some(z) if b => c }`, are left out: no control arrives there, and
//! what they mention would seem to be needed.

use syn::{Block, Expr, Pat};

use crate::syntax::walk::{self, AtMut};

/// Leaves them out of a body.
pub(crate) fn arms(body: &mut Block) {
    walk::map(body, |at| {
        if let AtMut::Expr(Expr::Match(e)) = at {
            let all = e.arms.iter().position(|arm| arm.attrs.is_empty() && takes_all(&arm.pat));
            e.arms.truncate(all.map_or(usize::MAX, |all| all + 1));
        }
    });
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
