//! Parameters that are functions: `f: impl Fn(f64) -> f64`, `f: F` where `F: FnMut(f64) -> (f64, f64)`.
//!
//! **Invariant:** what is said of such a parameter stands in its bound.

use syn::{Expr, GenericParam, Ident, ParenthesizedGenericArguments, PathArguments, ReturnType, Type};
use syn::{Pat, TypeParamBound, WherePredicate, parse_quote};

use crate::item::model::{Function, Param};
use crate::syntax::mentions::{bare, is_type, name, typed};
use crate::syntax::walk::{self, At};

/// What a parameter that is a function takes and yields.
pub(crate) struct ClosureParam {
    /// `Fn`, `FnMut` or `FnOnce`.
    of_trait: Ident,
    inputs: Vec<Type>,
    output: Type,
}

impl ClosureParam {
    /// What it is, if a parameter is one, or a reference to one. Its types are written without type parameters.
    pub(crate) fn of(function: &Function, param: &Param) -> Option<ClosureParam> {
        let ty = match &param.ty {
            Type::Reference(r) if r.mutability.is_none() => &*r.elem,
            ty => ty,
        };
        let generics = &function.sig.generics;
        let bounds: Vec<&TypeParamBound> = match ty {
            Type::TraitObject(object) => object.bounds.iter().collect(),
            Type::Path(path) => bounds(function, path.path.get_ident()?).collect(),
            _ => return None,
        };
        let mut bounds = bounds.into_iter().filter_map(of_bound);
        let found = bounds.next().filter(|_| bounds.next().is_none())?;
        let is_open = |ty: &Type| {
            walk::any(ty, |at| match at {
                At::PathSegment(s) => generics.type_params().any(|p| p.ident == s.ident),
                At::Type(Type::ImplTrait(_)) | At::Lifetime(_) => true,
                _ => false,
            })
        };
        let open = found.inputs.iter().chain([&found.output]).any(is_open);
        (!open).then_some(found)
    }

    /// An argument with the types that the bound gives it: a closure, or the name of a function that does not change.
    pub(crate) fn typed(&self, arg: &Expr) -> Option<Expr> {
        let arg = match bare(arg) {
            Expr::Reference(e) if e.mutability.is_none() => bare(&e.expr),
            arg => arg,
        };
        let Expr::Closure(closure) = arg else {
            return name(arg).filter(|_| self.of_trait == "Fn").map(|_| arg.clone());
        };
        if closure.inputs.len() != self.inputs.len() || closure.asyncness.is_some() {
            return None;
        }
        let mut closure = closure.clone();
        for (pat, ty) in closure.inputs.iter_mut().zip(&self.inputs) {
            if !matches!(pat, Pat::Type(_)) {
                *pat = typed(pat.clone(), ty.clone());
            }
        }
        if matches!(closure.output, ReturnType::Default) {
            let (output, body) = (&self.output, &closure.body);
            (closure.output, *closure.body) = (parse_quote!(-> #output), parse_quote!({ #body }));
        }
        Some(Expr::Closure(closure))
    }
}

/// Whether all type parameters that a function has are functions that it is given, and it has no others.
pub(crate) fn takes_only_closures(function: &Function) -> bool {
    let params = &function.sig.generics.params;
    params.iter().all(|p| matches!(p, GenericParam::Type(p) if is_closure(function, &p.ident)))
}

/// Whether a type parameter is a function, be it one of other parameters' types.
pub(crate) fn is_closure(function: &Function, param: &Ident) -> bool {
    bounds(function, param).filter_map(of_bound).count() == 1
}

/// The bounds of a type parameter.
pub(crate) fn bounds<'f>(function: &'f Function, param: &Ident) -> impl Iterator<Item = &'f TypeParamBound> {
    let generics = &function.sig.generics;
    let own = generics.type_params().filter(|p| p.ident == *param).flat_map(|p| &p.bounds);
    let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_param = clauses.filter_map(|clause| match clause {
        WherePredicate::Type(p) if is_type(&p.bounded_ty, param) => Some(&p.bounds),
        _ => None,
    });
    own.chain(of_param.flatten())
}

/// Whether a function is given one.
pub(crate) fn takes_closures(function: &Function) -> bool {
    function.params.iter().any(|param| ClosureParam::of(function, param).is_some())
}

fn of_bound(bound: &TypeParamBound) -> Option<ClosureParam> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let segment = bound.path.segments.last()?;
    let PathArguments::Parenthesized(ParenthesizedGenericArguments { inputs, output, .. }) =
        &segment.arguments
    else {
        return None;
    };
    let output = match output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => parse_quote!(()),
    };
    Some(ClosureParam {
        of_trait: segment.ident.clone(),
        inputs: inputs.iter().map(|input| input.ty.clone()).collect(),
        output,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::ir::testing::functions;
    use crate::syntax::mentions::text;

    #[test]
    fn bounds_give_closures_their_types() {
        for signature in [
            quote!(fn h(f: impl Fn(f64) -> f64)),
            quote!(fn h<F: Fn(f64) -> f64>(f: F)),
            quote!(fn h<F>(f: &F) where F: Fn(f64) -> f64 + Sync),
            quote!(fn h(f: &dyn Fn(f64) -> f64)),
        ] {
            let function = functions(quote!(#[autobatch] mod m { #signature {} })).remove(0);
            let closure = ClosureParam::of(&function, &function.params[0]).expect("a bound");
            let typed = closure.typed(&parse_quote!(&|x| x + 1.0)).expect("a closure");
            assert_eq!(text(&typed), text(&quote!(|x: f64| -> f64 { x + 1.0 })), "{signature}");
            assert!(closure.typed(&parse_quote!(|x, y| x)).is_none());
            assert!(
                closure.typed(&parse_quote!(sin)).is_some() && closure.typed(&parse_quote!(a.b)).is_none()
            );
        }
    }

    #[test]
    fn other_parameters_are_none() {
        for (signature, is_given) in [
            (quote!(fn h(x: f64)), false),
            (quote!(fn h<T>(f: impl Fn(T) -> T, x: T)), false),
            (quote!(fn h<T: Fn(f64) -> f64, U>(f: T, x: U)), true),
            (quote!(fn h(f: impl Fn(&'static str) -> f64)), false),
        ] {
            let function = functions(quote!(#[autobatch] mod m { #signature {} })).remove(0);
            assert_eq!(takes_closures(&function), is_given, "{signature}");
        }
    }
}
