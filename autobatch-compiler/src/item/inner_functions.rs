//! Functions that stand in the body of another: they stand beside it for the compiler, so that they can be part of the program, or helpers.
//!
//! ```text
//! fn count(n: u32) -> u32 {                        fn count(n: u32) -> u32 {
//!     fn place(free: u32, …) -> u32 {                  __autobatch_inner_count__place((1 << n) - 1, 0, 0, 0)
//!         … place(free, …)                   ──▶   }
//!     }                                            fn __autobatch_inner_count__place(free: u32, …) -> u32 {
//!     place((1 << n) - 1, 0, 0, 0)                     … __autobatch_inner_count__place(free, …)
//! }                                                }
//! ```
//!
//! The user's function stays as it is. The copies are items of their own, which scalar code calls, too.
//!
//! **Invariant:** a name in a copy means what it means in the original. A function that has a `static`, is generic, or mentions another item
//! of the body stays where it is.

use std::collections::{BTreeMap, BTreeSet};

use quote::{ToTokens, format_ident};
use syn::{Attribute, Block, Expr, GenericParam, Ident, Item, ItemFn, Pat, Stmt, Type, parse_quote};

use crate::diagnostics::sink::Diagnostics;
use crate::item::methods::INNER;
use crate::item::parse;
use crate::syntax::annotated::Input;
use crate::syntax::attributes::{self, GENERATED};
use crate::syntax::item_names::{declared, imported};
use crate::syntax::mentions::idents;
use crate::syntax::standard_macros;
use crate::syntax::walk::{self, At, AtMut, Code, Next};

/// Takes the functions out of the bodies of an item's functions. They are part of it if it is a module. `more` are functions beside the
/// item that are to be taken as if they stood in a body.
pub(crate) fn take_out(input: &mut Input, more: impl Fn(&ItemFn) -> Vec<ItemFn>) -> Vec<ItemFn> {
    match input {
        Input::Function(f) => taken_out(f, more(f)),
        Input::Module(m) => {
            let Some((_, items)) = &mut m.content else { return vec![] };
            let functions = items.iter_mut().filter_map(|item| match item {
                Item::Fn(f) if !attributes::is_primitive(&f.attrs) => Some(f),
                _ => None,
            });
            let taken: Vec<ItemFn> = functions.flat_map(|f| taken_out(f, more(f))).collect();
            items.extend(taken.iter().cloned().map(Item::Fn));
            taken
        }
        Input::Impl(_) => vec![],
    }
}

fn taken_out(f: &mut ItemFn, mut more: Vec<ItemFn>) -> Vec<ItemFn> {
    let mut names = BTreeMap::new();
    // What has a name in the body hides what stands beside the item, which means the latter.
    let own = items(&f.block, &|_| false);
    let hides = |f: &ItemFn| {
        let mut words = idents(f.to_token_stream()).into_iter().map(|word| word.to_string());
        own.as_ref().is_none_or(|own| words.any(|word| own.contains(&word)))
    };
    more.retain(|f| !hides(f));
    let added: BTreeSet<String> = more.iter().map(|f| f.sig.ident.to_string()).collect();
    f.block.stmts.splice(0..0, more.into_iter().map(|f| Stmt::Item(Item::Fn(f))));
    for inner in candidates(f) {
        let name = format_ident!("{INNER}{}__{}", f.sig.ident, inner, span = inner.span());
        names.insert(inner.to_string(), name);
    }
    // What does not move stands beside the item as before.
    f.block.stmts.retain(|stmt| match stmt {
        Stmt::Item(Item::Fn(f)) => {
            let name = f.sig.ident.to_string();
            !added.contains(&name) || names.contains_key(&name)
        }
        _ => true,
    });
    if names.is_empty() {
        return vec![];
    }
    let (mut taken, mut stmts) = (Vec::new(), Vec::new());
    for stmt in std::mem::take(&mut f.block.stmts) {
        match stmt {
            Stmt::Item(Item::Fn(inner)) if names.contains_key(&inner.sig.ident.to_string()) => {
                taken.push(inner);
            }
            stmt => stmts.push(stmt),
        }
    }
    f.block.stmts = stmts;
    rename(&mut *f.block, &names);
    for inner in &mut taken {
        inner.sig.ident = names[&inner.sig.ident.to_string()].clone();
        rename(&mut *inner.block, &names);
        let kept = attributes::lints_and_conditions(&inner.attrs);
        inner.attrs = parse_quote!(#(#kept)* #[doc(hidden)] #[allow(warnings)] #GENERATED);
    }
    taken
}

/// The functions that can be taken out of a body. What one of them mentions must be there, too.
fn candidates(f: &ItemFn) -> Vec<Ident> {
    let all = f.block.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Item(Item::Fn(inner)) => Some(inner),
        _ => None,
    });
    let mut bound = bound(&f.block);
    for inner in all.clone() {
        bound.extend(self::bound(&inner.block));
        bound.extend(
            inner.sig.inputs.iter().flat_map(|input| idents(input.to_token_stream())).map(|i| i.to_string()),
        );
    }
    let mut found: Vec<&ItemFn> = all
        .filter(|inner| {
            let name = &inner.sig.ident;
            let others = functions(&f.block, name) > 1 || *name == f.sig.ident;
            can_move(inner) && !others && !bound.contains(&name.to_string())
        })
        .collect();
    // Other items of the body.
    loop {
        let moves = |name: &Ident| found.iter().any(|inner| inner.sig.ident == *name);
        let others: Option<BTreeSet<String>> = items(&f.block, &moves);
        let before = found.len();
        found.retain(|inner| {
            let words = idents(inner.to_token_stream());
            others.as_ref().is_some_and(|others| !words.iter().any(|word| others.contains(&word.to_string())))
        });
        if found.len() == before {
            return found.into_iter().map(|inner| inner.sig.ident.clone()).collect();
        }
    }
}

