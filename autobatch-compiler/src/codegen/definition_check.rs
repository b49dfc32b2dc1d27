//! An error in a user's function is shown once, at the function.
//!
//! rustc drops an error that says of the same places what another has said. What it says of generated code differs from what
//! it says of the function: there are loops around, variables have other places. So generated code is made to depend on
//! the function being sound. Its *check* has its parameters and its body, and an opaque type as result: the errors are the function's,
//! word for word, and the size of the result is known only if there are none. Functions that mention an array of that
//! length are in error from the start, without a message, and rustc does not look at their borrows. Types that belong to
//! such an array are known only then too (`Types`).
//!
//! Lengths of arrays can't depend on type parameters: errors in generic functions are shown again.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Block, Expr, GenericParam, Pat, ReturnType, Signature, Type, parse_quote};

use crate::codegen::names::numbered;
use crate::codegen::repeatable;
use crate::item::methods;
use crate::item::model::Function;
use crate::lower::call_arguments::may_borrow;
use crate::syntax::attributes::{self, GENERATED};
use crate::syntax::call_sites::unmark;
use crate::syntax::elision::nameless;
use crate::syntax::mentions::text;
use crate::syntax::turbofish::turbofish;
use crate::syntax::visit_mut::{self, VisitMut};

/// The checks of functions of an item, to stand beside them.
pub(crate) fn items(functions: &[Function], rt: &TokenStream) -> Vec<TokenStream> {
    let checks = functions.iter().filter(|f| has(f)).map(|f| {
        let check = item(f, rt);
        methods::block(f, std::slice::from_ref(&check)).unwrap_or(check)
    });
    checks.collect()
}

/// What generated code asks of the checks. They stand outside of `impl` blocks: constants of generic types can't be lengths.
pub(crate) fn questions(functions: &[Function]) -> Vec<TokenStream> {
    functions.iter().filter(|f| has(f)).map(question).collect()
}

