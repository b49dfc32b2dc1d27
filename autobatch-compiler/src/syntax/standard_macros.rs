//! The arguments of the standard macros, as expressions.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Pat, Token};

use crate::syntax::format_strings;

/// Arguments as most macros have them.
pub(crate) fn list(tokens: &TokenStream) -> Option<Punctuated<Expr, Token![,]>> {
    Punctuated::parse_terminated.parse2(tokens.clone()).ok()
}

/// `value; len`.
pub(crate) fn repeated(tokens: &TokenStream) -> Option<(Expr, Expr)> {
    let parser = |input: ParseStream<'_>| {
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok((value, input.parse()?))
    };
    parser.parse2(tokens.clone()).ok()
}

/// The values that a `vec!` puts into its list.
pub(crate) fn elements(mac: &Macro) -> Option<Vec<Expr>> {
    match repeated(&mac.tokens) {
        Some((value, _)) => Some(vec![value]),
        None => Some(list(&mac.tokens)?.into_iter().collect()),
    }
}

/// Whether a standard macro's arguments are a list, looked at where they are.
pub(crate) fn is_listed(mac: &Macro) -> bool {
    mac.path.get_ident().is_some_and(|name| name != "format_args" && format_strings::is_known(name))
}

/// Whether a macro has the name of a standard one, which is an expression and brings no names.
pub(crate) fn is_standard(mac: &Macro) -> bool {
    let others = ["format_args", "matches", "vec"];
    is_listed(mac) || others.iter().any(|name| mac.path.is_ident(name))
}

/// The name of a macro that is none of the file's, `macros`.
pub(crate) fn of_std<'m>(mac: &'m Macro, macros: &BTreeSet<String>) -> Option<&'m Ident> {
    let segments: Vec<&Ident> = mac.path.segments.iter().map(|segment| &segment.ident).collect();
    match segments[..] {
        [of, name] if of == "core" && mac.path.leading_colon.is_some() => Some(name),
        [name] => Some(name).filter(|name| !macros.contains(&name.to_string())),
        _ => None,
    }
}

/// Whether a standard macro of this name does nothing but panic.
pub(crate) fn panics(name: &Ident) -> bool {
    ["panic", "todo", "unimplemented", "unreachable"].iter().any(|panics| name == panics)
}

/// Whether a macro is an `assert!`, which says its condition if it has no message.
pub(crate) fn is_assert(mac: &Macro) -> bool {
    mac.path.is_ident("assert") || mac.path.is_ident("debug_assert")
}

/// Has `each` rewrite the expressions in a standard macro's tokens; false if there are none that are known. Not those of an `assert!`
/// without a message, which says its condition as written.
pub(crate) fn rewrite_arguments(mac: &mut Macro, each: &mut dyn FnMut(&mut Expr)) -> bool {
    let Some(name) = mac.path.get_ident().map(ToString::to_string) else { return false };
    if name == "matches" {
        let Ok(Matches { mut value, pat, mut guard }) = syn::parse2(mac.tokens.clone()) else { return false };
        each(&mut value);
        guard.iter_mut().for_each(each);
        let guard = guard.map(|guard| quote!(if #guard));
        mac.tokens = quote!(#value, #pat #guard);
    } else if let Some((mut value, mut len)) = repeated(&mac.tokens)
        && name == "vec"
    {
        each(&mut value);
        each(&mut len);
        mac.tokens = quote!(#value; #len);
    } else if (name == "vec" || is_listed(mac))
        && let Some(mut list) = list(&mac.tokens)
        && !(is_assert(mac) && list.len() < 2)
    {
        list.iter_mut().for_each(each);
        mac.tokens = quote!(#list);
    } else {
        return false;
    }
    true
}

/// An `assert!` without a message says its condition: as it was `written`, though names in it have changed. If nothing has changed (then
/// false), the tokens stay, which know how they were spaced.
pub(crate) fn keep_message(mac: &mut Macro, written: TokenStream) -> bool {
    if same(&mac.tokens, &written) {
        mac.tokens = written;
        return false;
    }
    if is_assert(mac) && list(&written).is_some_and(|args| args.len() == 1) {
        let said = written.to_string().trim_end_matches(',').trim_end().replace('{', "{{").replace('}', "}}");
        let (condition, message) = (&mac.tokens, format!("assertion failed: {said}"));
        let comma: Option<Token![,]> = (!ends_in_comma(condition)).then(Default::default);
        mac.tokens = quote!(#condition #comma #message);
    }
    true
}

/// Whether tokens are the same, spaces aside.
fn same(one: &TokenStream, other: &TokenStream) -> bool {
    one.clone().into_iter().map(word).eq(other.clone().into_iter().map(word))
        && groups(one).zip(groups(other)).all(|(one, other)| same(&one, &other))
}

fn word(tree: TokenTree) -> String {
    match tree {
        TokenTree::Group(group) => format!("{:?}", group.delimiter()),
        other => other.to_string(),
    }
}

fn groups(tokens: &TokenStream) -> impl Iterator<Item = TokenStream> {
    tokens.clone().into_iter().filter_map(|tree| match tree {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    })
}

pub(crate) fn ends_in_comma(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().last().is_some_and(|last| last.to_string() == ",")
}

/// The arguments of `matches!`.
pub(crate) struct Matches {
    pub(crate) value: Expr,
    pub(crate) pat: Pat,
    pub(crate) guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = input.parse::<Option<Token![if]>>()?.map(|_| input.parse()).transpose()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Matches { value, pat, guard })
    }
}
