//! How a family reaches the runtime: through what says whether its types may go to other threads (`launch/sendable.rs` in the runtime), so
//! that one error is all that is said of a type that may not.
//!
//! For `fn f(x: u8, noise: Rc<u8>) -> u8`:
//!
//! ```text
//! enum noise {}
//! threads::sent::<Rc<u8>, noise>();       // the error, at the user's `Rc<u8>`
//! let __crossing = Crossing::<(u8,)>::new().check();
//! __crossing.run(…)
//! ```
//!
//! Types with type parameters in them are not asked about here: the family has bounds (`bounds`), and who calls it has to meet them.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Generics, PathArguments, Type, WherePredicate, parse_quote};

use crate::codegen::named_lifetimes::Named;
use crate::codegen::names::name;
use crate::item::implicit_entries;
use crate::item::model::{Function, Param, Passing};
use crate::std_models::pure;
use crate::syntax::macro_tokens::{has_sign, mentions};
use crate::syntax::mentions::{self, bare_type};

/// What stands before the names of the runtime's functions.
pub(crate) struct Door {
    /// The errors of types that may not go to other threads.
    pub(crate) checks: TokenStream,
    /// What asks, at the start of a function.
    pub(crate) question: TokenStream,
    /// What `run` and `run_into` are called on.
    pub(crate) run: TokenStream,
    /// What makes a source of states.
    pub(crate) states: TokenStream,
}

impl Door {
    pub(crate) fn of(function: &Function, named: &Named, rt: &TokenStream) -> Door {
        let crossing = name("__crossing");
        let types = named.params.iter().filter_map(|p| match (p.passing, &p.ty) {
            // What may be shared can be recognised by its references.
            (Passing::Shared, ty) => Some(quote!(&#ty)),
            (Passing::State, Type::Reference(r)) => {
                let ty = &r.elem;
                Some(quote!(#ty))
            }
            _ => None,
        });
        let output = &named.output;
        let checks = match implicit_entries::is(function) {
            true => TokenStream::new(),
            false => checks(function, named, rt),
        };
        Door {
            checks,
            question: quote!(let #crossing = #rt::Crossing::<(#output, #(#types,)*)>::new().check();),
            run: quote!(#crossing.),
            states: quote!(#crossing.states),
        }
    }
}

/// A type that goes to other threads, or that they share: what is behind a reference.
struct Goes<'a> {
    ty: &'a Type,
    shared: bool,
}

impl<'a> Goes<'a> {
    fn of(param: &'a Param) -> Goes<'a> {
        let shared = param.passing == Passing::Shared;
        match &param.ty {
            Type::Reference(r) => Goes { ty: bare_type(&r.elem), shared: r.mutability.is_none() },
            ty => Goes { ty: bare_type(ty), shared },
        }
    }
}

/// The error for each parameter, and for the result, that can't be where other threads are.
fn checks(function: &Function, named: &Named, rt: &TokenStream) -> TokenStream {
    let outer = &function.outer;
    let generic = |ty: &Type| mentions_parameter(ty, &named.generics, outer);
    let params = named.params.iter().enumerate().filter_map(|(index, param)| {
        let Goes { ty, shared } = Goes::of(param);
        let shown = match param.shown.as_str() {
            "self" => format_ident!("receiver"),
            shown => syn::parse_str(shown).unwrap_or_else(|_| format_ident!("parameter_{}", index + 1)),
        };
        // The name must not hide a type.
        let hides = || mentions(ty.to_token_stream(), &|word| shown == word);
        if generic(ty) || pure::is_primitive(ty) || hides() {
            return None;
        }
        // What stands for the receiver is written nowhere.
        let here = if param.shown == "self" { function.sig.ident.span() } else { ty.span() };
        let ty = at(ty, here, param.shown == "self");
        let asked = if shared { quote!(shared) } else { quote!(sent) };
        let shown = Ident::new(&shown.to_string(), here);
        let check = quote_spanned!(here=> #rt::threads::#asked::<#ty, #shown>(););
        Some(quote!({
            #[allow(dead_code, non_camel_case_types)]
            enum #shown {}
            #check
        }))
    });
    let output = &named.output;
    let result = (!generic(output) && !pure::is_primitive(output))
        .then(|| quote_spanned!(output.span()=> #rt::threads::returned::<#output>();));
    quote!(#(#params)* #result)
}

/// A type's tokens, all at one place if they are `moved`.
fn at(ty: &Type, place: Span, moved: bool) -> TokenStream {
    let mut tokens: Vec<TokenTree> = ty.to_token_stream().into_iter().collect();
    if moved {
        tokens.iter_mut().for_each(|token| token.set_span(place));
    }
    tokens.into_iter().collect()
}

/// What has to be known of types with type parameters in them, other than of the parameters themselves: `T::Item: Send`.
pub(crate) fn bounds(named: &Named, outer: &Generics) -> Vec<WherePredicate> {
    let output = Goes { ty: &named.output, shared: false };
    let all = named.params.iter().map(Goes::of).chain([output]);
    let all = all.filter(|Goes { ty, .. }| {
        // Of two bounds that differ in lifetimes only rustc might take the wrong one.
        let lifetimes = || has_sign(ty.to_token_stream(), &|sign| matches!(sign, '\'' | '&'));
        let own_lifetimes =
            || outer.lifetimes().next().is_some() && mentions::named_self(ty.to_token_stream()).is_some();
        // What is behind `dyn` is what it says it is, whatever the parameters are.
        let says = matches!(ty, Type::TraitObject(_));
        mentions_parameter(ty, &named.generics, outer)
            && !says
            && !follows(ty)
            && !lifetimes()
            && !own_lifetimes()
    });
    let bound = |Goes { ty, shared }: Goes<'_>| match shared {
        true => parse_quote!(#ty: ::core::marker::Sync),
        false => parse_quote!(#ty: ::core::marker::Send),
    };
    all.map(bound).collect()
}

fn mentions_parameter(ty: &Type, generics: &Generics, outer: &Generics) -> bool {
    let params: Vec<String> =
        generics.type_params().chain(outer.type_params()).map(|p| p.ident.to_string()).collect();
    let of_block = outer.type_params().next().is_some();
    mentions(ty.to_token_stream(), &|word| params.iter().any(|p| p == word) || (of_block && word == "Self"))
}

/// Whether it follows from the bounds of type parameters that a type may go to other threads.
fn follows(ty: &Type) -> bool {
    const WRAPPERS: [&str; 4] = ["Box", "Option", "Result", "Vec"];
    match bare_type(ty) {
        Type::Path(p) if p.qself.is_none() && p.path.segments.len() == 1 => {
            let segment = &p.path.segments[0];
            match &segment.arguments {
                PathArguments::None => segment.ident != "Self",
                PathArguments::AngleBracketed(args) => {
                    WRAPPERS.iter().any(|name| segment.ident == name)
                        && args.args.iter().all(|arg| matches!(arg, GenericArgument::Type(ty) if follows(ty)))
                }
                _ => false,
            }
        }
        Type::Array(t) => follows(&t.elem),
        Type::Slice(t) => follows(&t.elem),
        Type::Tuple(t) => t.elems.iter().all(follows),
        _ => false,
    }
}
