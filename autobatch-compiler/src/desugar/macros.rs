//! Calls of the program in the arguments of the standard macros: `vec![f(a), f(b)]`, `matches!(f(x), …)`,
//! `assert_eq!(f(x), y)`, `format!("{}", f(x))`. The arguments become locals before the macro, in order.
//!
//! An `assert!` without a message of its own stays, because its message is its condition as written.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Pat, Stmt, Token, parse_quote};

use super::Rewrite;
use crate::formats;

/// What stands in the place of a macro, if its arguments lead to a call.
pub(super) fn call(rewrite: &mut Rewrite<'_>, mac: &Macro) -> Option<Expr> {
    let name = mac.path.get_ident()?.to_string();
    // How many arguments are looked at by value, and how many come before those that are formatted.
    let (values, skipped) = match name.as_str() {
        "vec" => {
            if let Some((value, len)) = repeated(&mac.tokens) {
                return arguments(rewrite, mac, vec![value, len], 2, 0, |args| {
                    let (value, len) = (&args[0], &args[1]);
                    quote!(#value; #len)
                });
            }
            (usize::MAX, 0)
        }
        "matches" => return matches(rewrite, mac),
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => (2, 0),
        "assert" | "debug_assert" => (1, 0),
        "format" | "print" | "println" | "eprint" | "eprintln" | "panic" | "unreachable" | "todo" => (0, 0),
        "write" | "writeln" => (0, 1),
        _ => return None,
    };
    let args: Vec<Expr> = list(&mac.tokens)?.into_iter().collect();
    if name.ends_with("assert") && args.len() < 2 {
        return None;
    }
    // Behind a failed condition only: they are evaluated where it has failed, which needs a branch.
    let formatted = if name.contains("assert") { args.len() } else { skipped };
    arguments(rewrite, mac, args, values, formatted, |args| quote!(#(#args),*))
}

/// Arguments as most macros have them.
fn list(tokens: &TokenStream) -> Option<Punctuated<Expr, Token![,]>> {
    Punctuated::parse_terminated.parse2(tokens.clone()).ok()
}

/// `value; len`.
fn repeated(tokens: &TokenStream) -> Option<(Expr, Expr)> {
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
    mac.path.get_ident().is_some_and(|name| name != "format_args" && formats::is_known(name))
}

/// Has `each` rewrite the expressions in a standard macro's tokens; false if there are none that are known. Not those of an `assert!`
/// without a message, which says its condition as written.
pub(super) fn rewrite_arguments(mac: &mut Macro, each: &mut dyn FnMut(&mut Expr)) -> bool {
    let Some(name) = mac.path.get_ident().map(ToString::to_string) else { return false };
    if name == "matches" {
        let Ok(Parts(mut value, pat, mut guard)) = syn::parse2(mac.tokens.clone()) else { return false };
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
        && !(name.ends_with("assert") && list.len() < 2)
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
    let asserts = mac.path.is_ident("assert") || mac.path.is_ident("debug_assert");
    if asserts && list(&written).is_some_and(|args| args.len() == 1) {
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

pub(super) fn ends_in_comma(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().last().is_some_and(|last| last.to_string() == ",")
}

/// The macro with locals for those of its arguments that lead to a call: among the first `values` all of them, and those
/// from the position `formatted` on that do.
fn arguments(
    rewrite: &mut Rewrite<'_>,
    mac: &Macro,
    mut args: Vec<Expr>,
    values: usize,
    formatted: usize,
    tokens: impl FnOnce(&[Expr]) -> TokenStream,
) -> Option<Expr> {
    let looked_at = |i: usize| i < values || i >= formatted;
    if !args.iter().enumerate().any(|(i, arg)| looked_at(i) && rewrite.goes_before(arg)) {
        return None;
    }
    let mut lets: Vec<Stmt> = Vec::new();
    for (i, arg) in args.iter_mut().enumerate().filter(|(i, _)| looked_at(*i)) {
        let arg = match arg {
            Expr::Assign(named) if i >= values => &mut *named.right,
            other => other,
        };
        let plain = matches!(arg, Expr::Lit(_))
            || (i >= values || mac.path.is_ident("assert_eq") || mac.path.is_ident("assert_ne"))
                && !rewrite.goes_before(arg);
        if plain {
            continue;
        }
        rewrite.expr(arg, None);
        let name = rewrite.fresh("argument");
        let value = &*arg;
        lets.push(parse_quote!(let #name = #value;));
        *arg = parse_quote!(#name);
    }
    let (path, tokens) = (&mac.path, tokens(&args));
    let new: Expr =
        if mac.path.is_ident("vec") { parse_quote!(#path![#tokens]) } else { parse_quote!(#path!(#tokens)) };
    Some(parse_quote!({ #(#lets)* #new }))
}

/// The arguments of `matches!`.
struct Parts(Expr, Pat, Option<Expr>);
impl Parse for Parts {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = input.parse::<Option<Token![if]>>()?.map(|_| input.parse()).transpose()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Parts(value, pat, guard))
    }
}

/// `matches!(value, pattern)` as a `match`.
fn matches(rewrite: &mut Rewrite<'_>, mac: &Macro) -> Option<Expr> {
    let Parts(mut value, pat, guard) = syn::parse2(mac.tokens.clone()).ok()?;
    if !(rewrite.goes_before(&value) || guard.iter().any(|guard| rewrite.goes_before(guard))) {
        return None;
    }
    rewrite.expr(&mut value, None);
    let value = super::iterators::condition(value);
    Some(match guard {
        Some(guard) => parse_quote!(match #value { #pat if #guard => true, _ => false }),
        None => parse_quote!(match #value { #pat => true, _ => false }),
    })
}

impl Rewrite<'_> {
    /// Whether an argument can't stay: it makes a call, or a `return` or `?` of it would leave the lane code instead of the function.
    fn goes_before(&self, arg: &Expr) -> bool {
        self.callees.calls(arg, &self.bindings) || (self.closures == 0 && super::closure::leaves(arg))
    }

    /// A macro as a statement.
    pub(super) fn macro_statement(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt
            && let Some(new) = call(self, &m.mac)
        {
            *stmt = Stmt::Expr(new, m.semi_token);
            self.changed = true;
        } else {
            syn::visit_mut::visit_stmt_mut(self, stmt);
        }
    }
}
