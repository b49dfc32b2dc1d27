//! The types of a function's variables, whose names are unique, in one scope.

use syn::{Expr, Pat};

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
    walk::each(&function.body, |at| match at {
        At::Local(local) => {
            let written = match &local.pat {
                Pat::Type(p) => Some(types.plain(&p.ty)),
                _ => None,
            };
            let ty = written.or_else(|| types.of_local(&scopes, local));
            types.bind(&mut scopes, &local.pat, ty);
        }
        At::Expr(Expr::ForLoop(e)) => {
            let item = types.of(&scopes, &e.expr).and_then(|ty| types.item(ty));
            types.bind(&mut scopes, &e.pat, item);
        }
        _ => {}
    });
    scopes
}

/// Those that are known, and its parameters'.
pub(crate) fn given(function: &Function, known: &VariableTypes) -> Scopes {
    let mut types = known.clone();
    for param in &function.params {
        types.entry(param.ident.to_string()).or_insert_with(|| param.ty.clone());
    }
    vec![types.into_iter().map(|(name, ty)| (name, Some(ty))).collect()]
}
