//! `impl Trait` in parameters gets a name in all that is generated, where it is a type parameter like any other.
//!
//! ```text
//! fn f<T>(x: T, noise: &impl Fn(T) -> T)    →    fn f<T, __Impl0: Fn(T) -> T>(x: T, noise: &__Impl0)
//! ```
//!
//! The function itself stays as it is written. So paths to it have no argument for such a parameter: it can only be inferred.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, GenericParam, Generics, Signature, Type, parse_quote};

const PREFIX: &str = "__Impl";

/// Gives names to the `impl Trait` types of a signature's parameters, behind its own type parameters.
pub(crate) fn name(sig: &mut Signature) {
    let mut names = Names(Vec::new());
    for arg in &mut sig.inputs {
        if let FnArg::Typed(arg) = arg {
            names.visit_type_mut(&mut arg.ty);
        }
    }
    if !names.0.is_empty() {
        sig.generics.params.extend(names.0);
        sig.generics.lt_token.get_or_insert_with(Default::default);
        sig.generics.gt_token.get_or_insert_with(Default::default);
    }
}

struct Names(Vec<GenericParam>);

impl VisitMut for Names {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        // The innermost first: the bounds of the others name it.
        visit_mut::visit_type_mut(self, ty);
        if let Type::ImplTrait(written) = ty {
            let ident = format_ident!("{}{}", PREFIX, self.0.len(), span = Span::mixed_site());
            let bounds = &written.bounds;
            self.0.push(parse_quote!(#ident: #bounds));
            *ty = parse_quote!(#ident);
        }
    }
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
