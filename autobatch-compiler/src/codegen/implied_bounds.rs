//! What a reference in a signature implies, for one whose lifetime has got a name.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{GenericArgument, Lifetime, PathArguments, Type, WherePredicate, parse_quote};

use crate::syntax::macro_tokens::mentions;
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::{self, At};

/// What has to outlive `lifetime`, because `ty` holds it behind references of that lifetime: other lifetimes, `types`
/// (parameters in scope), `Self`.
pub(crate) fn bounds(ty: &Type, lifetime: &Lifetime, types: Vec<&Ident>) -> Vec<WherePredicate> {
    let mut inside = Inside { lifetime, types, depth: 0, bounds: Vec::new() };
    inside.visit_type(ty);
    inside.bounds
}

/// What has to outlive the lifetimes of a type that is made with them, `Iter<'a, T>`: the `types` among its arguments. The type's
/// definition may not ask for that, but it nearly always does.
pub(crate) fn arguments(ty: &Type, types: &[&Ident]) -> Vec<WherePredicate> {
    let mut bounds = Vec::new();
    walk::each(ty, |at| {
        if let At::PathSegment(segment) = at
            && let PathArguments::AngleBracketed(args) = &segment.arguments
        {
            let lifetimes = args.args.iter().filter_map(|arg| match arg {
                GenericArgument::Lifetime(lifetime) => Some(lifetime),
                _ => None,
            });
            for lifetime in lifetimes {
                let words = args.to_token_stream();
                let among = types.iter().filter(|ty| mentions(words.clone(), &|word| **ty == word));
                bounds.extend(among.map(|ty| -> WherePredicate { parse_quote!(#ty: #lifetime) }));
            }
        }
    });
    bounds
}

struct Inside<'a> {
    lifetime: &'a Lifetime,
    types: Vec<&'a Ident>,
    depth: u32,
    bounds: Vec<WherePredicate>,
}

impl<'ast> Visit<'ast> for Inside<'_> {
    fn visit_type_reference(&mut self, r: &'ast syn::TypeReference) {
        let behind = r.lifetime.as_ref() == Some(self.lifetime);
        if let (Some(lifetime), false) = (&r.lifetime, behind) {
            self.visit_lifetime(lifetime);
        }
        self.depth += u32::from(behind);
        self.visit_type(&r.elem);
        self.depth -= u32::from(behind);
    }
    fn visit_lifetime(&mut self, inner: &'ast Lifetime) {
        if self.depth > 0 && inner != self.lifetime {
            let lifetime = self.lifetime;
            self.bounds.push(parse_quote!(#inner: #lifetime));
        }
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let first = path.segments.first().map(|segment| &segment.ident);
        if let Some(first) = first.filter(|first| *first == "Self" || self.types.contains(first))
            && self.depth > 0
        {
            let lifetime = self.lifetime;
            self.bounds.push(parse_quote!(#first: #lifetime));
        }
        visit::visit_path(self, path);
    }
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
}
