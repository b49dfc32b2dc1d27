//! Macros that can't stand in lane code: they leave the function or a loop, or name its locals out of sight.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Expr, Item, ItemMacro, Macro, Pat};

use crate::diagnostics::reasons::{self, Reason};
use crate::index::declarations::Declared;
use crate::ir;
use crate::item::model::Function;
use crate::syntax::format_strings;
use crate::syntax::macro_tokens::{leaves, mentions};
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::{self, At};

/// Whether a macro is one of the library's, which leave nothing.
fn is_known(name: &Ident) -> bool {
    format_strings::is_known(name)
        || matches!(
            name.to_string().as_str(),
            "cfg"
                | "column"
                | "compile_error"
                | "concat"
                | "dbg"
                | "env"
                | "file"
                | "include_bytes"
                | "include_str"
                | "line"
                | "matches"
                | "module_path"
                | "option_env"
                | "stringify"
                | "vec"
        )
}

/// The macros of a function that can't stand in lane code, and why.
pub(super) fn macros(function: &Function, declared: &Declared) -> Vec<(Span, Reason)> {
    let mut names: BTreeSet<String> = function.params.iter().map(|param| param.ident.to_string()).collect();
    names.insert("self".into());
    let mut macros: Vec<&ItemMacro> = Vec::new();
    walk::each(&function.written, |at| match at {
        At::Pat(Pat::Ident(p)) => _ = names.insert(p.ident.to_string()),
        At::Item(Item::Macro(mac)) if mac.ident.is_some() => macros.push(mac),
        _ => {}
    });
    let mut scan = Scan { declared, found: Vec::new() };
    scan.visit_block(&function.body);
    macros.retain(|mac| mentions(mac.mac.tokens.clone(), &|name| names.contains(name)));
    scan.found.extend(macros.iter().map(|mac| (mac.ident.span(), reasons::MACRO_NAMES_LOCALS)));
    scan.found
}

struct Scan<'a> {
    declared: &'a Declared,
    found: Vec<(Span, Reason)>,
}

impl Scan<'_> {
    /// Whether a macro of this name leaves.
    fn leaves(&self, name: &Ident) -> Option<Reason> {
        let text = name.to_string();
        match () {
            () if self.declared.leaving.contains(&text) => Some(reasons::MACRO_WITH_A_JUMP),
            () if self.declared.macros.contains(&text) || is_known(name) => None,
            () => Some(reasons::MACRO_OF_ANOTHER_FILE),
        }
    }

    /// Macros in a macro's tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut name = None;
        for tree in tokens {
            let before = name.take();
            match tree {
                TokenTree::Ident(ident) => name = Some(ident),
                TokenTree::Punct(p) if p.as_char() == '!' && p.spacing() == Spacing::Alone => {
                    self.found.extend(before.and_then(|name| Some((name.span(), self.leaves(&name)?))))
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Scan<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if !matches!(expr, Expr::Closure(_) | Expr::Async(_) | Expr::Const(_)) {
            visit::visit_expr(self, expr);
        }
    }
    fn visit_stmt_macro(&mut self, stmt: &'a syn::StmtMacro) {
        let name = stmt.mac.path.segments.last().map(|last| &last.ident);
        if name.is_some_and(|name| self.declared.naming.contains(&name.to_string())) {
            self.found.push((stmt.mac.path.span(), reasons::MACRO_MAKES_NAMES));
        }
        visit::visit_stmt_macro(self, stmt);
    }
    fn visit_macro(&mut self, mac: &'a Macro) {
        if ir::goto_target(mac).is_some() {
            return;
        }
        // One of the library's stands alone, or behind its crate.
        let may_be_std = match &mac.path.segments.iter().collect::<Vec<_>>()[..] {
            [_] => true,
            [of, _] => ["alloc", "core", "std"].iter().any(|library| of.ident == library),
            _ => false,
        };
        let left = mac.path.segments.last().and_then(|last| match self.leaves(&last.ident) {
            None if !may_be_std && !self.declared.macros.contains(&last.ident.to_string()) => {
                Some(reasons::MACRO_OF_ANOTHER_FILE)
            }
            reason => reason,
        });
        self.found.extend(left.map(|reason| (mac.path.span(), reason)));
        self.found.extend(leaves(mac.tokens.clone()).map(|span| (span, reasons::MACRO_GIVEN_A_JUMP)));
        self.tokens(mac.tokens.clone());
    }
    fn visit_item(&mut self, _: &'a Item) {}
}
