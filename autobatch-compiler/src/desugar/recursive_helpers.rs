//! Helpers that call themselves, and those that lead to one, are part of the program: as if they stood in the body of the function that calls
//! them ([`inner_functions`](crate::item::inner_functions)).
//!
//! ```text
//! fn simpson(lo: f64, hi: f64, …) -> f64 { … simpson(lo, m, …) … }     fn area(k: f64) -> f64 {
//!                                                                          fn simpson(lo: f64, hi: f64, …) -> f64 { … }
//! #[autobatch]                                                    ──▶      simpson(0.0, 1.0, k, 20)
//! fn area(k: f64) -> f64 { simpson(0.0, 1.0, k, 20) }                  }
//! ```
//!
//! Not those from which vectors gain nothing, as with library calls: there a call is faster.
//!
//! **Invariant:** a function means the same in a body of its module, and is called there by the same name.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{Expr, FnArg, ItemFn, Pat, Type, Visibility};

use crate::desugar::loops_of_data;
use crate::diagnostics::sink::Diagnostics;
use crate::item::model::Function;
use crate::item::parse;
use crate::item::selection::{heavy, is_generic};
use crate::resolve::types::Types;
use crate::syntax::attributes::is_batched;
use crate::syntax::mentions::{idents, is_variable};
use crate::syntax::reachability::reached;
use crate::syntax::walk::{self, At, Next};

/// The recursive helpers that a function calls, of those beside the item.
pub(crate) fn called(f: &ItemFn, beside: &[ItemFn], types: &Types<'_>, vector_math: bool) -> Vec<ItemFn> {
    let position: BTreeMap<String, usize> =
        beside.iter().enumerate().map(|(nth, f)| (f.sig.ident.to_string(), nth)).collect();
    let named = |code: &dyn ToTokens| -> BTreeSet<usize> {
        idents(code.to_token_stream()).iter().filter_map(|i| position.get(&i.to_string()).copied()).collect()
    };
    let own = named(&f.block);
    if own.is_empty() {
        return vec![];
    }
    let calls: Vec<BTreeSet<usize>> = beside.iter().map(|f| named(&f.block)).collect();
    let called = |f: usize| calls[f].iter().copied();
    let all: BTreeSet<usize> = own.iter().flat_map(|f| reached(*f, called)).chain(own.clone()).collect();
    let recursive = heavy(beside.len(), |_| false, called);
    let worth = all.intersection(&recursive).map(|f| &beside[*f]);
    let worth: Vec<&ItemFn> = worth.filter(|f| gains(f, types, vector_math)).collect();
    let callers: Vec<&ItemFn> = worth.iter().copied().chain([f]).collect();
    let is_called_plainly = |f: &&&ItemFn| callers.iter().all(|caller| calls_plainly(caller, f));
    worth.iter().filter(is_called_plainly).map(|f| as_written(f)).collect()
}

/// Whether a function calls another, not as a value, nor in a closure or a macro, and lends it only what it is lent itself: what it has
/// itself, its members have in columns, which move.
fn calls_plainly(caller: &ItemFn, called: &ItemFn) -> bool {
    let name = called.sig.ident.to_string();
    let is_reference =
        |arg: &FnArg| matches!(arg, FnArg::Typed(arg) if matches!(*arg.ty, Type::Reference(_)));
    let is_lent = |expr: &Expr| {
        caller.sig.inputs.iter().filter(|arg| is_reference(arg)).any(|arg| match arg {
            FnArg::Typed(arg) => {
                matches!(&*arg.pat, Pat::Ident(p) if is_variable(expr, &p.ident.to_string()))
            }
            FnArg::Receiver(_) => false,
        })
    };
    let mut calls = 0;
    walk::each(&*caller.block, |at| match at {
        At::Expr(Expr::Closure(_)) => Next::Past,
        At::Expr(Expr::Call(call)) if is_variable(&call.func, &name) => {
            let mut args = called.sig.inputs.iter().zip(&call.args);
            calls += usize::from(args.all(|(param, arg)| !is_reference(param) || is_lent(arg)));
            Next::On
        }
        _ => Next::On,
    });
    let all = idents(caller.block.to_token_stream());
    calls == all.iter().filter(|ident| **ident == name).count()
}

