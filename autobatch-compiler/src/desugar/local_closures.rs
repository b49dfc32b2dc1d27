//! Closures that a function keeps in a local and calls itself: `let f = |t| (k * t).sin(); … f(a) + f(b)`.
//!
//! Where such a closure makes a batched call, or is used on both sides of a loop or call (a column can't hold what
//! borrows from locals), each call of it becomes its body, and each time it is handed on, the closure itself. A macro whose
//! arguments can't be told has the closure in front of it. Closures that go anywhere else stay.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{Expr, ExprClosure, Ident, Local, Macro, Pat, Path, Stmt, parse_quote};

use crate::desugar::closure::{changes, is_plain, leaves, returning_to, standing};
use crate::item::model::{Function, rebind};
use crate::syntax::call_sites;
use crate::syntax::mentions::{self, is_variable};
use crate::syntax::standard_macros;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Code};

/// How many tokens the copies of a closure may have in all.
const MOST: usize = 3000;

/// Puts the closures of these names where they are called. True if there is one.
pub(crate) fn rewrite(function: &mut Function, names: &BTreeSet<String>, krate: &Path) -> bool {
    let mut any = false;
    for name in names {
        let mut body = function.body.clone();
        let found = closures(&function.body).into_iter().rfind(|(_, own, _)| *own == name);
        let Some((Local { pat, .. }, _, closure)) = found else { continue };
        if !can_move(function, closure) {
            continue;
        }
        let mentions = mentions_of(&body, name);
        let mut calls = Calls { name, pat, closure, krate, placed: 0, handed: 0, defined: 0 };
        calls.visit_block_mut(&mut body);
        let mut written = closure.body.clone();
        call_sites::unmark(&mut written);
        let written = ExprClosure { body: written, ..closure.clone() }.to_token_stream();
        let tokens = (written.to_string().len() / 4).max(written.into_iter().count());
        let fits = mentions > 0 && calls.placed + calls.handed == mentions && calls.defined == 1;
        if fits && tokens * mentions <= MOST {
            rebind(function, body);
            any = true;
        }
    }
    any
}

/// The names of the closures in a body that `wanted` says yes to.
pub(crate) fn names(body: &syn::Block, wanted: impl Fn(&ExprClosure) -> bool) -> BTreeSet<String> {
    let wanted = closures(body).into_iter().filter(|(local, _, c)| local.attrs.is_empty() && wanted(c));
    wanted.map(|(_, name, _)| name.to_string()).collect()
}

/// The closures of a body that are locals.
fn closures(body: &syn::Block) -> Vec<(&Local, &Ident, &ExprClosure)> {
    let mut all = Vec::new();
    walk::each(body, |at| {
        if let At::Local(local) = at
            && let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
            && let Expr::Closure(closure) = &*init.expr
        {
            all.push((local, &p.ident, closure));
        }
    });
    all
}

/// Whether the closure does the same at its calls as where it is made.
fn can_move(function: &Function, closure: &ExprClosure) -> bool {
    if !is_plain(closure) || closure.capture.is_none() {
        return is_plain(closure);
    }
    // Its copies of variables might differ from those by then.
    let mut mutable = function.bindings.iter().filter(|(_, binding)| binding.mutable);
    mutable.all(|(name, _)| mentions_of(&*closure.body, name) == 0) && !changes(&closure.body)
}

/// How often a variable is mentioned, in macros too.
pub(super) fn mentions_of(code: &impl Code, name: &str) -> usize {
    let mut found = 0;
    walk::each(code, |at| {
        found += match at {
            At::Expr(Expr::Path(e)) => usize::from(e.path.is_ident(name)),
            At::Macro(mac) => mentions::words(&mac.tokens.to_string()).filter(|word| *word == name).count(),
            _ => 0,
        };
    });
    found
}

struct Calls<'a> {
    name: &'a str,
    pat: &'a Pat,
    closure: &'a ExprClosure,
    krate: &'a Path,
    /// Calls that have become the body.
    placed: usize,
    /// Places where the closure itself stands now.
    handed: usize,
    defined: usize,
}

impl Calls<'_> {
    /// The closure or a reference to it, handed on as an argument.
    fn hand_on(&mut self, arg: &mut Expr) {
        let closure = self.closure;
        if is_variable(arg, self.name) {
            *arg = parse_quote!(#closure);
            self.handed += 1;
        } else if let Expr::Reference(e) = arg
            && is_variable(&e.expr, self.name)
        {
            *e.expr = parse_quote!((#closure));
            self.handed += 1;
        }
    }

    /// A macro, with the closure in front of it if it still mentions it.
    fn around(&mut self, mac: &Macro) -> Option<Expr> {
        let mentions = mentions_of(mac, self.name);
        let (pat, closure) = (self.pat, self.closure);
        self.handed += mentions;
        (mentions > 0).then(|| parse_quote!({ let #pat = #closure; #mac }))
    }

    fn body(&mut self, args: Vec<Expr>) -> Option<Expr> {
        if args.len() != self.closure.inputs.len() {
            return None;
        }
        self.placed += 1;
        let mut body = standing((*self.closure.body).clone());
        if leaves(&body) {
            let label = syn::Lifetime::new(
                &format!("'__{}_{}", self.name, self.placed),
                proc_macro2::Span::mixed_site(),
            );
            body = returning_to(&label, self.krate, body);
        }
        if let syn::ReturnType::Type(_, ty) = &self.closure.output {
            body = parse_quote!({ let __returned: #ty = #body; __returned });
        }
        let inputs = &self.closure.inputs;
        let lets = inputs.iter().zip(args).map(|(pat, arg)| -> Stmt { parse_quote!(let #pat = #arg;) });
        Some(parse_quote!({ #(#lets)* #body }))
    }
}

impl VisitMut for Calls<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let before = block.stmts.len();
        let name = self.name;
        block.stmts.retain(|stmt| {
            !matches!(stmt, Stmt::Local(Local { pat: Pat::Ident(p), init: Some(_), .. }) if p.ident == name)
        });
        self.defined += before - block.stmts.len();
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        match expr {
            Expr::Call(call) => {
                call.args.iter_mut().for_each(|arg| self.hand_on(arg));
                if is_variable(&call.func, self.name)
                    && let Some(body) = self.body(call.args.iter().cloned().collect())
                {
                    *expr = body;
                }
            }
            Expr::MethodCall(call) => call.args.iter_mut().for_each(|arg| self.hand_on(arg)),
            Expr::Macro(e) => {
                if let Some(new) = self.around(&e.mac) {
                    *expr = new;
                }
            }
            _ => {}
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        standard_macros::rewrite_arguments(mac, &mut |arg| self.visit_expr_mut(arg));
    }

    /// What other macros are as statements may bind names for those behind them.
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        visit_mut::visit_stmt_mut(self, stmt);
        if let Stmt::Macro(m) = stmt
            && (m.mac.path.is_ident("assert") || m.mac.path.is_ident("debug_assert"))
            && let Some(new) = self.around(&m.mac)
        {
            *stmt = Stmt::Expr(new, m.semi_token);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
