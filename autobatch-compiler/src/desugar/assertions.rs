//! Assertions in programs for vectors: conditions that are looked at.
//!
//! ```text
//! assert!(x > 0.0, "x is {x}");      ──▶   __rt::vector::give_up_unless(x > 0.0);
//! assert_eq!(n, 3);                  ──▶   __rt::vector::give_up_unless(n == 3);
//! debug_assert!(c);                  ──▶   __rt::vector::give_up_unless(!cfg!(debug_assertions) || c);
//! if c { panic!("…"); }              ──▶   __rt::vector::give_up_unless(!c);
//! if c { x } else { panic!("…") }    ──▶   { __rt::vector::give_up_unless(c); x }
//! ```
//!
//! A panic drops the tile, and its members run as scalar code, which says why. Lane code notes a fault in its place
//! (`codegen/faulting_operations.rs`), so that the code around it can be vectors.
//!
//! **Invariant:** what fails in the scalar function fails here.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Block, Expr, ExprIf, Macro, Stmt, parse_quote};

use crate::item::model::{Function, rebind};
use crate::syntax::mentions::has_let;
use crate::syntax::standard_macros::{list, of_std, panics};
use crate::syntax::walk::{self, At, AtMut};

/// Makes calls of the assertions in a function's body. `rt` is the path of the runtime's hidden door, and `macros` are those of the file.
pub(crate) fn rewrite(function: &mut Function, macros: &BTreeSet<String>, rt: &TokenStream) {
    let (mut body, mut any) = (function.body.clone(), false);
    walk::map(&mut body, |at| match at {
        AtMut::Stmt(stmt) => {
            if let Some(condition) = asserted(stmt, macros) {
                *stmt = parse_quote!(#rt::vector::give_up_unless(#condition););
                any = true;
            }
        }
        AtMut::Expr(expr) => {
            if let Some((condition, value)) = value_asserted(expr, macros) {
                *expr = parse_quote!({ #rt::vector::give_up_unless(#condition); #value });
                any = true;
            }
        }
        _ => {}
    });
    if any {
        rebind(function, body);
    }
}

/// The condition under which a statement does nothing, if it panics under the other one.
fn asserted(stmt: &Stmt, macros: &BTreeSet<String>) -> Option<Expr> {
    match stmt {
        Stmt::Macro(mac) if mac.attrs.is_empty() => of_macro(&mac.mac, macros),
        Stmt::Expr(Expr::Macro(mac), Some(_)) if mac.attrs.is_empty() => of_macro(&mac.mac, macros),
        Stmt::Expr(Expr::If(e), _) if e.attrs.is_empty() => of_if(e, macros),
        _ => None,
    }
}

fn of_macro(mac: &Macro, macros: &BTreeSet<String>) -> Option<Expr> {
    let name = of_std(mac, macros)?.to_string();
    let args = list(&mac.tokens)?;
    let mut args = args.iter();
    match name.strip_prefix("debug_") {
        Some(name) => {
            let condition = of_arguments(name, &mut args)?;
            Some(parse_quote!(!cfg!(debug_assertions) || (#condition)))
        }
        None => of_arguments(&name, &mut args),
    }
}

fn of_arguments<'e>(name: &str, args: &mut impl Iterator<Item = &'e Expr>) -> Option<Expr> {
    let first = args.next()?;
    Some(match name {
        "assert" => parse_quote!((#first)),
        "assert_eq" => {
            let second = args.next()?;
            parse_quote!((#first) == (#second))
        }
        "assert_ne" => {
            let second = args.next()?;
            parse_quote!((#first) != (#second))
        }
        _ => return None,
    })
}

/// `if c { panic!(…); }`
fn of_if(e: &ExprIf, macros: &BTreeSet<String>) -> Option<Expr> {
    let condition = &e.cond;
    let panics = only_panics(&e.then_branch, macros);
    (panics && e.else_branch.is_none() && !has_let(condition)).then(|| parse_quote!(!(#condition)))
}

/// The condition and the value of `if c { x } else { panic!(…) }`. Lane code computes the value where there is none, so it has to come to
/// an end.
fn value_asserted<'e>(expr: &'e Expr, macros: &BTreeSet<String>) -> Option<(&'e Expr, &'e Block)> {
    let Expr::If(e) = expr else { return None };
    let Expr::Block(otherwise) = &*e.else_branch.as_ref()?.1 else { return None };
    let ends = |at: At<'_>| match at {
        At::Expr(e) => !matches!(
            e,
            Expr::Call(_) | Expr::MethodCall(_) | Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_)
        ),
        _ => true,
    };
    let fits = e.attrs.is_empty() && only_panics(&otherwise.block, macros) && !has_let(&e.cond);
    (fits && !walk::any(&e.then_branch, |at| !ends(at))).then_some((&e.cond, &e.then_branch))
}

/// Whether a block does nothing but panic.
fn only_panics(block: &Block, macros: &BTreeSet<String>) -> bool {
    let mac = match &block.stmts[..] {
        [Stmt::Macro(mac)] => &mac.mac,
        [Stmt::Expr(Expr::Macro(mac), _)] => &mac.mac,
        _ => return false,
    };
    of_std(mac, macros).is_some_and(panics)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::ir::testing::functions;
    use crate::syntax::mentions::text;

    fn rewritten(body: TokenStream) -> String {
        let mut function = functions(quote!(fn f(x: f64, n: u32) -> f64 { #body })).remove(0);
        rewrite(&mut function, &BTreeSet::new(), &quote!(__rt));
        text(&function.body)
    }

    #[test]
    fn assertions_are_calls() {
        let body = rewritten(quote! {
            assert!(x > 0.0, "{x} is too small");
            debug_assert_eq!(n, 3);
            assert_ne!(n, 4);
            if n == 5 { panic!("five") }
            if n == 6 { unreachable!(); }
            if n < 9 { x } else { ::core::panic!("{n}") }
        });
        let expected = quote!({
            __rt::vector::give_up_unless((x > 0.0));
            __rt::vector::give_up_unless(!cfg!(debug_assertions) || ((n) == (3)));
            __rt::vector::give_up_unless((n) != (4));
            __rt::vector::give_up_unless(!(n == 5));
            __rt::vector::give_up_unless(!(n == 6));
            {
                __rt::vector::give_up_unless(n < 9);
                { x }
            }
        });
        assert_eq!(body, expected.to_string());
    }

    #[test]
    fn what_does_more_stays() {
        for body in [
            quote!(if n == 5 { log(x) } else { panic!("five") }),
            quote!(if n == 5 { x } else { log(x) }),
            quote!({
                if n == 5 {
                    log(n);
                    panic!("five");
                }
                x
            }),
            quote!({
                if let 5 = n {
                    panic!("five");
                }
                x
            }),
            quote!({
                println!("{x}");
                x
            }),
            quote!({
                #[cfg(test)]
                assert!(x > 0.0);
                x
            }),
        ] {
            assert_eq!(rewritten(body.clone()), quote!({ #body }).to_string());
        }
    }
}
