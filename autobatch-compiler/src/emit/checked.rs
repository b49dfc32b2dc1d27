//! An error in a user's function is shown once, at the function.
//!
//! rustc drops an error that says of the same places what another has said. What it says of generated code differs from what
//! it says of the function: there are loops around, variables have other places. So generated code is made to depend on
//! the function being sound. Its *check* has its parameters and its body, and an opaque type as result: the errors are the function's,
//! word for word, and the size of the result is known only if there are none. Functions that mention an array of that
//! length are in error from the start, without a message, and rustc does not look at their borrows. Types that belong to
//! such an array are known only then too ([`Types`]).
//!
//! Lengths of arrays can't depend on type parameters, so generic functions have no check. Nor have functions whose result may borrow.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, GenericArgument, GenericParam, Pat, PathArguments, PathSegment, Type, parse_quote};

use super::attributes::{self, GENERATED};
use super::{clone, numbered};
use crate::input::Function;
use crate::lockstep::is_primitive;
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
        let (conditions, path) = (attributes::conditions(&f.attrs), size_path(f));
        quote!(#(#conditions)* let _ = [(); #path];)
    });
    mentions.collect()
}

fn size_path(function: &Function) -> TokenStream {
    let size = size_ident(function);
    match &function.method {
        Some(method) => {
            let owner = &method.owner;
            quote!(<#owner>::#size)
        }
        None if function.associated => quote!(Self::#size),
        None => size.to_token_stream(),
    }
}

/// Where values meet the function's signature, their types are spelled so that they are known only if the function is sound.
/// That they don't fit has been said then.
pub(super) struct Types {
    known: Option<TokenStream>,
}

impl Types {
    pub(super) fn of(function: &Function, rt: &TokenStream) -> Types {
        // A type can't be under a condition, and constants in types can't be those of a type with a lifetime.
        let owner = function.method.as_ref().map(|method| &method.owner).or(function.owner.as_ref());
        let can = attributes::conditions(&function.attrs).is_empty() && owner.is_none_or(has_no_lifetime);
        let path = (can && has(function)).then(|| size_path(function));
        Types { known: path.map(|path| quote!([(); #path] as #rt::Checked)) }
    }
}

impl VisitMut for Types {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        visit_mut::visit_local_mut(self, local);
        let ours = |name: &Ident, prefixes: &[&str]| {
            let name = name.to_string();
            prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        // What a call has yielded stands in a variable of ours, which no message shall point at.
        let yielded = |init: &syn::LocalInit| match &*init.expr {
            syn::Expr::Path(p) => p.path.get_ident().is_some_and(|name| ours(name, &["__value"])),
            _ => false,
        };
        if let (Some(known), Pat::Type(pat)) = (&self.known, &mut local.pat)
            && let Pat::Ident(name) = &*pat.pat
            && (ours(&name.ident, &["__result", "__arg"]) || local.init.as_ref().is_some_and(yielded))
        {
            let ty = &pat.ty;
            *pat.ty = Type::Verbatim(quote!(<#known<#ty>>::Of));
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn item(function: &Function) -> TokenStream {
    let shown = function.method.as_ref().map_or(function, |method| &method.shown);
    let (check, size) = (
        format_ident!("__autobatch_check_{}", function.sig.ident, span = Span::mixed_site()),
        size_ident(function),
    );
    let mut sig = shown.sig.clone();
    let output = &shown.output;
    // From the place where the output begins to where it ends.
    let ends = |token: Option<TokenTree>| token.map_or(Span::mixed_site(), |t| place(output, t.span()));
    let mut tokens = output.to_token_stream().into_iter();
    let first = ends(tokens.next());
    let last = tokens.last().map_or(first, |t| ends(Some(t)));
    let mut opaque = quote_spanned!(first=> impl);
    opaque.extend(quote_spanned!(last=> ::core::marker::Sized));
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

/// Where the messages point that speak of the output. An opaque type of this crate's edition captures all lifetimes, as the
/// result may; where it has none, the place is the user's own.
fn place(output: &Type, span: Span) -> Span {
    match is_owned(output) {
        true => span,
        false => Span::mixed_site().located_at(span),
    }
}

/// Whether a type is made of numbers and of the library's types that hold no reference, which have so many parameters.
fn is_owned(ty: &Type) -> bool {
    const OWNED: [(&str, usize); 5] = [("String", 0), ("Vec", 1), ("Option", 1), ("Box", 1), ("Result", 2)];
    parts(ty, &mut |segment| {
        let args = match &segment.arguments {
            PathArguments::AngleBracketed(args) => args.args.len(),
            _ => 0,
        };
        OWNED.iter().any(|(name, n)| segment.ident == name && args == *n)
    })
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

/// Whether no lifetime is written in a type.
fn has_no_lifetime(ty: &Type) -> bool {
    parts(ty, &mut |_| true)
}

/// Whether a type is made of numbers, of types by name that are accepted, and of tuples and arrays.
fn parts(ty: &Type, accepted: &mut impl FnMut(&PathSegment) -> bool) -> bool {
    match ty {
        Type::Paren(t) => parts(&t.elem, accepted),
        Type::Group(t) => parts(&t.elem, accepted),
        Type::Array(t) => parts(&t.elem, accepted),
        Type::Tuple(t) => t.elems.iter().all(|t| parts(t, accepted)),
        Type::Path(_) if is_primitive(ty) => true,
        Type::Path(t) => {
            t.qself.is_none()
                && t.path.segments.last().is_some_and(&mut *accepted)
                && t.path.segments.iter().all(|segment| match &segment.arguments {
                    PathArguments::None => true,
                    PathArguments::AngleBracketed(args) => args.args.iter().all(|arg| match arg {
                        GenericArgument::Type(t) => parts(t, accepted),
                        GenericArgument::Const(_) => true,
                        _ => false,
                    }),
                    PathArguments::Parenthesized(_) => false,
                })
        }
        _ => false,
    }
}
