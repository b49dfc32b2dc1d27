//! `impl Trait` in parameters gets a name in all that is generated, where it is a type parameter like any other.
//!
//! ```text
//! fn f<T>(x: T, noise: &impl Fn(T) -> T)    →    fn f<T, __Impl0: Fn(T) -> T>(x: T, noise: &__Impl0)
//! ```
//!
//! The function itself stays as it is written. So paths to it have no argument for such a parameter: it can only be inferred.

use std::collections::BTreeSet;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::format_ident;
use syn::{FnArg, GenericParam, Generics, Signature, Type, parse_quote};

use crate::syntax::walk::{self, AtMut};

const PREFIX: &str = "__Impl";

/// Gives names to the `impl Trait` types of a signature's parameters, behind its own type parameters.
pub(crate) fn name(sig: &mut Signature) {
    let mut names: Vec<GenericParam> = Vec::new();
    for arg in &mut sig.inputs {
        let FnArg::Typed(arg) = arg else { continue };
        // The innermost first: the bounds of the others name it.
        walk::map_after(&mut arg.ty, |at| {
            match at {
                AtMut::Type(ty @ Type::ImplTrait(_)) => {
                    let Type::ImplTrait(written) = &*ty else { return };
                    let ident = format_ident!("{}{}", PREFIX, names.len(), span = Span::mixed_site());
                    let bounds = &written.bounds;
                    names.push(parse_quote!(#ident: #bounds));
                    *ty = parse_quote!(#ident);
                }
                // A name needs no parentheses.
                AtMut::Type(ty) => {
                    if let Type::Paren(inner) = &*ty
                        && let Type::Path(name) = &*inner.elem
                        && name.path.get_ident().is_some_and(is)
                    {
                        *ty = Type::clone(&inner.elem);
                    }
                }
                _ => {}
            }
        });
    }
    sig.generics.params.extend(names);
}

/// Whether a type parameter has no name in the function as it is written.
pub(crate) fn is(ident: &Ident) -> bool {
    ident.to_string().starts_with(PREFIX)
}

/// Whether some type parameter has none.
pub(crate) fn any(generics: &Generics) -> bool {
    generics.type_params().any(|param| is(&param.ident))
}

/// The parameters that paths to the function as it is written have arguments for.
pub(crate) fn written(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    let has_name = |param: &GenericParam| !matches!(param, GenericParam::Type(t) if is(&t.ident));
    generics.params = generics.params.into_iter().filter(has_name).collect();
    generics
}

/// Generated code in which the names have no underscores, since users read them: `Impl0`. A name that the item uses itself stays.
pub(crate) fn readable(code: TokenStream, item: &TokenStream) -> TokenStream {
    let mut named = BTreeSet::new();
    identifiers(item.clone(), &mut named);
    renamed(code, &named)
}

fn identifiers(code: TokenStream, found: &mut BTreeSet<String>) {
    for tree in code {
        match tree {
            TokenTree::Ident(ident) => drop(found.insert(ident.to_string())),
            TokenTree::Group(group) => identifiers(group.stream(), found),
            _ => {}
        }
    }
}

fn renamed(code: TokenStream, taken: &BTreeSet<String>) -> TokenStream {
    let rename = |tree: TokenTree| match tree {
        TokenTree::Ident(ident) if is(&ident) => {
            let plain = ident.to_string().trim_start_matches('_').to_owned();
            let free = !taken.contains(&plain);
            TokenTree::Ident(if free { Ident::new(&plain, ident.span()) } else { ident })
        }
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), renamed(group.stream(), taken));
            new.set_span(group.span());
            TokenTree::Group(new)
        }
        tree => tree,
    };
    code.into_iter().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{ToTokens, quote};

    #[test]
    fn types_without_names_get_them() {
        let mut sig: Signature = parse_quote!(
            fn f<T>(&self, x: impl Iterator<Item = impl Copy>, y: &mut (impl Fn(T) + ?Sized), n: T) -> u8
        );
        name(&mut sig);
        let wanted: Signature = parse_quote!(
            fn f<T, __Impl0: Copy, __Impl1: Iterator<Item = __Impl0>, __Impl2: Fn(T) + ?Sized>(
                &self,
                x: __Impl1,
                y: &mut __Impl2,
                n: T
            ) -> u8
        );
        assert_eq!(sig.to_token_stream().to_string(), wanted.to_token_stream().to_string());
        assert!(any(&sig.generics) && !any(&written(&sig.generics)));
        assert_eq!(written(&sig.generics).type_params().count(), 1);
    }

    #[test]
    fn users_read_names_without_underscores() {
        let shown = |item: TokenStream| readable(quote!(fn f<__Impl0>(x: &[__Impl0])), &item).to_string();
        assert_eq!(shown(quote!(fn f(x: impl Copy))), quote!(fn f<Impl0>(x: &[Impl0])).to_string());
        assert_eq!(
            shown(quote!(fn f(x: impl Into<Impl0>))),
            quote!(fn f<__Impl0>(x: &[__Impl0])).to_string()
        );
    }

    #[test]
    fn a_signature_without_them_stays() {
        let written: Signature = parse_quote!(
            fn f(x: u8) -> u8
        );
        let mut sig = written.clone();
        name(&mut sig);
        assert_eq!(sig, written);
    }
}
