//! Assertions in programs for vectors: conditions that are looked at.
//!
//! ```text
//! assert!(x > 0.0, "x is {x}");      ──▶   __rt::vector::give_up_unless(x > 0.0);
//! assert_eq!(n, 3);                  ──▶   __rt::vector::give_up_unless(n == 3);
//! debug_assert!(c);                  ──▶   __rt::vector::give_up_unless(!cfg!(debug_assertions) || c);
//! if c { panic!("…"); }              ──▶   __rt::vector::give_up_unless(!c);
//! ```
//!
//! A panic drops the tile, and its members run as scalar code, which says why. Lane code notes a fault in its place
//! (`codegen/faulting_operations.rs`), so that the code around it can be vectors.
//!
//! **Invariant:** what fails in the scalar function fails here.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Expr, ExprIf, Ident, Macro, Stmt, parse_quote};

use crate::item::model::{Function, rebind};
use crate::syntax::mentions::has_let;
use crate::syntax::standard_macros::{list, panics};
use crate::syntax::walk::{self, AtMut};

/// Makes calls of the assertions in a function's body. `rt` is the path of the runtime's hidden door, and `macros` are those of the file.
pub(crate) fn rewrite(function: &mut Function, macros: &BTreeSet<String>, rt: &TokenStream) {
    let (mut body, mut any) = (function.body.clone(), false);
    walk::map(&mut body, |at| {
        let AtMut::Stmt(stmt) = at else { return };
        if let Some(condition) = asserted(stmt, macros) {
            *stmt = parse_quote!(#rt::vector::give_up_unless(#condition););
            any = true;
        }
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
    let name = std_name(mac, macros)?.to_string();
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

/// The name of a macro that is none of the file's.
fn std_name<'m>(mac: &'m Macro, macros: &BTreeSet<String>) -> Option<&'m Ident> {
    let segments: Vec<&Ident> = mac.path.segments.iter().map(|segment| &segment.ident).collect();
    match segments[..] {
        [of, name] if of == "core" && mac.path.leading_colon.is_some() => Some(name),
        [name] => Some(name).filter(|name| !macros.contains(&name.to_string())),
        _ => None,
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
    let mac = match &e.then_branch.stmts[..] {
        [Stmt::Macro(mac)] => &mac.mac,
        [Stmt::Expr(Expr::Macro(mac), _)] => &mac.mac,
        _ => return None,
    };
    let panics = std_name(mac, macros).is_some_and(panics);
    let condition = &e.cond;
    (panics && e.else_branch.is_none() && !has_let(condition)).then(|| parse_quote!(!(#condition)))
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
            x
        });
        let expected = quote!({
            __rt::vector::give_up_unless((x > 0.0));
            __rt::vector::give_up_unless(!cfg!(debug_assertions) || ((n) == (3)));
            __rt::vector::give_up_unless((n) != (4));
            __rt::vector::give_up_unless(!(n == 5));
            __rt::vector::give_up_unless(!(n == 6));
            x
        });
        assert_eq!(body, expected.to_string());
    }

    #[test]
    fn what_yields_a_value_or_does_more_stays() {
        for body in [
            quote!(if n == 5 { x } else { panic!("five") }),
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
