//! Names for the lifetimes that signatures leave out. Users read them in their documentation and in compile errors.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Generics, Lifetime, Type, parse_quote};

use crate::codegen::implied_bounds;
use crate::item::model::{Function, Param, Passing};
use crate::syntax::elision;

/// A signature whose elided lifetimes have names, where they need one, so that it can be written out for
/// the generated functions, whose parameters elide differently.
pub(crate) struct Named {
    pub(crate) generics: Generics,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Type,
}

impl Named {
    pub(crate) fn new(function: &Function) -> Named {
        let mut named = Named {
            generics: function.sig.generics.clone(),
            params: function.params.clone(),
            output: function.output.clone(),
        };
        let taken = taken(function);
        let lifetime = fresh("shared", &taken);
        if elision::name_all(&mut named.output, &lifetime) {
            // The elision rules: `&self` if there is one, else the only reference.
            let source = match named.params.first() {
                Some(p) if p.shown == "self" && elision::any(&p.ty) => Some(0),
                _ => named.params.iter().position(|p| elision::any(&p.ty)),
            };
            if let Some(source) = source {
                elision::name_all(&mut named.params[source].ty, &lifetime);
                named.generics.params.insert(0, parse_quote!(#lifetime));
                named.imply(source, &lifetime, function);
            }
        }
        let shared = named.name_references(&taken);
        let states = named.name_states(&taken);
        // `impl Column<&T>` can't elide either.
        for i in 0..named.params.len() {
            let param = &mut named.params[i];
            if param.passing != Passing::Shared && elision::any(&param.ty) {
                let lifetime = fresh(&format!("column{i}"), &taken);
                elision::name_all(&mut param.ty, &lifetime);
                named.generics.params.insert(0, parse_quote!(#lifetime));
                named.imply(i, &lifetime, function);
            }
        }
        for lifetime in [shared, states].into_iter().flatten() {
            named.generics.params.insert(0, parse_quote!(#lifetime));
            (0..named.params.len()).for_each(|i| named.imply(i, &lifetime, function));
        }
        let implied = implied_bounds::arguments(&named.output, &types_of(function));
        if !implied.is_empty() {
            named.generics.make_where_clause().predicates.extend(implied);
        }
        named
    }

    /// A call may hand on what one parameter refers to as another, `f(ys, xs)`: shared references that leave out their lifetime
    /// have one, if there are several.
    fn name_references(&mut self, taken: &BTreeSet<String>) -> Option<Lifetime> {
        let params = self.params.iter_mut().filter(|param| param.shown != "self");
        name_places(
            params.flat_map(|param| elided_references(&mut param.ty)).collect(),
            2,
            fresh("each", taken),
        )
    }

    /// So it may hand on what states refer to: `f(scratch, out)`.
    fn name_states(&mut self, taken: &BTreeSet<String>) -> Option<Lifetime> {
        let states = self.params.iter_mut().filter_map(|param| match &mut param.ty {
            Type::Reference(r) if r.mutability.is_some() && is_elided(&r.lifetime) => Some(&mut r.lifetime),
            _ => None,
        });
        name_places(states.collect(), 1, fresh("states", taken))
    }

    /// A reference in a signature implies that what it leads to lives as long; a named one does not.
    fn imply(&mut self, param: usize, lifetime: &Lifetime, function: &Function) {
        let bounds = implied_bounds::bounds(&self.params[param].ty, lifetime, types_of(function));
        self.generics.make_where_clause().predicates.extend(bounds);
    }
}

/// Gives places for lifetimes one name, if there are so many.
fn name_places(places: Vec<&mut Option<Lifetime>>, least: usize, lifetime: Lifetime) -> Option<Lifetime> {
    let enough = places.len() >= least;
    places.into_iter().filter(|_| enough).for_each(|place| *place = Some(lifetime.clone()));
    enough.then_some(lifetime)
}

/// A lifetime of a name that the function does not use.
fn fresh(name: &str, taken: &BTreeSet<String>) -> Lifetime {
    let mut name = name.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    Lifetime::new(&format!("'{name}"), Span::mixed_site())
}

/// The names of all lifetimes and labels in a function and the generics around it: rustc refuses one that hides another.
fn taken(function: &Function) -> BTreeSet<String> {
    fn collect(tokens: TokenStream, names: &mut BTreeSet<String>) {
        let mut quote = false;
        for tree in tokens {
            match &tree {
                TokenTree::Ident(ident) if quote => drop(names.insert(ident.to_string())),
                TokenTree::Group(group) => collect(group.stream(), names),
                _ => {}
            }
            quote = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '\'');
        }
    }
    let mut names = BTreeSet::new();
    let (sig, outer, body) = (&function.sig, &function.outer, &function.written);
    for tokens in [sig.to_token_stream(), outer.to_token_stream(), body.to_token_stream()] {
        collect(tokens, &mut names);
    }
    names
}

/// The type parameters in a function's scope.
fn types_of(function: &Function) -> Vec<&Ident> {
    let types = function.sig.generics.type_params().chain(function.outer.type_params());
    types.map(|param| &param.ident).collect()
}

/// The places for the lifetimes that shared references leave out, where any shorter lifetime does.
fn elided_references(ty: &mut Type) -> Vec<&mut Option<Lifetime>> {
    match ty {
        Type::Reference(r) if r.mutability.is_none() => {
            let own = is_elided(&r.lifetime).then_some(&mut r.lifetime);
            own.into_iter().chain(elided_references(&mut r.elem)).collect()
        }
        Type::Slice(t) => elided_references(&mut t.elem),
        Type::Array(t) => elided_references(&mut t.elem),
        Type::Paren(t) => elided_references(&mut t.elem),
        Type::Group(t) => elided_references(&mut t.elem),
        Type::Tuple(t) => t.elems.iter_mut().flat_map(elided_references).collect(),
        _ => Vec::new(),
    }
}

fn is_elided(lifetime: &Option<Lifetime>) -> bool {
    lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_")
}
