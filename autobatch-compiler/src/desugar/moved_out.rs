//! A local that lives in place leaves it where the function ends: `rows`, `Ok(rows)`, `return (rows, n)`.
//!
//! There, nothing of the program runs behind the move: the place need not be kept any longer.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Path, Stmt, parse_quote};

use crate::mentions::{is_variable, spell_out_fields};

/// Takes the local of that name out of its place where the values of the function's body are made of it.
pub(super) fn rewrite(body: &mut Block, name: &str, krate: &Path) {
    let mut ends = Ends { name, krate };
    ends.visit_block_mut(body);
    ends.block(body);
}

/// Whether an expression takes a local out of its place.
pub(super) fn is_taken_out(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if takes_out(call))
}

/// Whether a call takes a local out of its place.
pub(crate) fn takes_out(call: &syn::ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    names.next().as_deref() == Some("back")
        && matches!(names.next().as_deref(), Some("Kept" | "Lent" | "LentRef"))
        && names.next().as_deref() == Some("__rt")
}

struct Ends<'a> {
    name: &'a str,
    krate: &'a Path,
}

impl Ends<'_> {
    fn block(&mut self, block: &mut Block) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.end(tail);
        }
    }

    /// `expr` is the function's result.
    fn end(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(e) => self.end(&mut e.expr),
            Expr::Group(e) => self.end(&mut e.expr),
            Expr::If(e) => {
                self.block(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.end(otherwise);
                }
            }
            Expr::Match(e) => e.arms.iter_mut().for_each(|arm| self.end(&mut arm.body)),
            Expr::Block(e) if e.label.is_none() => self.block(&mut e.block),
            other if is_made_of_values(other) => self.take(other),
            _ => {}
        }
    }

    fn take(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Tuple(e) => e.elems.iter_mut().for_each(|e| self.take(e)),
            Expr::Call(e) => e.args.iter_mut().for_each(|e| self.take(e)),
            Expr::Struct(e) => {
                spell_out_fields(e);
                e.fields.iter_mut().for_each(|field| self.take(&mut field.expr));
            }
            Expr::Paren(e) => self.take(&mut e.expr),
            other if is_variable(other, self.name) => {
                let krate = self.krate;
                *other = parse_quote!(#krate::__rt::Lent::back(#other));
            }
            _ => {}
        }
    }
}

/// Whether an expression is made of variables and literals only, so that nothing else runs when they are moved.
fn is_made_of_values(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Field(e) => is_made_of_values(&e.base),
        Expr::Paren(e) => is_made_of_values(&e.expr),
        Expr::Tuple(e) => e.elems.iter().all(is_made_of_values),
        Expr::Struct(e) => e.rest.is_none() && e.fields.iter().all(|field| is_made_of_values(&field.expr)),
        Expr::Call(e) => {
            let made = matches!(&*e.func, Expr::Path(p)
                if p.path.segments.last().is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase)));
            made && e.args.iter().all(is_made_of_values)
        }
        _ => false,
    }
}

impl VisitMut for Ends<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            Expr::Return(e) => {
                if let Some(value) = &mut e.expr {
                    self.visit_expr_mut(value);
                    self.end(value);
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
