//! What rustc has to check of the methods that calls are taken for.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, Type, parse_quote};

use crate::item::model::Function;
use crate::resolve::candidates::{Candidate, Takes};
use crate::syntax::attributes::{self, GENERATED};
use crate::syntax::mentions::{numbered, text};

/// The checks of methods, by function and name.
#[derive(Clone, Default)]
pub(crate) struct Checks {
    checks: BTreeMap<(usize, String), Check>,
}

/// What has to be checked of a method: the types that calls look at before they find it.
#[derive(Clone)]
struct Check {
    name: Ident,
    /// The types before the method's own.
    types: BTreeMap<String, Type>,
    /// The type of the receiver, if an inherent method would go before the trait's.
    of_trait: Option<Type>,
}

impl Checks {
    pub(super) fn extend(&mut self, found: Vec<(usize, Ident, Vec<Type>)>, methods: &[Candidate]) {
        for (function, name, types) in found {
            let Some(method) = methods.iter().find(|m| m.function == function) else { continue };
            let of_trait = method.free.as_ref().and(method.of_trait.as_ref()).map(|_| {
                let owner = &method.owner;
                method.takes.unwrap_or(Takes::Value).of(&parse_quote!(super::#owner))
            });
            let check = Check { name: name.clone(), types: BTreeMap::new(), of_trait };
            let check = self.checks.entry((function, name.to_string())).or_insert(check);
            check.types.extend(types.into_iter().map(|ty| (text(&ty), ty)));
        }
    }

    /// Functions which rustc takes only if no other method is found on the way to the program's: for the `impl` block, or
    /// the module.
    pub(crate) fn items(&self, functions: &[Function]) -> Vec<TokenStream> {
        let mut items = Vec::new();
        for ((function, _), Check { name, types, of_trait }) in &self.checks {
            let function = &functions[*function];
            let check = format_ident!("__autobatch_finds_{}", name);
            if !types.is_empty() {
                let types: Vec<&Type> = types.values().collect();
                let item = calls_find_nothing(name, &check, &types, &syn::Generics::default());
                items.extend(match function.method {
                    Some(_) => crate::item::methods::block(function, &[item]),
                    None => Some(item),
                });
            }
            if let Some(ty) = of_trait {
                // The trait is not in scope there: what is found is an inherent method.
                let module = format_ident!("__autobatch_finds_{}", function.sig.ident);
                let generics = function.method.as_ref().map(|m| m.shown.outer.clone()).unwrap_or_default();
                let item = calls_find_nothing(name, &check, &[ty], &generics);
                let path = function.method.as_ref().and_then(|m| m.trait_.as_ref()?.segments.last());
                // What the type and its parameters name, but not the trait: it is hidden by another of its name.
                let simple = function
                    .method
                    .as_ref()
                    .is_none_or(|m| matches!(&m.owner, Type::Path(p) if p.path.get_ident().is_some()));
                let scope = path.filter(|_| !simple || !generics.params.is_empty());
                let scope =
                    scope.map(|segment| &segment.ident).map(|name| quote!(use super::*; trait #name {}));
                let conditions = attributes::conditions(&function.attrs);
                items.push(quote! {
                    #[doc(hidden)]
                    #[allow(warnings)]
                    #GENERATED
                    #(#conditions)*
                    mod #module { #scope #item }
                });
            }
        }
        items
    }
}

/// A function in which a method is called on values of several types, none of which may have it.
pub(crate) fn calls_find_nothing(
    name: &Ident,
    function: &Ident,
    types: &[&Type],
    generics: &syn::Generics,
) -> TokenStream {
    let values = numbered("__value", types.len());
    let where_clause = &generics.where_clause;
    quote! {
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        fn #function #generics (#(#values: #types),*) #where_clause {
            struct Nothing;
            trait FoundBeforeTheProgramsOwn: ::core::marker::Sized {
                fn #name(self) -> Nothing;
            }
            impl<T> FoundBeforeTheProgramsOwn for T {
                fn #name(self) -> Nothing { Nothing }
            }
            #(let _: Nothing = #values.#name();)*
        }
    }
}
