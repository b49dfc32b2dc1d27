//! Which expressions are an `Option`, and which a `Result`, as far as the code shows.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Expr, Pat, Type};

use super::callees::Callees;
use crate::input::Function;
use crate::mentions::{bare, bare_type};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Option,
    Result,
}

/// Methods whose result is an `Option`, whatever they are called on.
const OPTIONS: [&str; 28] = [
    "as_deref",
    "as_deref_mut",
    "err",
    "find",
    "find_map",
    "first",
    "first_mut",
    "get",
    "get_mut",
    "last",
    "last_mut",
    "max_by",
    "max_by_key",
    "min_by",
    "min_by_key",
    "next",
    "next_back",
    "nth",
    "ok",
    "pop",
    "pop_front",
    "position",
    "reduce",
    "split_first",
    "split_last",
    "strip_prefix",
    "then",
    "then_some",
];

/// Methods whose result is a `Result`.
const RESULTS: [&str; 5] = ["map_err", "ok_or", "ok_or_else", "parse", "try_into"];

/// Methods whose result is what their receiver is.
const SAME: [&str; 14] = [
    "and", "and_then", "as_mut", "as_ref", "cloned", "copied", "filter", "flatten", "inspect", "map", "or",
    "or_else", "take", "xor",
];

/// What is known of the variables of a function.
pub(super) struct Kinds {
    of: BTreeMap<String, Kind>,
    /// The results of calls of the item's functions.
    bindings: BTreeSet<String>,
}

impl Kinds {
    pub(super) fn of(function: &Function, callees: &Callees) -> Kinds {
        let bindings = function.bindings.keys().cloned().collect();
        let mut kinds = Kinds { of: BTreeMap::new(), bindings };
        for param in &function.params {
            if let Some(kind) = of_type(&param.ty) {
                kinds.of.insert(param.ident.to_string(), kind);
            }
        }
        struct Scan<'a>(&'a mut Kinds, &'a Callees);
        impl<'ast> Visit<'ast> for Scan<'_> {
            fn visit_local(&mut self, local: &'ast syn::Local) {
                visit::visit_local(self, local);
                let (pat, annotated) = match &local.pat {
                    Pat::Type(t) => (&*t.pat, Some(of_type(&t.ty))),
                    other => (other, None),
                };
                let init = local.init.as_ref().filter(|init| init.diverge.is_none());
                let kind = annotated.unwrap_or_else(|| init.and_then(|init| self.0.kind(self.1, &init.expr)));
                if let (Pat::Ident(p), Some(kind)) = (pat, kind) {
                    self.0.of.insert(p.ident.to_string(), kind);
                }
            }
            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        Scan(&mut kinds, callees).visit_block(&function.body);
        kinds
    }

    /// What an expression is.
    pub(super) fn kind(&self, callees: &Callees, expr: &Expr) -> Option<Kind> {
        match bare(expr) {
            Expr::Path(p) => {
                let name = p.path.segments.last()?.ident.to_string();
                if name == "None" { Some(Kind::Option) } else { self.of.get(&name).copied() }
            }
            Expr::Call(e) => {
                if let Some(ty) = callees.output(&e.func, &self.bindings) {
                    return of_type(ty);
                }
                let Expr::Path(func) = &*e.func else { return None };
                if func.path.segments.iter().rev().nth(1).is_some_and(|owner| owner.ident == "Option") {
                    return Some(Kind::Option);
                }
                match func.path.segments.last()?.ident.to_string().as_str() {
                    "Some" => Some(Kind::Option),
                    "Ok" | "Err" => Some(Kind::Result),
                    _ => None,
                }
            }
            Expr::MethodCall(e) => {
                let name = e.method.to_string();
                match name.as_str() {
                    // An array or a number has no `map` behind these.
                    "as_ref" | "as_mut" | "take" if e.args.is_empty() => {
                        Some(self.kind(callees, &e.receiver).unwrap_or(Kind::Option))
                    }
                    _ if OPTIONS.contains(&name.as_str()) || name.starts_with("checked_") => {
                        Some(Kind::Option)
                    }
                    _ if RESULTS.contains(&name.as_str()) => Some(Kind::Result),
                    _ if SAME.contains(&name.as_str()) => self.kind(callees, &e.receiver),
                    _ => None,
                }
            }
            Expr::If(e) => e.else_branch.as_ref().and_then(|(_, other)| self.kind(callees, other)),
            Expr::Match(e) => e.arms.iter().find_map(|arm| self.kind(callees, &arm.body)),
            Expr::Block(e) => match e.block.stmts.last() {
                Some(syn::Stmt::Expr(tail, None)) => self.kind(callees, tail),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What a type is by name.
pub(super) fn of_type(ty: &Type) -> Option<Kind> {
    match bare_type(ty) {
        Type::Path(p) => match p.path.segments.last()?.ident.to_string().as_str() {
            "Option" => Some(Kind::Option),
            "Result" => Some(Kind::Result),
            _ => None,
        },
        _ => None,
    }
}
