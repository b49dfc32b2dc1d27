//! What a batched call is handed: values that are copied or moved whole, references to what outlives the activation, and the `&mut`
//! parameters of the caller itself.
//!
//! A local's value moves with its column, so nothing may refer to it during the call: a call that borrows a local, or what may borrow
//! from one, stays a scalar call. A `&mut` parameter that is handed on whole is the callee's for the call, and the caller's again
//! behind it: its target does not move. That the callee keeps nothing of it follows from the signature: its lifetime has no name
//! there, so rustc has checked the scalar function with a lifetime that ends with the call.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Lifetime, Type, UnOp};

use crate::analysis::reference_flow::{LocalBorrow, is_number_type};
use crate::diagnostics::reasons::{self, Reason};
use crate::ir::effects::variable;
use crate::ir::{Role, VarId};
use crate::lower::lowering::Lowering;
use crate::syntax::elision::nameless;
use crate::syntax::mentions::{self, bare};
use crate::syntax::walk::{self, At};

/// Whether a call of the function at `source` can be a batched one as far as its arguments go; else where and why not.
pub(super) fn of_call(lower: &Lowering<'_>, source: usize, args: &[&Expr]) -> Result<(), (Span, Reason)> {
    let function = lower.facts.function(source);
    let mut handed = Vec::new();
    for (arg, param) in args.iter().zip(&function.params) {
        let ty = lower.facts.erased_type(source, &param.ty);
        if let Some((var, whole)) = lent_of(lower, arg) {
            if !whole || !is_param_of_type(lower, var, &ty) {
                return Err((arg.span(), reasons::PART_OF_MUT));
            }
            if names_lifetime(&ty) {
                return Err((arg.span(), reasons::MUT_WITH_LIFETIME));
            }
            if may_borrow(&function.output) {
                return Err((arg.span(), reasons::MUT_IN_RESULT));
            }
            handed.push(var);
            continue;
        }
        match (lower.reference_flow().local_borrow(arg), !is_number_type(&ty)) {
            (_, false) => {}
            // It may borrow from a temporary.
            (LocalBorrow::Never, true) if may_borrow(&ty) && lower.reference_flow().chain(arg).is_none() => {
                return Err((arg.span(), reasons::CALL_BORROWS_TEMPORARY));
            }
            (LocalBorrow::Never, true) => {}
            (LocalBorrow::Possible, true) if !may_borrow(&ty) => {}
            (LocalBorrow::Possible, true) => return Err((arg.span(), reasons::CALL_MAY_BORROW)),
            (LocalBorrow::Certain, true) => return Err((arg.span(), reasons::CALL_BORROWS)),
        }
    }
    for var in handed {
        let mentions = |arg: &&&Expr| crate::ir::effects::of(&lower.names, **arg).mentions.contains(&var);
        if args.iter().filter(mentions).count() > 1 {
            return Err((args[0].span(), reasons::MUT_TWICE));
        }
    }
    Ok(())
}

/// The `&mut` that an argument hands on, `state` or `&mut *state`, and no part of what it refers to.
pub(super) fn exclusive(lower: &Lowering<'_>, arg: &Expr) -> Option<VarId> {
    lent_of(lower, arg).filter(|(_, whole)| *whole).map(|(var, _)| var)
}

/// The `&mut` of which an argument hands on all, or a part.
fn lent_of(lower: &Lowering<'_>, arg: &Expr) -> Option<(VarId, bool)> {
    let is_exclusive = |var: &VarId| matches!(&lower.program.var(*var).ty, Some(Type::Reference(r)) if r.mutability.is_some());
    match bare(arg) {
        Expr::Path(_) => variable(&lower.names, arg).filter(is_exclusive).map(|var| (var, true)),
        Expr::Reference(e) if e.mutability.is_some() => {
            let target = match &*e.expr {
                Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) => variable(&lower.names, &u.expr),
                _ => None,
            };
            let whole = target.is_some();
            let behind = || lower.names.get(&mentions::base(&e.expr)?.path.get_ident()?.to_string()).copied();
            target.or_else(behind).filter(is_exclusive).map(|var| (var, whole))
        }
        _ => None,
    }
}

/// Whether a variable is a parameter of the type.
fn is_param_of_type(lower: &Lowering<'_>, var: VarId, ty: &Type) -> bool {
    let var = lower.program.var(var);
    matches!(var.role, Role::Param(_)) && var.ty.as_ref().is_some_and(|own| nameless(own) == nameless(ty))
}

/// Whether a reference names its lifetime.
fn names_lifetime(ty: &Type) -> bool {
    matches!(ty, Type::Reference(r) if r.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident != "_"))
}

/// Whether a value of the type may borrow, as far as the type is written out.
pub(crate) fn may_borrow(ty: &Type) -> bool {
    let lasts = |lifetime: &Lifetime| lifetime.ident == "static";
    walk::any(ty, |at| match at {
        At::Type(Type::Reference(r)) => !r.lifetime.as_ref().is_some_and(lasts),
        At::Lifetime(lifetime) => !lasts(lifetime),
        At::Type(ty) => matches!(ty, Type::TraitObject(_) | Type::ImplTrait(_) | Type::Macro(_)),
        _ => false,
    })
}
