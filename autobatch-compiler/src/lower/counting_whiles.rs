//! `while` loops that count, as `for` loops.
//!
//! ```text
//! let mut j = 0;                           let mut j = 0;                  // nobody reads it
//! while j < b.len() {                      for at in 0..b.len() {
//!     row[j] = …;                   ──▶        row[at] = …;
//!     j += 1;                              }
//! }
//! ```
//!
//! **Invariant:** the `for` makes the same rounds: the end is a number that nobody changes, and the counter changes at the end of a
//! round only, by one, and is not looked at behind the loop.

use syn::{BinOp, Expr, ExprForLoop, ExprWhile, Pat, Stmt, parse_quote};

use crate::analysis::lane_interchange::is_members_list;
use crate::ir::effects::{self, bound, variable};
use crate::ir::{Role, VarId};
use crate::lower::lowering::Lowering;
use crate::lower::scan::leaves;
use crate::std_models::pure::{is_primitive, literal};
use crate::syntax::mentions::{assignment, bare, untyped};
use crate::syntax::walk::{self, At, AtMut};

impl Lowering<'_> {
    /// A loop that counts up from what the statements before it say, as a `for`, if those behind it don't look at the counter.
    pub(super) fn counting_while(
        &mut self,
        before: &[Stmt],
        e: &ExprWhile,
        behind: &[Stmt],
    ) -> Option<ExprForLoop> {
        let Expr::Binary(cond) = bare(&e.cond) else { return None };
        let counter = variable(&self.names, &cond.left)?;
        let (last, body) = e.body.stmts.split_last()?;
        let is_plain = e.label.is_none() && e.attrs.is_empty() && !leaves(&e.body);
        if !is_plain || !self.counts_up(last, counter) || !self.only_reads(body, counter) {
            return None;
        }
        let mentions = |stmt: &&Stmt| effects::of(&self.names, *stmt).mentions.contains(&counter);
        let start = self.first_count(before.iter().rfind(mentions)?, counter)?;
        if behind.iter().any(|stmt| mentions(&stmt)) {
            return None;
        }
        let end = &*cond.right;
        let range: Expr = match cond.op {
            BinOp::Lt(_) if self.is_length(end) || self.is_fixed(end) => parse_quote!(#start..#end),
            // No list is so long that the counter would overflow.
            BinOp::Le(_) if self.is_length(end) => parse_quote!(#start..=#end),
            _ => return None,
        };
        let (_, at) = self.temp("at", None);
        let mut body = body.to_vec();
        walk::map(&mut body[..], |node| {
            if let AtMut::Expr(expr) = node
                && variable(&self.names, expr) == Some(counter)
            {
                *expr = parse_quote!(#at);
            }
        });
        Some(parse_quote!(for #at in #range { #(#body)* }))
    }

    /// Whether a statement is `counter += 1;`.
    fn counts_up(&self, stmt: &Stmt, counter: VarId) -> bool {
        let Stmt::Expr(Expr::Binary(e), _) = stmt else { return false };
        let is_one = matches!(e.op, BinOp::AddAssign(_)) && literal(&e.right) == Some(1);
        is_one && variable(&self.names, &e.left) == Some(counter)
    }

    /// Whether code looks at a variable, if at all, and ends each round where it ends itself.
    fn only_reads(&self, code: &[Stmt], var: VarId) -> bool {
        !walk::any(code, |at| match at {
            At::Expr(Expr::Continue(_) | Expr::Closure(_)) | At::Macro(_) => true,
            At::Expr(Expr::Reference(e)) => {
                e.mutability.is_some() && variable(&self.names, &e.expr) == Some(var)
            }
            At::Expr(e) => {
                assignment(e)
                    .is_some_and(|(place, _)| effects::of(&self.names, place).mentions.contains(&var))
                    && !matches!(assignment(e), Some((Expr::Index(_), _)))
            }
            _ => false,
        })
    }

    /// The number that a `let` gives a counter.
    fn first_count(&self, stmt: &Stmt, counter: VarId) -> Option<Expr> {
        let Stmt::Local(local) = stmt else { return None };
        let init = &local.init.as_ref().filter(|init| init.diverge.is_none())?.expr;
        let is_local = matches!(self.program.var(counter).role, Role::Local);
        let is_it =
            matches!(local.pat, Pat::Ident(_)) && bound(&self.names, untyped(&local.pat)).contains(&counter);
        // A literal says that it is a primitive number.
        (is_local && is_it && literal(init).is_some()).then(|| (**init).clone())
    }

    /// Whether an expression is a primitive number that stays as it is: a literal, or a variable that nobody assigns.
    fn is_fixed(&self, expr: &Expr) -> bool {
        let is_number =
            |var: VarId| !self.program.var(var).mutable && self.type_of(var).is_some_and(is_primitive);
        literal(expr).is_some() || variable(&self.names, expr).is_some_and(is_number)
    }

    /// Whether an expression is the length of a member's list.
    fn is_length(&self, expr: &Expr) -> bool {
        let Expr::MethodCall(e) = bare(expr) else { return false };
        let list = variable(&self.names, &e.receiver).map(|var| self.program.var(var));
        list.is_some_and(is_members_list) && e.method == "len" && e.args.is_empty()
    }
}
