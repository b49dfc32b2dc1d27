//! What a pattern binds of a local, `if let Some(node) = &root`, may be given to a call, or get another name: then that borrows from
//! the local too.

use syn::spanned::Spanned;
use syn::{Expr, Ident, Member, Type};

use super::chains::{yields_number, yields_owned};
use super::lent::{is_exclusive, may_borrow};
use super::references::yields_reference;
use super::scan::{hands_on, makes_of, only_looks_at_arguments, tail};
use super::{Borrower, Lowering};
use crate::effects::variable;
use crate::ir::{VarId, VarSet};

impl Lowering<'_> {
    /// Remembers that an argument borrows what the variables in it do. Not from a `&mut`: what is behind it stays where it is.
    pub(super) fn note_carried(&mut self, arg: &Expr, var: VarId) {
        if self.cursor.is_none() || !self.type_of(var).is_some_and(may_borrow) {
            return;
        }
        let carried = carried(self, arg);
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
}

/// The variables that a value may borrow from, or through, if its type can borrow at all.
fn carried(lower: &Lowering<'_>, value: &Expr) -> VarSet {
    let mut scan = Carried { lower, copies: true, vars: VarSet::new() };
    scan.expr(value);
    scan.vars
}

/// The same of a value of whatever type: where it may be a copy of a part, it is taken for one that borrows nothing.
pub(super) fn held(lower: &Lowering<'_>, value: &Expr) -> VarSet {
    let mut scan = Carried { lower, copies: false, vars: VarSet::new() };
    scan.expr(value);
    scan.vars
}

struct Carried<'a, 'b> {
    lower: &'a Lowering<'b>,
    /// Whether a copy of a part, and what an unknown method yields, may borrow.
    copies: bool,
    vars: VarSet,
}

impl Carried<'_, '_> {
    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|e| self.expr(e));
    }

    /// A place that is referred to.
    fn place(&mut self, place: &Expr) {
        let copies = std::mem::replace(&mut self.copies, true);
        self.expr(place);
        self.copies = copies;
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Path(_) => self.vars.extend(variable(&self.lower.names, expr)),
            Expr::Reference(e) => self.place(&e.expr),
            Expr::Unary(e) if self.copies && matches!(e.op, syn::UnOp::Deref(_)) => self.expr(&e.expr),
            Expr::Field(e) if self.copies || self.is_reference(&e.member) => self.expr(&e.base),
            Expr::Index(e) if self.copies => self.expr(&e.expr),
            Expr::Paren(e) => self.expr(&e.expr),
            Expr::Group(e) => self.expr(&e.expr),
            Expr::Try(e) => self.expr(&e.expr),
            Expr::MethodCall(e) if yields_number(&e.method) || yields_owned(self.lower, e) => {}
            Expr::MethodCall(e) if self.copies || self.refers(&e.method) => {
                self.place(&e.receiver);
                if !only_looks_at_arguments(&e.method) {
                    self.all(&e.args);
                }
            }
            Expr::Call(e) if makes_of(&e.func) || hands_on(self.lower, &e.func) => self.all(&e.args),
            Expr::Tuple(e) => self.all(&e.elems),
            Expr::Array(e) => self.all(&e.elems),
            Expr::Struct(e) => self.all(e.fields.iter().map(|field| &field.expr).chain(e.rest.as_deref())),
            Expr::If(e) => {
                let otherwise = e.else_branch.iter().map(|(_, e)| &**e);
                self.all(tail(&e.then_branch).into_iter().chain(otherwise));
            }
            Expr::Match(e) => self.all(e.arms.iter().map(|arm| &*arm.body)),
            Expr::Block(e) => self.all(tail(&e.block)),
            _ => {}
        }
    }

    /// Whether fields of the name are references, as far as types show them.
    fn is_reference(&self, member: &Member) -> bool {
        let Member::Named(name) = member else { return false };
        let methods = &self.lower.functions[self.lower.current].methods;
        methods.has_fields(name, &|ty| matches!(ty, Type::Reference(_)))
    }

    /// Whether a method yields what borrows from its receiver, or what its receiver holds.
    fn refers(&self, method: &Ident) -> bool {
        yields_reference(method)
            || self.lower.functions[self.lower.current].methods.known(method).is_some_and(|m| m.borrows)
    }
}
