//! Copies of functions, made by inline expansion, as statements: they come before the one that they stand in, if nothing that is
//! evaluated before can fail or be seen. Else they stay blocks.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprBlock, Ident, Local, Stmt, parse_quote};

use crate::desugar::operands::operands;
use crate::syntax::mentions::bare;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Code};

/// What marks a copy, and whether it changes what it was lent.
pub(super) struct Mark {
    pub(super) changes: bool,
}

const COPY: &str = "autobatch_copy";
const CHANGES: &str = "autobatch_copy_that_changes";

impl ToTokens for Mark {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let name = Ident::new(if self.changes { CHANGES } else { COPY }, Span::mixed_site());
        tokens.extend(quote!(#[#name]));
    }
}

/// Whether an expression is a copy that only computes.
fn is_copy(expr: &Expr) -> bool {
    is_marked(expr, COPY)
}

/// Whether an expression is a copy.
pub(super) fn is_any_copy(expr: &Expr) -> bool {
    is_copy(expr) || is_marked(expr, CHANGES)
}

/// Whether a copy that changes something stands in code.
pub(super) fn has_changing_copy(code: &(impl Code + ?Sized)) -> bool {
    walk::any(code, |at| matches!(at, At::Expr(e) if is_marked(e, CHANGES)))
}

fn is_marked(expr: &Expr, mark: &str) -> bool {
    matches!(expr, Expr::Block(e) if e.attrs.iter().any(|attr| attr.path().is_ident(mark)))
}

/// Takes the marks of copies away, and puts what stands in one before the statement that it stands in where it can.
pub(super) fn flatten(body: &mut Block) {
    Flatten { names: 0 }.visit_block_mut(body);
}

struct Flatten {
    names: usize,
}

impl Flatten {
    /// Takes what copies in an expression do before it. `false`: nothing more may be taken from what is evaluated behind.
    fn take(&mut self, expr: &mut Expr, before: &mut Vec<Stmt>) -> bool {
        if is_any_copy(expr) {
            return self.splice(expr, before);
        }
        let keeps = matches!(
            expr,
            Expr::Lit(_) | Expr::Path(_) | Expr::Paren(_) | Expr::Tuple(_) | Expr::Array(_) | Expr::Struct(_)
        );
        // Of a call of a method the first operand is a place.
        let are_values = !matches!(expr, Expr::MethodCall(_));
        operands(expr).is_some_and(|all| self.all(all, are_values, before)) && keeps
    }

    /// The same for expressions that are evaluated in turn. What an operator has computed before is kept in a variable; so is all else
    /// before a copy that may change it.
    fn all(&mut self, mut exprs: Vec<&mut Expr>, are_values: bool, before: &mut Vec<Stmt>) -> bool {
        let has = |found: &dyn Fn(&Expr) -> bool| {
            let any = |e: &&mut Expr| walk::any(&**e, |at| matches!(at, At::Expr(e) if found(e)));
            exprs.iter().rposition(any)
        };
        let (end, change) = (has(&is_any_copy), has(&|e| is_marked(e, CHANGES)));
        for (at, expr) in exprs.iter_mut().enumerate() {
            let is_stable = self.take(expr, before);
            let before_change =
                change.is_some_and(|change| at < change) && !matches!(bare(expr), Expr::Lit(_));
            if before_change || !is_stable && end.is_some_and(|end| at < end) {
                let is_operation = matches!(bare(expr), Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_));
                if !(is_operation || before_change && are_values) {
                    return false;
                }
                self.names += 1;
                let name = Ident::new(&format!("__operand_{}", self.names), Span::mixed_site());
                before.push(parse_quote!(let #name = #expr;));
                **expr = parse_quote!(#name);
            }
        }
        exprs.iter().all(|expr| matches!(bare(expr), Expr::Lit(_) | Expr::Path(_)))
    }

    fn statement(&mut self, stmt: &mut Stmt, before: &mut Vec<Stmt>) {
        let expr = match stmt {
            Stmt::Local(Local { init: Some(init), .. }) => &mut *init.expr,
            Stmt::Expr(e, _) => e,
            _ => return,
        };
        self.take(expr, before);
    }

    /// Puts the statements of a block before it.
    fn splice(&mut self, expr: &mut Expr, before: &mut Vec<Stmt>) -> bool {
        let Expr::Block(ExprBlock { block, .. }) = expr else { return false };
        let mut stmts = std::mem::take(&mut block.stmts);
        let Some(Stmt::Expr(value, None)) = stmts.pop() else { return false };
        *expr = value;
        for mut stmt in stmts {
            self.statement(&mut stmt, before);
            before.push(stmt);
        }
        true
    }
}

impl VisitMut for Flatten {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.statement(&mut stmt, &mut stmts);
            // The value of a copy that has none.
            let is_nothing = matches!(&stmt, Stmt::Expr(e, Some(_)) if matches!(bare(e), Expr::Tuple(t) if t.elems.is_empty()));
            if !is_nothing {
                stmts.push(stmt);
            }
        }
        block.stmts = stmts;
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let copy = is_any_copy(expr);
        if let (true, Expr::Block(e)) = (copy, &mut *expr) {
            e.attrs.clear();
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