/// The function without the attribute, which it may have for itself, and for nobody else.
fn as_written(f: &ItemFn) -> ItemFn {
    let mut f = ItemFn { vis: Visibility::Inherited, ..f.clone() };
    f.attrs.retain(|attr| !is_batched(std::slice::from_ref(attr)));
    f
}

/// Whether a function is about numbers and what is lent, and lanes run it on vectors.
fn gains(f: &ItemFn, types: &Types<'_>, vector_math: bool) -> bool {
    let is_plain = |arg: &FnArg| matches!(arg, FnArg::Typed(arg) if arg.attrs.is_empty());
    let mut diag = Diagnostics::default();
    let function = parse::function(&[], &f.vis, &f.sig, &f.block, None, &mut diag);
    let Some(function) = function.filter(|_| diag.is_empty() && f.sig.inputs.iter().all(is_plain)) else {
        return false;
    };
    let is_value = |ty: &Type| types.definitions.is_value(ty);
    let is_known = |ty: &Type| match ty {
        Type::Reference(r) => r.mutability.is_none(),
        ty => is_value(ty),
    };
    let Function { params, output, .. } = &function;
    !is_generic(&function)
        && params.iter().all(|param| is_known(&param.ty))
        && is_value(output)
        && loops_of_data::gain(&function, vector_math)
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;
    use syn::parse_quote;

    use super::*;
    use crate::index::definitions::Definitions;

    #[test]
    fn recursion_about_numbers_is_called() {
        let beside: Vec<ItemFn> = vec![
            parse_quote!(
                #[autobatch]
                pub fn area(lo: f64, hi: f64) -> f64 {
                    if hi < lo { lo } else { area(lo, hi / 2.0) }
                }
            ),
            parse_quote!(
                fn all(lo: f64) -> f64 {
                    area(lo, 1.0) + root(lo)
                }
            ),
            parse_quote!(
                fn root(x: f64) -> f64 {
                    x.sqrt()
                }
            ),
            parse_quote!(
                fn gcd(a: u64, b: u64) -> u64 {
                    if b == 0 { a } else { gcd(b, a % b) }
                }
            ),
            // What is lent changes; a library is called; types of which nothing is known.
            parse_quote!(
                fn walk(x: &mut f64) -> f64 {
                    *x -= 1.0;
                    if *x > 0.0 { walk(x) } else { *x }
                }
            ),
            parse_quote!(
                fn decay(x: f64) -> f64 {
                    if x > 1.0 { decay(x.ln()) } else { x }
                }
            ),
            parse_quote!(
                fn tree(t: Tree) -> f64 {
                    tree(t.next())
                }
            ),
            parse_quote!(
                fn any<T>(x: T) -> f64 {
                    any(x)
                }
            ),
            parse_quote!(
                fn lent(x: f64, t: &[f64; 2]) -> f64 {
                    if x > t[0] { lent(x - 1.0, t) } else { x }
                }
            ),
        ];
        let definitions = Definitions::default();
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let caller = |code: &TokenStream| -> ItemFn { parse_quote!(fn f(t: &[f64; 2]) -> f64 { #code }) };
        let named = |code: TokenStream, vector_math: bool| -> Vec<String> {
            let found = called(&caller(&code), &beside, &types, vector_math);
            found.iter().map(|f| f.sig.ident.to_string()).collect()
        };
        assert_eq!(named(quote!(all(x)), false), ["area", "all"]);
        assert_eq!(named(quote!(gcd(a, b)), false), ["gcd"]);
        assert_eq!(named(quote!(walk(&mut x) + decay(x) + tree(t) + any(x)), false), [""; 0]);
        assert_eq!(named(quote!(decay(x)), true), ["decay"]);
        assert_eq!(named(quote!(lent(x, t)), false), ["lent"]);
        assert_eq!(named(quote!(lent(x, t) + lent(x, &[x, 1.0])), false), [""; 0]);
        assert_eq!(named(quote!(xs.iter().map(|x| all(*x)).sum()), false), ["area"]);
        assert_eq!(named(quote!(assert!(area(x, y) > 0.0); map(area)), false), [""; 0]);
        let area = called(&caller(&quote!(area(x, y))), &beside, &types, false).remove(0);
        assert!(area.attrs.is_empty() && matches!(area.vis, Visibility::Inherited));
    }
}