/// How many functions of a name there are in a body, in inner blocks too.
fn functions(block: &Block, name: &Ident) -> usize {
    let mut found = 0;
    walk::each(block, |at| {
        found += usize::from(matches!(at, At::Item(Item::Fn(inner)) if inner.sig.ident == *name));
    });
    found
}

/// The names of the items of a body that stay; `None` if there may be names that nobody sees.
fn items(block: &Block, moves: &dyn Fn(&Ident) -> bool) -> Option<BTreeSet<String>> {
    let (mut names, mut sees_all) = (BTreeSet::new(), true);
    walk::each(block, |at| match at {
        At::Item(Item::Fn(inner)) if moves(&inner.sig.ident) => {}
        At::Item(Item::Fn(inner)) => _ = names.insert(inner.sig.ident.to_string()),
        At::Item(Item::Use(i)) => {
            let (found, all) = imported(&i.tree);
            names.extend(found.into_iter().map(ToString::to_string));
            sees_all &= !all;
        }
        At::Item(item @ (Item::Const(_) | Item::Static(_) | Item::Struct(_) | Item::Enum(_))) => {
            names.extend(declared(item).map(ToString::to_string));
        }
        At::Item(_) => sees_all = false,
        At::Macro(mac) => sees_all &= standard_macros::is_standard(mac),
        _ => {}
    });
    sees_all.then_some(names)
}

/// Whether a function means the same elsewhere, and may be part of a program.
fn can_move(f: &ItemFn) -> bool {
    let is_inert = |attr: &Attribute| {
        ["allow", "inline", "doc", "must_use", "expect"].iter().any(|name| attr.path().is_ident(name))
    };
    let is_lifetime = |p: &GenericParam| matches!(p, GenericParam::Lifetime(_));
    let only_lifetimes = f.sig.generics.params.iter().all(is_lifetime)
        && !walk::any(&f.sig, |at| matches!(at, At::Type(Type::ImplTrait(_))));
    let has_own = walk::any(&*f.block, |at| match at {
        At::Item(_) => true,
        At::Macro(mac) => !standard_macros::is_standard(mac),
        _ => false,
    });
    let mut diag = Diagnostics::default();
    let model = parse::function(&f.attrs, &f.vis, &f.sig, &f.block, None, &mut diag);
    model.is_some() && diag.is_empty() && only_lifetimes && !has_own && f.attrs.iter().all(is_inert)
}

/// The names that are bound in a body, or that stand in the tokens of macros.
fn bound(block: &Block) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    walk::each(block, |at| match at {
        At::Pat(Pat::Ident(p)) => _ = names.insert(p.ident.to_string()),
        At::Macro(mac) => names.extend(idents(mac.tokens.clone()).iter().map(ToString::to_string)),
        _ => {}
    });
    names
}

