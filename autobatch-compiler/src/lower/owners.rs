//! Locals that own what they dereference to: `&*kept` of a `Vec`, a `Box`, a `String` borrows the local itself, where `&*x` of a
//! reference hands on what it refers to.

use syn::{Expr, Pat, Type, UnOp};

use super::references::yields_reference;
use super::scan::{hands_on, tail};
use super::{Lowering, lent, named};
use crate::desugar::in_place;
use crate::effects::{bound, variable};
use crate::ir::{VarId, VarSet};
use crate::mentions::bound_by_ref;

impl Lowering<'_> {
    /// The parameters that may own what they dereference to.
    pub(super) fn owning_params(&self, source: usize, params: &[VarId]) -> VarSet {
        let params = params.iter().zip(&self.functions[source].params);
        params.filter(|(_, param)| may_own(&param.ty)).map(|(var, _)| *var).collect()
    }

    /// Remembers what a pattern binds that may own what it dereferences to. Who is taken for an owner and is a reference loses
    /// nothing but time.
    pub(super) fn note_owners(&mut self, pat: &Pat, value: &Expr) {
        let owns = match pat {
            Pat::Type(t) => may_own(&t.ty),
            // What lives in place is lent by name.
            _ => makes_owner(self, value) && !in_place::is_place(value),
        };
        if owns {
            let mut binds = bound(&self.names, pat);
            for ident in bound_by_ref(pat) {
                self.names.get(&ident.to_string()).iter().for_each(|var| _ = binds.remove(var));
            }
            binds.retain(|var| self.type_of(*var).is_none_or(may_own));
            self.owners.extend(binds);
        }
    }

    /// Whether a variable may own what it dereferences to.
    pub(super) fn owns_target(&self, var: VarId) -> bool {
        self.owners.contains(&var) && !self.is_reference(var)
    }

    /// The local that a place is a part of, through what it owns.
    pub(super) fn owner(&self, place: &Expr) -> Option<VarId> {
        match place {
            Expr::Path(_) => variable(&self.names, place),
            Expr::Field(e) => self.owner(&e.base),
            Expr::Index(e) => self.owner(&e.expr),
            Expr::Paren(e) => self.owner(&e.expr),
            Expr::Group(e) => self.owner(&e.expr),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                self.owner(&e.expr).filter(|var| self.owns_target(*var))
            }
            _ => None,
        }
    }
}

fn may_own(ty: &Type) -> bool {
    matches!(ty, Type::Path(_)) && !lent::may_borrow(ty)
}

/// Whether a value may own what it dereferences to, and is not a reference as far as the code shows.
fn makes_owner(lower: &Lowering<'_>, value: &Expr) -> bool {
    let methods = &lower.functions[lower.current].methods;
    match value {
        Expr::Path(_) | Expr::Field(_) => lower.owner(value).is_some_and(|var| lower.owners.contains(&var)),
        Expr::MethodCall(e) if methods.known(&e.method).is_some_and(|method| method.borrows) => false,
        Expr::MethodCall(e) if yields_reference(&e.method) => makes_owner(lower, &e.receiver),
        Expr::MethodCall(_) => true,
        Expr::Call(e) => !hands_on(lower, &e.func),
        Expr::Paren(e) => makes_owner(lower, &e.expr),
        Expr::Try(e) => makes_owner(lower, &e.expr),
        Expr::If(e) => {
            tail(&e.then_branch).is_some_and(|e| makes_owner(lower, e))
                || e.else_branch.as_ref().is_some_and(|(_, e)| makes_owner(lower, e))
        }
        Expr::Match(e) => e.arms.iter().any(|arm| makes_owner(lower, &arm.body)),
        Expr::Block(e) => tail(&e.block).is_some_and(|e| makes_owner(lower, e)),
        Expr::Reference(_) => false,
        other => named::is_temporary(methods, other),
    }
}
