//! An error in a user's function is shown once, at the function.
//!
//! rustc drops an error that says of the same places what another has said. What it says of generated code differs from what
//! it says of the function: there are loops around, variables have other places. So generated code is made to depend on
//! the function being sound. Its *check* has its parameters and its body, and an opaque type as result: the errors are the function's,
//! word for word, and the size of the result is known only if there are none. Functions that mention an array of that
//! length are in error from the start, without a message, and rustc does not look at their borrows.
//!
//! Lengths of arrays can't depend on type parameters, so generic functions have no check. Nor have functions whose result may borrow.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, GenericArgument, GenericParam, PathArguments, Type, parse_quote};

use super::attributes::{self, GENERATED};
use super::{clone, numbered};
use crate::input::Function;
use crate::methods;
use crate::receivers::unmark;

/// The checks of functions of an item, to stand beside them.
pub(crate) fn items(functions: &[Function]) -> Vec<TokenStream> {
    let checks = functions.iter().filter(|f| has(f)).map(|f| {
        let check = item(f);
        methods::block(f, std::slice::from_ref(&check)).unwrap_or(check)
    });
    checks.collect()
}

/// What the generated code of a program begins with.
pub(super) fn mentions<'a>(functions: impl Iterator<Item = &'a Function>) -> TokenStream {
    let mentions = functions.filter(|f| has(f)).map(|f| {
        let conditions = attributes::conditions(&f.attrs);
        let size = size_ident(f);
        let path = match &f.method {
            Some(method) => {
                let owner = &method.owner;
                quote!(<#owner>::#size)
            }
            None if f.associated => quote!(Self::#size),
            None => size.to_token_stream(),
        };
        quote!(#(#conditions)* let _ = [(); #path];)
    });
    mentions.collect()
}

fn item(function: &Function) -> TokenStream {
    let shown = function.method.as_ref().map_or(function, |method| &method.shown);
    let (check, size) = (
        format_ident!("__autobatch_check_{}", function.sig.ident, span = Span::mixed_site()),
        size_ident(function),
    );
    let mut sig = shown.sig.clone();
    let output = &shown.output;
    // An opaque type of this crate's edition captures all lifetimes, as the result may.
    let span = Span::mixed_site().located_at(output.span());
    let opaque = quote_spanned!(span=> impl ::core::marker::Sized);
    sig.ident = Ident::new(&check.to_string(), shown.sig.ident.span());
    sig.constness = None;
    sig.output = parse_quote!(-> #opaque);
    let mut body: Block = shown.written.clone();
    unmark(&mut body);
    let (first, result) = (Span::mixed_site(), Ident::new("__result", Span::mixed_site()));
    let first = quote_spanned!(first=> if false { let #result: #output = loop {}; return #result; });
    let first = parse_quote!(#first);
    body.stmts.insert(0, first);
    let carried = attributes::lints_and_conditions(&shown.attrs);
    let conditions = attributes::conditions(&shown.attrs);
    let check = &sig.ident;
    let path = if shown.associated { quote!(Self::#check) } else { check.to_token_stream() };
    let params: Vec<Ident> = (0..sig.inputs.len()).map(|i| numbered("P", i)).collect();
    quote! {
        #(#carried)*
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        #sig #body

        #(#conditions)*
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        #[allow(non_upper_case_globals)]
        const #size: usize = {
            const fn size<#(#params,)* R>(_: &impl ::core::ops::FnOnce(#(#params),*) -> R) -> usize {
                ::core::mem::size_of::<R>()
            }
            size(&#path)
        };
    }
}

fn size_ident(function: &Function) -> Ident {
    format_ident!("__autobatch_size_{}", function.sig.ident, span = function.sig.ident.span())
}

fn has(function: &Function) -> bool {
    let shown = function.method.as_ref().map_or(function, |method| &method.shown);
    let generic = shown.sig.generics.params.iter().any(|p| !matches!(p, GenericParam::Lifetime(_)));
    let named = function.method.as_ref().is_none_or(|method| method.named);
    named
        && !generic
        && shown.outer.params.is_empty()
        && clone::can_be_repeated(shown)
        && has_no_lifetime(&shown.output)
}

/// Whether a type is made of types by name, and of tuples and arrays, and names no lifetime.
fn has_no_lifetime(ty: &Type) -> bool {
    match ty {
        Type::Paren(t) => has_no_lifetime(&t.elem),
        Type::Group(t) => has_no_lifetime(&t.elem),
        Type::Array(t) => has_no_lifetime(&t.elem),
        Type::Tuple(t) => t.elems.iter().all(has_no_lifetime),
        Type::Path(t) => {
            t.qself.is_none()
                && t.path.segments.iter().all(|segment| match &segment.arguments {
                    PathArguments::None => true,
                    PathArguments::AngleBracketed(args) => args.args.iter().all(|arg| match arg {
                        GenericArgument::Type(t) => has_no_lifetime(t),
                        GenericArgument::Const(_) => true,
                        _ => false,
                    }),
                    PathArguments::Parenthesized(_) => false,
                })
        }
        _ => false,
    }
}
