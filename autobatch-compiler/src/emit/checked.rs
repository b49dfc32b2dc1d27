//! An error in a user's function is shown once, at the function.
//!
//! rustc drops an error that says of the same places what another has said. What it says of generated code differs from what
//! it says of the function: there are loops around, variables have other places. So generated code is made to depend on
//! the function being sound. Its *check* has its parameters and its body, and an opaque type as result: the errors are the function's,
//! word for word, and the size of the result is known only if there are none. Functions that mention an array of that
//! length are in error from the start, without a message, and rustc does not look at their borrows. Types that belong to
//! such an array are known only then too ([`Types`]).
//!
//! Lengths of arrays can't depend on type parameters, so generic functions have no check.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, GenericParam, ImplItem, Item, Lifetime, Pat, ReturnType, Signature, Stmt, Type, parse_quote,
};

use super::api::turbofish;
use super::attributes::{self, GENERATED};
use super::{clone, numbered};
use crate::input::{Function, Input};
use crate::ir::text;
use crate::methods;
use crate::question;
use crate::receivers::unmark;

mod form;

use form::Form;

/// The checks of functions of an item, to stand beside them.
pub(crate) fn items(functions: &[Function], rt: &TokenStream) -> Vec<TokenStream> {
    let checks = functions.iter().filter_map(|f| {
        let check = item(f, form(f)?, rt);
        Some(methods::block(f, std::slice::from_ref(&check)).unwrap_or(check))
    });
    checks.collect()
}

/// The sizes of the checks' results. They stand outside of `impl` blocks: constants of generic types can't be lengths.
pub(crate) fn sizes(functions: &[Function]) -> Vec<TokenStream> {
    functions.iter().filter(|f| has(f)).map(size).collect()
}

