//! Lambda lifting: a closure in a local that is about arrays or structures, or that has a loop of the data, is a helper like others. What it
//! captures are parameters of it.
//!
//! ```text
//! let slope = |[x, y]: [f64; 2]| [y, -k * x];        fn slope([x, y]: [f64; 2], k: f64) -> [f64; 2] { [y, -k * x] }
//! k1 = slope(state);                          ──▶    k1 = slope(state, k);
//! ```
//!
//! The calls are expanded, and a closure that nobody mentions any more is left out.
//!
//! **Invariant:** what a closure captures has the same value at its calls, which rustc sees to while the closure borrows it; one that takes
//! copies takes them of what does not change.

use std::collections::{BTreeMap, BTreeSet};

use quote::format_ident;
use syn::{Block, Expr, ExprClosure, Ident, ItemFn, Local, Pat, Type, Visibility, parse_quote};

use crate::desugar::closure::is_plain;
use crate::desugar::local_closures::mentions_of;
use crate::desugar::loops_of_data;
use crate::desugar::substitution::without_lets;
use crate::diagnostics::sink::Diagnostics;
use crate::item::model::{Function, bind_patterns};
use crate::item::parse;
use crate::resolve::types::{Scopes, Types};
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{assignment, names, roots};
use crate::syntax::walk::{self, At};

/// A closure as a function.
#[derive(Clone)]
pub(super) struct Lifted {
    pub(super) function: Function,
    /// What it captures, by the last parameters.
    pub(super) captured: Vec<Ident>,
}

/// The closures in locals of a function that are worth it, by their names.
pub(super) fn of(function: &Function, scopes: &Scopes, types: &Types<'_>) -> BTreeMap<String, Lifted> {
    let mut all = BTreeMap::new();
    walk::each(&function.body, |at| {
        if let At::Local(local) = at
            && let Some((ident, closure)) = closure_of(local)
            && let Some(lifted) = lifted(function, ident, closure, scopes, types)
        {
            all.insert(ident.to_string(), lifted);
        }
    });
    all
}

/// Leaves out closures of these names that are not mentioned.
pub(super) fn leave_out(body: &mut Block, lifted: &BTreeMap<String, Lifted>) {
    let unused: BTreeSet<&String> = lifted.keys().filter(|name| mentions_of(&*body, name) == 0).collect();
    if !unused.is_empty() {
        without_lets(body, &|name| unused.contains(&name.to_string()));
    }
}

/// The closure that a `let` names.
fn closure_of(local: &Local) -> Option<(&Ident, &ExprClosure)> {
    let (Pat::Ident(pat), Some(init)) = (&local.pat, &local.init) else { return None };
    let Expr::Closure(closure) = &*init.expr else { return None };
    let is_name = pat.mutability.is_none() && pat.by_ref.is_none() && pat.subpat.is_none();
    (is_name && local.attrs.is_empty() && init.diverge.is_none()).then_some((&pat.ident, closure))
}

fn lifted(
    function: &Function,
    ident: &Ident,
    closure: &ExprClosure,
    scopes: &Scopes,
    types: &Types<'_>,
) -> Option<Lifted> {
    if !is_plain(closure) {
        return None;
    }
    let known = |name: &Ident| scopes.iter().rev().find_map(|scope| scope.get(&name.to_string()))?.clone();
    let inputs: Option<Vec<(Pat, Type)>> = closure
        .inputs
        .iter()
        .map(|pat| match pat {
            Pat::Type(p) => Some(((*p.pat).clone(), types.plain(&p.ty))),
            Pat::Ident(p) => Some((pat.clone(), known(&p.ident)?)),
            _ => None,
        })
        .collect();
    let inputs = inputs?;
    let given: Vec<Option<Type>> = inputs.iter().map(|(_, ty)| Some(ty.clone())).collect();
    let output = types.returned(scopes, closure, &given)?;
    let is_value = |ty: &Type| types.definitions.is_value(ty);
    let is_composite = inputs.iter().map(|(_, ty)| ty).chain([&output]).any(|ty| !is_primitive(ty));
    if !(is_composite || loops_of_data::has_any(&*closure.body)) || !is_value(&output) {
        return None;
    }
    let captured = captured(function, closure);
    let mutable = |name: &Ident| function.bindings.get(&name.to_string()).is_some_and(|b| b.mutable);
    let copies_what_changes = closure.capture.is_some() && captured.iter().any(mutable);
    let assigned = walk::any(&*closure.body, |at| match at {
        At::Expr(expr) => assignment(expr).is_some_and(|(place, _)| {
            let roots = roots(place);
            roots.is_empty() || captured.iter().any(|name| roots.contains(&name.to_string()))
        }),
        _ => false,
    });
    if copies_what_changes || assigned {
        return None;
    }
    let types_of_captured: Option<Vec<Type>> = captured.iter().map(known).collect();
    let types_of_captured = types_of_captured.filter(|types| types.iter().all(is_value))?;
    let (pats, types): (Vec<Pat>, Vec<Type>) = inputs.into_iter().unzip();
    let (own, body) = (format_ident!("__closure_{ident}"), &closure.body);
    let written: ItemFn = parse_quote! {
        fn #own(#(#pats: #types,)* #(#captured: #types_of_captured),*) -> #output { #body }
    };
    let mut diag = Diagnostics::default();
    let mut function =
        parse::function(&[], &Visibility::Inherited, &written.sig, &written.block, None, &mut diag)?;
    bind_patterns(&mut function);
    diag.is_empty().then_some(Lifted { function, captured })
}

