//! Functions and attributes of which generated code may have a second copy.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Block, FnArg, Item, Meta, Path, Signature, Token};

use crate::item::methods::conditional;
use crate::item::model::Function;
use crate::syntax::attributes::{self, GENERATED};
use crate::syntax::walk::{self, At, Next};

/// Attributes that a second function may have and that make a difference to it. Lints that the user has
/// been told of are for the function itself.
pub(crate) fn carries_over(attr: &Attribute) -> bool {
    const CARRIED: [&str; 6] = ["cfg", "inline", "cold", "track_caller", "allow", "expect"];
    let carries = |path: &Path| CARRIED.iter().any(|name| path.is_ident(name));
    if !attr.path().is_ident("cfg_attr") {
        return carries(attr.path());
    }
    let Meta::List(list) = &attr.meta else { return false };
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    list.parse_args_with(parser).is_ok_and(|args| args.iter().skip(1).all(|meta| carries(meta.path())))
}

/// A second copy of a function, which users don't see.
pub(crate) fn hidden_copy(attrs: &[Attribute], sig: &Signature, body: &Block) -> TokenStream {
    let carried = attributes::lints_and_conditions(attrs);
    quote! {
        #(#carried)*
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        #sig #body
    }
}

/// Whether a second copy of the body means the same: a `static` in it would exist twice, as would an
/// implementation; a parameter under `cfg` can't be passed on.
pub(crate) fn can_be_repeated(function: &Function) -> bool {
    let cfg = function.sig.inputs.iter().any(|arg| {
        let (FnArg::Receiver(syn::Receiver { attrs, .. }) | FnArg::Typed(syn::PatType { attrs, .. })) = arg;
        conditional(attrs)
    });
    let is_one = |at: At<'_>| match at {
        At::Item(
            Item::Static(_) | Item::Impl(_) | Item::ForeignMod(_) | Item::Mod(_) | Item::Verbatim(_),
        ) => Next::Found,
        // Macros define what they like.
        At::Item(Item::Macro(m)) if m.ident.is_none() => Next::Found,
        At::Macro(mac) => {
            let last = mac.path.segments.last();
            last.is_some_and(|s| s.ident == "thread_local" || s.ident == "lazy_static").into()
        }
        _ => Next::Inside,
    };
    !cfg && !walk::any(&function.written, is_one)
}
