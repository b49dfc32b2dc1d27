//! Calls of the program in the arguments of the standard macros: `vec![f(a), f(b)]`, `matches!(f(x), …)`,
//! `assert_eq!(f(x), y)`, `format!("{}", f(x))`. The arguments become locals before the macro, in order.
//!
//! An `assert!` without a message of its own stays, because its message is its condition as written.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, Macro, Stmt, parse_quote};

use crate::desugar::rewrite::Rewrite;
use crate::syntax::standard_macros::{Matches, is_assert, list, repeated};

/// What stands in the place of a macro, if its arguments lead to a call.
pub(super) fn call(rewrite: &mut Rewrite<'_>, mac: &Macro) -> Option<Expr> {
    let name = mac.path.get_ident()?.to_string();
    // How many arguments are looked at by value, and how many come before those that are formatted. Those of an assertion are evaluated
    // behind a failed condition only, which needs a branch.
    let (values, formatted) = match name.as_str() {
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
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => (2, usize::MAX),
        "assert" | "debug_assert" => (1, usize::MAX),
        "format" | "print" | "println" | "eprint" | "eprintln" | "panic" | "unreachable" | "todo" => (0, 0),
        "write" | "writeln" => (0, 1),
        _ => return None,
    };
    let args: Vec<Expr> = list(&mac.tokens)?.into_iter().collect();
    if is_assert(mac) && args.len() < 2 {
        return None;
    }
    arguments(rewrite, mac, args, values, formatted, |args| quote!(#(#args),*))
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

/// `matches!(value, pattern)` as a `match`.
fn matches(rewrite: &mut Rewrite<'_>, mac: &Macro) -> Option<Expr> {
    let Matches { mut value, pat, guard } = syn::parse2(mac.tokens.clone()).ok()?;
    if !(rewrite.goes_before(&value) || guard.iter().any(|guard| rewrite.goes_before(guard))) {
        return None;
    }
    rewrite.expr(&mut value, None);
    let value = crate::desugar::chain_loop::condition(value);
    Some(match guard {
        Some(guard) => parse_quote!(match #value { #pat if #guard => true, _ => false }),
        None => parse_quote!(match #value { #pat => true, _ => false }),
    })
}

impl Rewrite<'_> {
    /// Whether an argument can't stay: it makes a call, or a `return` or `?` of it would leave the lane code instead of the function.
    fn goes_before(&self, arg: &Expr) -> bool {
        self.callees.calls(arg, &self.bindings)
            || (self.closures == 0 && crate::desugar::closure::leaves(arg))
    }

    /// A macro as a statement.
    pub(super) fn macro_statement(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt
            && let Some(new) = call(self, &m.mac)
        {
            *stmt = Stmt::Expr(new, m.semi_token);
            self.changed = true;
        } else {
            crate::syntax::visit_mut::visit_stmt_mut(self, stmt);
        }
    }
}