/// What the generated code of a program begins with.
pub(super) fn mentions<'a>(functions: impl Iterator<Item = &'a Function>) -> TokenStream {
    let mentions = functions.filter(|f| has(f)).map(|f| {
        let (conditions, size) = (attributes::conditions(&f.attrs), size_ident(f));
        quote!(#(#conditions)* let _ = [(); #size];)
    });
    mentions.collect()
}

/// Makes the functions themselves depend on their checks, as far as these say of borrows what they say of the functions. What
/// is said of a `for` or a `while` points at its expansion, so rustc can't see that it is said twice.
pub(crate) fn tie(input: &mut Input, functions: &[Function]) {
    let tied = functions.iter().filter(|f| form(f).is_some_and(|form| form.borrows_alike(shown(f))));
    let tied: Vec<&Function> = tied.collect();
    let tie = |block: &mut Block, is_it: &dyn Fn(&Function) -> bool| {
        let found = tied.iter().find(|f| is_it(f));
        let first = block.stmts.iter().position(|stmt| !matches!(stmt, Stmt::Item(_)));
        if let (Some(function), Some(first)) = (found, first) {
            let size = size_ident(function);
            block.stmts.insert(first, parse_quote!(let _: [(); #size];));
        }
    };
    let free = |f: &mut syn::ItemFn| {
        let name = &f.sig.ident;
        tie(&mut f.block, &|function| function.method.is_none() && function.sig.ident == *name);
    };
    match input {
        Input::Function(f) => free(f),
        Input::Module(m) => {
            for item in m.content.iter_mut().flat_map(|(_, items)| items) {
                match item {
                    Item::Fn(f) => free(f),
                    Item::Impl(i) => {
                        for item in &mut i.items {
                            let ImplItem::Fn(f) = item else { continue };
                            let (ty, name) = (text(&i.self_ty), &f.sig.ident);
                            tie(&mut f.block, &|function| {
                                function.method.as_ref().is_some_and(|method| {
                                    method.shown.sig.ident == *name && text(&method.owner) == ty
                                })
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
        Input::Impl(i) => {
            for item in &mut i.items {
                if let ImplItem::Fn(f) = item {
                    let name = &f.sig.ident;
                    tie(&mut f.block, &|function| function.sig.ident == *name);
                }
            }
        }
    }
}

/// Where values meet the function's signature, their types are spelled so that they are known only if the function is sound.
/// That they don't fit has been said then.
pub(super) struct Types {
    known: Option<TokenStream>,
}

impl Types {
    pub(super) fn of(function: &Function, rt: &TokenStream) -> Types {
        // A type can't be under a condition.
        let can = attributes::conditions(&function.attrs).is_empty() && has(function);
        let size = can.then(|| size_ident(function));
        Types { known: size.map(|size| quote!([(); #size] as #rt::Checked)) }
    }

    /// The output's type in a signature.
    pub(super) fn output(&self, sig: &mut Signature) {
        if let ReturnType::Type(_, ty) = &mut sig.output
            && let Some(known) = self.known(ty)
        {
            **ty = Type::Verbatim(known);
        }
    }

    /// A type that is known only then.
    pub(super) fn known(&self, ty: &impl ToTokens) -> Option<TokenStream> {
        self.known.as_ref().map(|known| quote!(<#known<#ty>>::Of))
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
        if let Pat::Type(pat) = &mut local.pat
            && let Some(known) = self.known(&pat.ty)
            && let Pat::Ident(name) = &*pat.pat
            && (ours(&name.ident, &["__result", "__arg"]) || local.init.as_ref().is_some_and(yielded))
        {
            *pat.ty = Type::Verbatim(known);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn item(function: &Function, form: Form, rt: &TokenStream) -> TokenStream {
    let shown = shown(function);
    let mut sig = shown.sig.clone();
    sig.ident = check_ident(function);
    sig.constness = None;
    let mut body: Block = shown.written.clone();
    unmark(&mut body);
    question::spell_out(&mut body, &shown.output, rt);
    match form {
        Form::Future => sig.asyncness = Some(syn::Token![async](Span::mixed_site())),
        Form::Opaque => {
            let output = &shown.output;
            sig.output = opaque(output, rt);
            let result = Ident::new("__result", Span::mixed_site());
            body.stmts.insert(0, parse_quote!(if false { let #result: #output = loop {}; return #result; };));
        }
    }
    let carried = attributes::lints_and_conditions(&shown.attrs);
    quote! {
        #(#carried)*
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        #sig #body
    }
}

/// The size of what a check returns.
fn size(function: &Function) -> TokenStream {
    let shown = shown(function);
    let (check, size) = (check_ident(function), size_ident(function));
    let conditions = attributes::conditions(&function.attrs);
    let params: Vec<Ident> = (0..shown.sig.inputs.len()).map(|i| numbered("P", i)).collect();
    let fish = turbofish(&shown.sig.generics);
    let owner = function.method.as_ref().map(|method| &method.owner).or(function.owner.as_ref());
    let path = match owner.cloned() {
        Some(mut owner) => {
            Elide.visit_type_mut(&mut owner);
            quote!(<#owner>::#check #fish)
        }
        None => quote!(#check #fish),
    };
    quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        #[allow(non_upper_case_globals)]
        const #size: usize = {
            const fn size<#(#params,)* R>(_: &impl ::core::ops::FnOnce(#(#params),*) -> R) -> usize {
                ::core::mem::size_of::<::core::marker::PhantomData<R>>()
            }
            size(&#path)
        };
    }
}

/// Leaves lifetimes to be inferred.
struct Elide;

impl VisitMut for Elide {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = Lifetime::new("'_", lifetime.span());
        }
    }
}

fn shown(function: &Function) -> &Function {
    function.method.as_ref().map_or(function, |method| &method.shown)
}

/// An opaque type that captures all lifetimes, as it does in this crate's edition, but stands at the place of the output.
fn opaque(output: &Type, rt: &TokenStream) -> ReturnType {
    let mut tokens = output.to_token_stream().into_iter();
    let ends = |token: Option<TokenTree>| token.map_or(Span::mixed_site(), |t| t.span());
    let first = ends(tokens.next());
    let last = tokens.last().map_or(first, |t| ends(Some(t)));
    let rt = rt.clone().into_iter().map(|mut token| {
        token.set_span(first);
        token
    });
    let (begin, end) = (quote_spanned!(first=> ::Same<), quote_spanned!(last=> >));
    parse_quote!(-> #(#rt)* #begin impl ::core::marker::Sized #end)
}

fn check_ident(function: &Function) -> Ident {
    let ident = &shown(function).sig.ident;
    format_ident!("__autobatch_check_{}", ident, span = ident.span())
}

fn size_ident(function: &Function) -> Ident {
    let ident = &function.sig.ident;
    let owner = function.owner.iter().flat_map(|owner| text(owner).into_bytes());
    let owner: String = owner.map(|c| if c.is_ascii_alphanumeric() { char::from(c) } else { '_' }).collect();
    format_ident!("__autobatch_size_{}{}", owner, ident, span = ident.span())
}

/// The form of a function's check, if it has one.
fn form(function: &Function) -> Option<Form> {
    let shown = shown(function);
    let named = function.method.as_ref().is_none_or(|method| method.named);
    let params = shown.sig.generics.params.iter().chain(&shown.outer.params);
    let generic = params.into_iter().any(|p| !matches!(p, GenericParam::Lifetime(_)));
    let can = named && !generic && clone::can_be_repeated(shown);
    can.then(|| Form::of(shown)).flatten()
}

fn has(function: &Function) -> bool {
    form(function).is_some()
}
