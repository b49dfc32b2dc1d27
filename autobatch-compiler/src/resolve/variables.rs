//! The types of a function's variables, whose names are unique, in one scope.

use std::collections::BTreeMap;

use syn::{Expr, Pat, Type};

use crate::item::model::Function;
use crate::resolve::resolution::VariableTypes;
use crate::resolve::types::{Scopes, Types};
use crate::syntax::walk::{self, At};

/// The types of all variables of a function, as far as they are known or follow from what is written.
pub(crate) fn types(function: &Function, known: &VariableTypes, types: &Types<'_>) -> Scopes {
    let mut scopes = given(function, known);
    for ty in scopes[0].values_mut().flatten() {
        *ty = types.plain(ty);
    }
    walk::each(&function.body, |at| learn(&mut scopes, at, types));
    scopes
}

/// Adds the types of the variables that a piece of code binds.
pub(crate) fn learn(scopes: &mut Scopes, at: At<'_>, types: &Types<'_>) {
    // What does not follow here may be known from elsewhere.
    let bind = |scopes: &mut Scopes, pat: &Pat, ty: Option<Type>| {
        let mut found: Scopes = vec![BTreeMap::new()];
        types.bind(&mut found, pat, ty);
        for (name, ty) in found.into_iter().flatten() {
            if ty.is_some() || !scopes[0].contains_key(&name) {
                scopes[0].insert(name, ty);
            }
        }
    };
    match at {
        At::Local(local) => {
            let written = match &local.pat {
                Pat::Type(p) => Some(types.plain(&p.ty)),
                _ => None,
            };
            let ty = written.or_else(|| types.of_local(scopes, local));
            bind(scopes, &local.pat, ty);
        }
        At::Expr(Expr::ForLoop(e)) => {
            let item = types.of(scopes, &e.expr).and_then(|ty| types.item(ty));
            bind(scopes, &e.pat, item);
        }
        At::Expr(Expr::MethodCall(e)) => {
            let inputs = types.closure_inputs(scopes, e);
            let closures = e.args.iter().filter_map(|arg| match arg {
                Expr::Closure(closure) => Some(closure),
                _ => None,
            });
            for (pat, input) in closures.flat_map(|closure| closure.inputs.iter().zip(&inputs)) {
                bind(scopes, pat, input.clone());
            }
        }
        _ => {}
    }
}

/// Those that are known, and its parameters'.
pub(crate) fn given(function: &Function, known: &VariableTypes) -> Scopes {
    let mut types = known.clone();
    for param in &function.params {
        types.entry(param.ident.to_string()).or_insert_with(|| param.ty.clone());
    }
    vec![types.into_iter().map(|(name, ty)| (name, Some(ty))).collect()]
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;

    #[test]
    fn what_does_not_follow_here_stays_known() {
        let function = &functions(quote!(
            fn f(x: f64) -> f64 {
                let a = other(x);
                let b = [x; 2];
                for c in b {
                    a.d;
                }
                x
            }
        ))[0];
        let known = VariableTypes::from([("a".to_string(), parse_quote!(Other))]);
        let types = Types { definitions: &Definitions::default(), functions: &[], own: None };
        let found = self::types(function, &known, &types).remove(0);
        let text = |name: &str| found[name].as_ref().map(crate::syntax::mentions::text);
        let expected = [("a", "Other"), ("b", "[f64 ; 2]"), ("c", "f64"), ("x", "f64")];
        for (name, ty) in expected {
            assert_eq!(text(name).as_deref(), Some(ty), "{name}");
        }
    }
}
