//! Chains of adaptors: where the closures in them have been called for the last time.
//!
//! `xs.iter().map(|x| x * k).sum()` captures a local, and yields a number; without the `.sum()` it yields
//! something that still holds the closure. The same goes for `map` of an `Option`, which calls the closure at
//! once; that it is an `Option` has to be seen in the code.

use syn::{Expr, Pat, Type};

use super::Lowering;
use crate::effects::{bound, variable};

/// Methods that yield a number, a truth value or an ordering, whatever they are called on.
const NUMBERS: [&str; 24] = [
    "all",
    "any",
    "cmp",
    "contains",
    "count",
    "ends_with",
    "eq",
    "ge",
    "gt",
    "is_empty",
    "is_err_and",
    "is_none",
    "is_none_or",
    "is_ok_and",
    "is_some",
    "is_some_and",
    "le",
    "len",
    "lt",
    "ne",
    "partial_cmp",
    "position",
    "starts_with",
    "total_cmp",
];

/// Methods that call the closures of the chain before they return.
const ENDS: [&str; 21] = [
    "collect",
    "find",
    "find_map",
    "fold",
    "for_each",
    "last",
    "map_or",
    "map_or_else",
    "max",
    "max_by",
    "max_by_key",
    "min",
    "min_by",
    "min_by_key",
    "product",
    "reduce",
    "sum",
    "then",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

/// Methods whose result is an `Option` or a `Result`.
const OPTIONS: [&str; 28] = [
    "as_deref",
    "err",
    "find",
    "find_map",
    "first",
    "get",
    "get_mut",
    "last",
    "last_mut",
    "map_err",
    "max_by",
    "max_by_key",
    "min_by",
    "min_by_key",
    "next",
    "next_back",
    "nth",
    "ok",
    "ok_or",
    "ok_or_else",
    "parse",
    "peek",
    "pop",
    "position",
    "reduce",
    "strip_prefix",
    "then",
    "then_some",
];

/// Methods whose result is an `Option` or `Result` if their receiver is one.
const ADAPTORS: [&str; 15] = [
    "and", "and_then", "as_mut", "as_ref", "cloned", "copied", "filter", "flatten", "inspect", "map", "or",
    "or_else", "take", "xor", "zip",
];

/// Whether the method yields a number or a truth value.
pub(crate) fn yields_number(method: &syn::Ident) -> bool {
    NUMBERS.contains(&method.to_string().as_str())
}

/// Whether a method is one of the library's of an `Option`, a `Result` or an iterator, by its name.
pub(super) fn is_option_method(method: &syn::Ident) -> bool {
    let name = method.to_string();
    [&ENDS[..], &OPTIONS, &ADAPTORS].iter().any(|list| list.contains(&name.as_str()))
}

/// Methods whose result borrows from nothing.
const OWNED: [&str; 9] = [
    "into_owned",
    "parse",
    "repeat",
    "replace",
    "to_lowercase",
    "to_owned",
    "to_string",
    "to_uppercase",
    "to_vec",
];

/// Whether what a call yields borrows nothing, whatever it is called on: it copies.
pub(super) fn yields_owned(lower: &Lowering<'_>, call: &syn::ExprMethodCall) -> bool {
    let name = call.method.to_string();
    OWNED.contains(&name.as_str())
        || (matches!(name.as_str(), "copied" | "cloned") && is_option(lower, &call.receiver))
}

/// Whether the method is done with the closures among its arguments when it returns, by its name.
pub(crate) fn ends_closures_by_name(method: &syn::Ident) -> bool {
    let name = method.to_string();
    ENDS.contains(&name.as_str()) || NUMBERS.contains(&name.as_str())
}

/// Whether no closure of the chain is called when the method has returned.
pub(super) fn ends_closures(lower: &Lowering<'_>, call: &syn::ExprMethodCall) -> bool {
    ENDS.contains(&call.method.to_string().as_str()) || is_option(lower, &call.receiver)
}

/// Whether an expression is an `Option` or a `Result`, as far as the code shows.
fn is_option(lower: &Lowering<'_>, expr: &Expr) -> bool {
    let last = |path: &syn::Path| path.segments.last().map(|last| last.ident.to_string());
    match expr {
        Expr::Path(e) => match variable(&lower.names, expr) {
            Some(var) => {
                lower.options_known.contains(&var)
                    || lower.program.var(var).ty.as_ref().is_some_and(is_option_type)
            }
            None => last(&e.path).as_deref() == Some("None"),
        },
        Expr::Call(e) => match &*e.func {
            Expr::Path(func) => {
                matches!(last(&func.path).as_deref(), Some("Some" | "Ok" | "Err"))
            }
            _ => false,
        },
        Expr::MethodCall(e) => {
            let name = e.method.to_string();
            OPTIONS.contains(&name.as_str())
                || name.starts_with("checked_")
                || (ADAPTORS.contains(&name.as_str()) && is_option(lower, &e.receiver))
        }
        Expr::Paren(e) => is_option(lower, &e.expr),
        Expr::Group(e) => is_option(lower, &e.expr),
        Expr::If(e) => e.else_branch.as_ref().is_some_and(|(_, other)| is_option(lower, other)),
        Expr::Block(e) => match e.block.stmts.last() {
            Some(syn::Stmt::Expr(tail, None)) => is_option(lower, tail),
            _ => false,
        },
        _ => false,
    }
}

fn is_option_type(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.segments.last()
        .is_some_and(|last| last.ident == "Option" || last.ident == "Result"))
}

impl Lowering<'_> {
    /// Remembers a local that is an `Option` or a `Result`.
    pub(super) fn note_option(&mut self, pat: &Pat, init: &Expr) {
        let (plain, annotated) = match pat {
            Pat::Type(t) => (&*t.pat, is_option_type(&t.ty)),
            other => (other, false),
        };
        if matches!(plain, Pat::Ident(_)) && (annotated || is_option(self, init)) {
            let vars = bound(&self.names, plain);
            self.options_known.extend(vars);
        }
    }
}