/// The variables of a function that a closure mentions and does not bind.
fn captured(function: &Function, closure: &ExprClosure) -> Vec<Ident> {
    let mut mentioned = BTreeMap::new();
    let mut own: BTreeSet<String> = closure.inputs.iter().flat_map(names).map(|i| i.to_string()).collect();
    walk::each(&*closure.body, |at| match at {
        At::Expr(Expr::Path(p)) => mentioned.extend(p.path.get_ident().map(|i| (i.to_string(), i.clone()))),
        At::Pat(Pat::Ident(p)) => _ = own.insert(p.ident.to_string()),
        _ => {}
    });
    mentioned.retain(|name, _| function.bindings.contains_key(name) && !own.contains(name));
    mentioned.into_values().collect()
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;
    use crate::resolve::resolution::VariableTypes;
    use crate::resolve::variables;
    use crate::syntax::mentions::text;

    /// The signatures of the closures of a function.
    fn lifted_of(body: &TokenStream) -> Vec<String> {
        let function = functions(quote!(fn f(a: f64, n: u32) { #body })).remove(0);
        let definitions = Definitions::default();
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let scopes = variables::types(&function, &VariableTypes::new(), &types);
        of(&function, &scopes, &types).values().map(|lifted| text(&lifted.function.sig)).collect()
    }

    #[test]
    fn what_is_captured_is_a_parameter() {
        let body = quote!(
            let mut h = a * 0.5;
            let step = |[x, y]: [f64; 2], k: f64| [y * h, a - k * x];
        );
        let expected = quote!(fn __closure_step([x, y]: [f64; 2], k: f64, a: f64, h: f64) -> [f64; 2]);
        assert_eq!(lifted_of(&body), [text(&expected)]);
        let loops = quote!(let g = |mut x: f64| { while x > a { x *= 0.5; } x };);
        assert_eq!(lifted_of(&loops), [text(&quote!(fn __closure_g(mut x: f64, a: f64) -> f64))]);
    }

    #[test]
    fn others_stay() {
        for body in [
            // LLVM's, like functions about numbers.
            quote!(let f = |x: f64| x * a;),
            // It changes what it captures, or has a copy of what changes.
            quote!(let mut h = 1.0f64; let f = |p: [f64; 2]| { h += 1.0; p[0] * h };),
            quote!(let mut h = 1.0f64; let f = move |p: [f64; 2]| p[0] * h;),
            quote!(let mut f = |p: [f64; 2]| p[0];),
            // Types that nobody knows.
            quote!(let f = |p| p[0] * a;),
            quote!(let f = |p: [f64; 2]| unknown(p);),
            quote!(let list = vec![a]; let f = |p: [f64; 2]| p[0] * list[0];),
        ] {
            assert!(lifted_of(&body).is_empty(), "{body}");
        }
    }

    #[test]
    fn unused_closures_are_left_out() {
        let body = quote!({
            let f = |p: [f64; 2]| p[0] * a;
            let g = |q: [f64; 2]| q[1];
            g([a, a])
        });
        let function = functions(quote!(fn f(a: f64) -> f64 #body)).remove(0);
        let definitions = Definitions::default();
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let scopes = variables::types(&function, &VariableTypes::new(), &types);
        let (lifted, mut body) = (of(&function, &scopes, &types), function.body.clone());
        leave_out(&mut body, &lifted);
        assert_eq!(
            text(&body),
            text(&quote!({
                let g = |q: [f64; 2]| q[1];
                g([a, a])
            }))
        );
    }
}
