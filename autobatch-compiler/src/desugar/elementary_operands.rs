//! Elementary functions in statements of their own, in programs that only compute under `vector_math`.
//!
//! ```text
//! let y = a.sin() * x + b.exp();   ──▶   let __elementary_1 = a.sin(); let __elementary_2 = b.exp();
//!                                        let y = __elementary_1 * x + __elementary_2;
//! ```
//!
//! Between statements straight code can be cut into loops of their own (`codegen/loop_distribution.rs`). What fails first does not
//! matter there, as all of it is done again as scalar code.

use proc_macro2::Span;
use syn::{Block, Expr, Ident, Local, Stmt, parse_quote};

use crate::desugar::operands::operands;
use crate::item::model::{Function, rebind};
use crate::std_models::elementary::is_library;
use crate::std_models::pure::is_pure_function;
use crate::syntax::mentions::bare;
use crate::syntax::visit_mut::{self, VisitMut};

/// Gives each elementary function of a body that is surely called a statement.
pub(crate) fn rewrite(function: &mut Function) {
    let mut body = function.body.clone();
    let mut statements = Statements { names: 0 };
    statements.visit_block_mut(&mut body);
    if statements.names > 0 {
        rebind(function, body);
    }
}

struct Statements {
    names: usize,
}

impl Statements {
    /// Takes the calls out of what is evaluated in an expression. `false`: something else may have changed variables by then.
    fn take(&mut self, expr: &mut Expr, before: &mut Vec<Stmt>) -> bool {
        let Some(all) = operands(expr) else { return !may_change(expr) };
        if !all.into_iter().all(|operand| self.operand(operand, before)) {
            return false;
        }
        // What stands behind a call of the program would have to be kept over it.
        match expr {
            Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if is_pure_function(path)),
            Expr::If(_) | Expr::Match(_) | Expr::Assign(_) => false,
            _ => true,
        }
    }

    /// The same, and the expression itself, if it is such a call.
    fn operand(&mut self, expr: &mut Expr, before: &mut Vec<Stmt>) -> bool {
        let goes_on = self.take(expr, before);
        if goes_on && is_elementary(expr) {
            self.names += 1;
            let name = Ident::new(&format!("__elementary_{}", self.names), Span::mixed_site());
            before.push(parse_quote!(let #name = #expr;));
            *expr = parse_quote!(#name);
        }
        goes_on
    }
}

/// Whether more is done in an expression than to look at places.
fn may_change(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Field(e) => may_change(&e.base),
        Expr::Index(e) => may_change(&e.expr) || may_change(&e.index),
        other => !matches!(other, Expr::Path(_) | Expr::Lit(_)),
    }
}

fn is_elementary(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => is_library(&call.method),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
            if is_pure_function(path) && path.path.segments.last().is_some_and(|last| is_library(&last.ident))),
        _ => false,
    }
}

impl VisitMut for Statements {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            match &mut stmt {
                Stmt::Local(Local { init: Some(init), .. }) => _ = self.take(&mut init.expr, &mut stmts),
                Stmt::Expr(expr, _) => _ = self.take(expr, &mut stmts),
                _ => {}
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::ir::testing::functions;
    use crate::syntax::mentions::text;

    #[test]
    fn each_call_that_is_surely_made_has_a_statement() {
        let mut f = functions(quote!(
            fn f(a: f64, b: f64) -> f64 {
                let y = a.sin() * f64::exp(b * a.cos());
                let z = if y.tan() > 0.0 { y.ln() } else { 1.0 };
                let w = z.sin() + f(a.exp(), b) * b.sin();
                w.exp()
            }
        ))
        .remove(0);
        rewrite(&mut f);
        let expected = quote!({
            let __elementary_1 = a.sin();
            let __elementary_2 = a.cos();
            let __elementary_3 = f64::exp(b * __elementary_2);
            let y = __elementary_1 * __elementary_3;
            let __elementary_4 = y.tan();
            let z = if __elementary_4 > 0.0 { y.ln() } else { 1.0 };
            let __elementary_5 = z.sin();
            let __elementary_6 = a.exp();
            let w = __elementary_5 + f(__elementary_6, b) * b.sin();
            w.exp()
        });
        assert_eq!(text(&f.body), text(&expected));
    }
}