fn rename(code: &mut (impl Code + ?Sized), names: &BTreeMap<String, Ident>) {
    walk::map(code, |at| {
        if let AtMut::Expr(Expr::Path(p)) = at
            && let Some(ident) = p.path.get_ident()
            && let Some(name) = names.get(&ident.to_string())
        {
            let mut name = name.clone();
            name.set_span(ident.span());
            p.path = name.into();
        }
        Next::On
    });
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::syntax::mentions::text;

    fn function(body: &TokenStream) -> ItemFn {
        syn::parse2(quote!(fn f(n: u64) -> u64 { #body })).unwrap_or_else(|e| panic!("{body}: {e}"))
    }

    /// The function with these statements, and the names of those that were taken out of it.
    fn taken(body: TokenStream) -> (String, Vec<String>) {
        let mut input = Input::Function(function(&body));
        let taken = take_out(&mut input, |_| vec![]);
        let Input::Function(f) = input else { panic!("a function") };
        let stmts = f.block.stmts.iter().map(ToTokens::to_token_stream);
        (text(&TokenStream::from_iter(stmts)), taken.iter().map(|f| f.sig.ident.to_string()).collect())
    }

    #[test]
    fn functions_beside_are_taken_along() {
        let beside: Vec<ItemFn> = vec![
            syn::parse_quote!(
                #[inline]
                fn g(n: u64) -> u64 {
                    if n == 0 { h(n) } else { g(n - 1) }
                }
            ),
            syn::parse_quote!(
                fn h(n: u64) -> u64 {
                    if n > 9 { g(n) } else { other(n) }
                }
            ),
        ];
        let taken = |body: &str| {
            let mut input = Input::Function(function(&body.parse().expect("tokens")));
            let taken = take_out(&mut input, |_| beside.clone());
            let Input::Function(f) = input else { panic!("a function") };
            (text(&f), taken.iter().map(|f| f.sig.ident.to_string()).collect::<Vec<_>>())
        };
        let names = ["__autobatch_inner_f__g", "__autobatch_inner_f__h"].map(String::from);
        let expected = (text(&function(&quote!(__autobatch_inner_f__g(n) + 1))), names.to_vec());
        assert_eq!(taken("g(n) + 1"), expected);
        for body in ["let g = n; g + 1", "use other::*; g(n)", "use other::g; g(n)", "made!(g(n)); n"] {
            let stays = function(&body.parse().expect("tokens"));
            assert_eq!(taken(body), (text(&stays), vec![]), "{body}");
        }
        // One of the body's own goes before.
        assert_eq!(taken("fn g(n: u64) -> u64 { n } g(n)").1, ["__autobatch_inner_f__g"]);
    }

    #[test]
    fn functions_and_their_calls_have_names_of_their_own() {
        let (body, names) = taken(quote! {
            fn g(n: u64) -> u64 { if n == 0 { h(n) } else { g(n - 1) } }
            const fn h<'a>(n: u64) -> u64 { n + LIMIT }
            g(n) + Some(n).map(h).unwrap_or(n)
        });
        let expected = quote!(__autobatch_inner_f__g(n) + Some(n).map(__autobatch_inner_f__h).unwrap_or(n));
        assert_eq!(
            (body, names),
            (text(&expected), vec!["__autobatch_inner_f__g".into(), "__autobatch_inner_f__h".into()])
        );
    }

    #[test]
    fn what_would_mean_something_else_stays() {
        for body in [
            "const LIMIT: u64 = 1; fn g(n: u64) -> u64 { n + LIMIT } g(n)",
            "use other::*; fn g(n: u64) -> u64 { n } g(n)",
            "use other::h; fn g(n: u64) -> u64 { h(n) } g(n)",
            "fn g<T>(n: T) -> T { n } g(n)",
            "fn g(n: impl Copy) -> u64 { 1 } g(n)",
            "fn g(n: u64) -> u64 { static N: u64 = 1; n + N } g(n)",
            "fn g(n: u64) -> u64 { h(n) } fn h<T>(n: T) -> T { n } g(n)",
            "#[cfg(unix)] fn g(n: u64) -> u64 { n } g(n)",
            "fn g(n: u64) -> u64 { n } let g = g(n); g",
            "fn g(n: u64) -> u64 { n } { fn g(n: u64) -> u64 { n + 1 } g(n) }",
            "fn g(n: u64) -> u64 { n } assert!(g(n) > 1); n",
            "fn f(n: u64) -> u64 { n } f(n)",
            "{ fn g(n: u64) -> u64 { n } g(n) }",
            "made!(); fn g(n: u64) -> u64 { n } g(n)",
        ] {
            let body: TokenStream = body.parse().expect("tokens");
            assert!(taken(body.clone()).1.is_empty(), "{body}");
        }
    }
}
