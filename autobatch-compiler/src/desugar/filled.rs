//! `let x; if c { x = a; } else { x = b; }` is `let x = if c { a } else { b };`, so that `x` is a local like others: one that gets its
//! value on some paths can't live in place.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Local, LocalInit, Pat, Stmt, parse_quote};

use super::runs::mentions;
use crate::cfg;
use crate::mentions::is_variable;

/// Rewrites a body, whose names are unique. True if there is one.
pub(super) fn locals(body: &mut Block) -> bool {
    let mut fill = Fill { any: false };
    fill.visit_block_mut(body);
    fill.any
}

struct Fill {
    any: bool,
}

impl VisitMut for Fill {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut i = 0;
        while i + 1 < block.stmts.len() {
            if let [declared, fills] = &block.stmts[i..i + 2]
                && let Some(new) = filled(declared, fills)
            {
                block.stmts.splice(i..i + 2, [new]);
                self.any = true;
            }
            i += 1;
        }
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The two statements as one.
fn filled(declared: &Stmt, fills: &Stmt) -> Option<Stmt> {
    let Stmt::Local(local @ Local { init: None, .. }) = declared else { return None };
    let name = match &local.pat {
        Pat::Type(t) => variable(&t.pat)?,
        pat => variable(pat)?,
    };
    if cfg::is_conditional(declared) || cfg::is_conditional(fills) {
        return None;
    }
    let Stmt::Expr(expr @ (Expr::If(_) | Expr::Match(_)), _) = fills else { return None };
    let mut value = expr.clone();
    let mut new = local.clone();
    (local.attrs.is_empty() && yields(&mut value, &name)).then(|| {
        new.init = Some(LocalInit { eq_token: Default::default(), expr: value.into(), diverge: None });
        Stmt::Local(new)
    })
}

fn variable(pat: &Pat) -> Option<Ident> {
    match pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Some(p.ident.clone()),
        _ => None,
    }
}

/// Makes an expression that gives the variable a value on all paths, at their ends and nowhere else, one that yields the value.
fn yields(expr: &mut Expr, name: &Ident) -> bool {
    match expr {
        Expr::If(e) => {
            let cond = Stmt::Expr((*e.cond).clone(), None);
            let otherwise = e.else_branch.as_mut().is_some_and(|(_, otherwise)| yields(otherwise, name));
            otherwise && !is_mentioned(&[cond], name) && block_yields(&mut e.then_branch, name)
        }
        Expr::Match(e) => {
            let matched = Stmt::Expr((*e.expr).clone(), None);
            let guards = e.arms.iter().all(|arm| !matches!(arm.pat, Pat::Guard(_)));
            guards
                && !is_mentioned(&[matched], name)
                && e.arms.iter_mut().all(|arm| yields(&mut arm.body, name))
        }
        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => block_yields(&mut e.block, name),
        Expr::Assign(e) if is_variable(&e.left, &name.to_string()) => {
            let value = (*e.right).clone();
            let plain = !is_mentioned(&[Stmt::Expr(value.clone(), None)], name);
            *expr = value;
            plain
        }
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
            !is_mentioned(&[Stmt::Expr(expr.clone(), None)], name)
        }
        _ => false,
    }
}

fn block_yields(block: &mut Block, name: &Ident) -> bool {
    let conditional = block.stmts.last().is_none_or(cfg::is_conditional);
    let Some(Stmt::Expr(last, semi)) = block.stmts.pop() else { return false };
    let mut value = last;
    if conditional || is_mentioned(&block.stmts, name) || !yields(&mut value, name) {
        return false;
    }
    if matches!(value, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_)) {
        block.stmts.push(Stmt::Expr(value, semi));
        return true;
    }
    // What the value is made with is dropped before the block's locals, as in the assignment.
    let made = Ident::new("__made", proc_macro2::Span::mixed_site());
    block.stmts.push(parse_quote!(let #made = #value;));
    block.stmts.push(Stmt::Expr(parse_quote!(#made), None));
    true
}

fn is_mentioned(stmts: &[Stmt], name: &Ident) -> bool {
    stmts.iter().any(|stmt| mentions(stmt).contains(&name.to_string()))
}
