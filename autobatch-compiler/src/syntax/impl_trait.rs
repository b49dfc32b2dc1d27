//! `impl Trait` in parameters gets a name in all that is generated, where it is a type parameter like any other.
//!
//! ```text
//! fn f<T>(x: T, noise: &impl Fn(T) -> T)    →    fn f<T, __Impl0: Fn(T) -> T>(x: T, noise: &__Impl0)
//! ```
//!
//! The function itself stays as it is written. So paths to it have no argument for such a parameter: it can only be inferred.

use proc_macro2::{Ident, Span};
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
            if let AtMut::Type(ty) = at
                && let Type::ImplTrait(written) = ty
            {
                let ident = format_ident!("{}{}", PREFIX, names.len(), span = Span::mixed_site());
                let bounds = &written.bounds;
                names.push(parse_quote!(#ident: #bounds));
                *ty = parse_quote!(#ident);
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

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;

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
                y: &mut (__Impl2),
                n: T
            ) -> u8
        );
        assert_eq!(sig.to_token_stream().to_string(), wanted.to_token_stream().to_string());
        assert!(any(&sig.generics) && !any(&written(&sig.generics)));
        assert_eq!(written(&sig.generics).type_params().count(), 1);
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
