//! What a pattern binds of a local, `if let Some(node) = &root`, may be given to a call: then the argument borrows from the local too.

use syn::Expr;
use syn::spanned::Spanned;

use super::chains::{yields_number, yields_owned};
use super::lent::{is_exclusive, may_borrow};
use super::scan::{hands_on, makes_of, only_looks_at_arguments};
use super::{Borrower, Lowering};
use crate::effects::variable;
use crate::ir::{VarId, VarSet};

impl Lowering<'_> {
    /// Remembers that an argument borrows what the variables in it do. Not from a `&mut`: what is behind it stays where it is.
    pub(super) fn note_carried(&mut self, arg: &Expr, var: VarId) {
        if self.cursor.is_none() || !self.type_of(var).is_some_and(may_borrow) {
            return;
        }
        let mut carried = VarSet::new();
        self.carried(arg, &mut carried);
        let owned = |name: &str| self.names.get(name).is_some_and(|var| !is_exclusive(self.type_of(*var)));
        let from: Vec<(usize, String)> = self
            .borrowers
            .iter()
            .filter(|borrower| carried.contains(&borrower.var) && borrower.var != var)
            .flat_map(|borrower| &borrower.from)
            .filter(|(_, name)| owned(name))
            .cloned()
            .collect();
        if !from.is_empty() {
            self.borrowers.push(Borrower { var, span: arg.span(), from });
        }
    }

    /// The variables that a value may borrow from, or through.
    fn carried(&self, expr: &Expr, vars: &mut VarSet) {
        let mut all = |exprs: &mut dyn Iterator<Item = &Expr>| exprs.for_each(|e| self.carried(e, vars));
        match expr {
            Expr::Path(_) => vars.extend(variable(&self.names, expr)),
            Expr::Reference(e) => self.carried(&e.expr, vars),
            Expr::Unary(e) if matches!(e.op, syn::UnOp::Deref(_)) => self.carried(&e.expr, vars),
            Expr::Field(e) => self.carried(&e.base, vars),
            Expr::Index(e) => self.carried(&e.expr, vars),
            Expr::Paren(e) => self.carried(&e.expr, vars),
            Expr::Group(e) => self.carried(&e.expr, vars),
            Expr::Try(e) => self.carried(&e.expr, vars),
            Expr::MethodCall(e) if yields_number(&e.method) || yields_owned(self, e) => {}
            Expr::MethodCall(e) => {
                self.carried(&e.receiver, vars);
                if !only_looks_at_arguments(&e.method) {
                    e.args.iter().for_each(|arg| self.carried(arg, vars));
                }
            }
            Expr::Call(e) if makes_of(&e.func) || hands_on(self, &e.func) => all(&mut e.args.iter()),
            Expr::Tuple(e) => all(&mut e.elems.iter()),
            Expr::Array(e) => all(&mut e.elems.iter()),
            Expr::Struct(e) => all(&mut e.fields.iter().map(|field| &field.expr)),
            Expr::If(e) => {
                let otherwise = e.else_branch.iter().map(|(_, e)| &**e);
                all(&mut super::scan::tail(&e.then_branch).into_iter().chain(otherwise));
            }
            Expr::Match(e) => all(&mut e.arms.iter().map(|arm| &*arm.body)),
            Expr::Block(e) => all(&mut super::scan::tail(&e.block).into_iter()),
            _ => {}
        }
    }
}