/// What the generated code of a program begins with.
pub(crate) fn mentions<'a>(functions: impl Iterator<Item = &'a Function>) -> TokenStream {
    let mentions = functions.filter(|f| has(f)).map(|f| {
        let (conditions, question) = (attributes::conditions(&f.attrs), question_ident(f));
        quote!(#(#conditions)* let _ = [(); #question];)
    });
    mentions.collect()
}

/// Where values meet the function's signature, their types are spelled so that they are known only if the function is sound.
/// That they don't fit has been said then.
#[derive(Clone)]
pub(crate) struct Types {
    /// What stands before a type `T>`, so that it is `T` if the function is sound.
    known: Option<TokenStream>,
}

impl Types {
    pub(crate) fn of(function: &Function, rt: &TokenStream) -> Types {
        // A type can't be under a condition.
        let can = attributes::conditions(&function.attrs).is_empty() && has(function);
        let size = question_ident(function);
        Types { known: can.then(|| quote!(<[(); #size] as #rt::Checked)) }
    }

    /// A value of a type that is known only then.
    fn value(&self, value: &mut Expr) {
        if let Some(known) = &self.known {
            *value = parse_quote!(#known<_>>::value(#value));
        }
    }

    /// Such a type.
    pub(crate) fn spelled(&self, ty: &Type) -> TokenStream {
        self.known.as_ref().map_or_else(|| quote!(#ty), |known| quote!(#known<#ty>>::Of))
    }

    /// The output's type in a signature.
    pub(crate) fn output(&self, sig: &mut Signature) {
        if let (ReturnType::Type(_, ty), true) = (&mut sig.output, self.known.is_some()) {
            **ty = Type::Verbatim(self.spelled(ty));
        }
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
        // What a `for` goes over.
        if let (Pat::Ident(name), Some(init)) = (&local.pat, &mut local.init) {
            match &mut *init.expr {
                Expr::Call(call) if ours(&name.ident, &["__iter"]) => {
                    call.args.iter_mut().for_each(|value| self.value(value));
                }
                end if ours(&name.ident, &["__at", "__end"]) => self.value(end),
                _ => {}
            }
        }
        if self.known.is_some()
            && let Pat::Type(pat) = &mut local.pat
            && let Pat::Ident(name) = &*pat.pat
            && (ours(&name.ident, &["__result", "__arg"]) || local.init.as_ref().is_some_and(yielded))
        {
            *pat.ty = Type::Verbatim(self.spelled(&pat.ty));
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn item(function: &Function, rt: &TokenStream) -> TokenStream {
    let shown = function.shown();
    let mut sig = shown.sig.clone();
    sig.ident = check_ident(function);
    sig.constness = None;
    let mut body: Block = shown.written.clone();
    unmark(&mut body);
    let output = &shown.output;
    sig.output = opaque(output, rt);
    let result = Ident::new("__result", Span::mixed_site());
    body.stmts.insert(0, parse_quote!(if false { let #result: #output = loop {}; return #result; };));
    repeatable::hidden_copy(&shown.attrs, &sig, &body)
}

/// The size of what a check returns.
fn question(function: &Function) -> TokenStream {
    let (check, question) = (path(function), question_ident(function));
    let conditions = attributes::conditions(&function.attrs);
    let params: Vec<Ident> =
        (0..function.shown().sig.inputs.len()).map(|i| numbered("Parameter", i)).collect();
    let attributes = quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(warnings)]
        #GENERATED
        #[allow(non_upper_case_globals)]
    };
    quote! {
        #attributes
        const #question: usize = {
            const fn size<#(#params,)* R>(_: &impl ::core::ops::FnOnce(#(#params),*) -> R) -> usize {
                ::core::mem::size_of::<::core::marker::PhantomData<R>>()
            }
            size(&#check)
        };
    }
}

/// Names a function's check.
fn path(function: &Function) -> TokenStream {
    let (check, fish) = (check_ident(function), turbofish(&function.shown().sig.generics));
    let owner = function.method.as_ref().map(|method| &method.owner).or(function.owner.as_ref());
    match owner.map(nameless) {
        Some(owner) => quote!(<#owner>::#check #fish),
        None => quote!(#check #fish),
    }
}

/// An opaque type that captures all lifetimes, as it does in this crate's edition, but stands at the place of the output.
fn opaque(output: &Type, rt: &TokenStream) -> ReturnType {
    let mut tokens = output.to_token_stream().into_iter();
    let ends = |token: Option<TokenTree>| token.map_or(Span::mixed_site(), |t| t.span());
    let first = ends(tokens.next());
    let last = tokens.last().map_or(first, |t| ends(Some(t)));
    let here = |tokens: TokenStream| -> TokenStream {
        let here = |mut token: TokenTree| {
            token.set_span(first);
            token
        };
        tokens.into_iter().map(here).collect()
    };
    let (rt, begin, end) = (here(rt.clone()), quote_spanned!(first=> ::Same<), quote_spanned!(last=> >));
    parse_quote!(-> #rt #begin impl ::core::marker::Sized #end)
}

fn check_ident(function: &Function) -> Ident {
    let ident = &function.shown().sig.ident;
    format_ident!("__autobatch_check_{}", ident, span = ident.span())
}

fn question_ident(function: &Function) -> Ident {
    named(function, "size")
}

/// A name that no other function's has.
pub(crate) fn named(function: &Function, what: &str) -> Ident {
    let ident = &function.sig.ident;
    format_ident!("__autobatch_{}_{}{}", what, methods::owner_name(function), ident, span = ident.span())
}

/// Whether a function has a check: it can be written twice, and no lifetime is in its output, since which of several an opaque
/// type has rustc may not find.
fn has(function: &Function) -> bool {
    let shown = function.shown();
    let named = function.method.as_ref().is_none_or(|method| method.named);
    // A trait with arguments may be implemented several times, and its type parameters need not be the type's.
    let once = shown.implements.as_ref().and_then(|path| path.segments.last());
    let once = once.is_none_or(|last| last.arguments.is_none());
    let lifetimes = shown.outer.lifetimes().next().is_some() && names(&shown.output, &["Self".into()]);
    named
        && once
        && !is_generic(function)
        && repeatable::can_be_repeated(shown)
        && !may_borrow(&shown.output)
        && !lifetimes
}

pub(crate) fn is_generic(function: &Function) -> bool {
    let shown = function.shown();
    let mut params = shown.sig.generics.params.iter().chain(&shown.outer.params);
    params.any(|p| !matches!(p, GenericParam::Lifetime(_)))
}

/// Whether one of some names stands in the code.
fn names(code: &impl ToTokens, names: &[String]) -> bool {
    let text = text(code);
    crate::syntax::mentions::words(&text).any(|word| names.iter().any(|name| name == word))
}
