//! Parts that a pattern moves out of a local, `match p { P { a, b: 3, .. } => …, _ => … }`, of which other parts are used behind a loop or
//! call: a column holds whole values. Where they don't become locals of their own (`desugar/split.rs`), the function runs per member.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Ident, Pat, Stmt};

use crate::desugar::moves::Known;
use crate::input::Function;
use crate::mentions::{bindings, is_variable};

pub(super) const PARTED: &str =
    "a pattern moves a part out of a local, of which other parts are used behind a loop or call";

/// Where a pattern moves such a part. `calls` are the names of the program's functions.
pub(super) fn moved(function: &Function, self_type: Option<&Ident>, calls: &BTreeSet<String>) -> Vec<Span> {
    // Only what a pattern takes apart.
    let mut matched = bindings(&function.body);
    matched.retain(|(pat, _, _)| matches!(pat, Pat::Struct(_) | Pat::Guard(_)));
    let is_matched = |name: &&String| matched.iter().any(|(_, value, _)| is_variable(value, name));
    let moved = function.bindings.keys().filter(is_matched).filter_map(|name| {
        let known = Known::of(function, name, self_type);
        let mut scan = Scan { known: &known, calls, moved: None, splits: false, found: None };
        scan.visit_block(&function.body);
        scan.found
    });
    moved.collect()
}

struct Scan<'a> {
    known: &'a Known<'a>,
    calls: &'a BTreeSet<String>,
    /// Where a part is moved on the way to the current place, and whether there is a loop or call since.
    moved: Option<Span>,
    splits: bool,
    found: Option<Span>,
}

impl Scan<'_> {
    /// Looks at what is done with what patterns bind; whether it may be gone behind it.
    fn arm(&mut self, pat: &Pat, then: impl FnOnce(&mut Self), diverges: bool, outer: &mut Option<Span>) {
        let before = (self.moved, self.splits);
        if self.known.moves(pat) {
            (self.moved, self.splits) = (Some(pat.span()), false);
        }
        then(self);
        if !diverges {
            *outer = outer.or(self.moved);
        }
        self.moved = before.0;
        self.splits |= before.1;
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Match(e) if is_variable(&e.expr, self.known.name) => {
                let mut behind = self.moved;
                for arm in &e.arms {
                    let ends = diverges(&arm.body);
                    self.arm(&arm.pat, |scan| scan.visit_arm(arm), ends, &mut behind);
                }
                self.moved = behind;
            }
            Expr::If(e)
                if let Expr::Let(cond) = &*e.cond
                    && is_variable(&cond.expr, self.known.name) =>
            {
                let mut behind = self.moved;
                let ends = ends(&e.then_branch.stmts);
                self.arm(&cond.pat, |scan| scan.visit_block(&e.then_branch), ends, &mut behind);
                e.else_branch.iter().for_each(|(_, e)| self.visit_expr(e));
                self.moved = behind;
            }
            Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) => {
                visit_head(self, expr);
                self.splits = true;
                visit_rest(self, expr);
            }
            _ => {
                visit::visit_expr(self, expr);
                self.splits |= match expr {
                    Expr::Call(e) => matches!(&*e.func, Expr::Path(p)
                        if p.path.segments.last().is_some_and(|last| self.calls.contains(&last.ident.to_string()))),
                    Expr::MethodCall(e) => self.calls.contains(&e.method.to_string()),
                    _ => false,
                };
            }
        }
        if is_variable(expr, self.known.name) && self.splits {
            self.found = self.found.or(self.moved);
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// What is evaluated before a loop.
fn visit_head(scan: &mut Scan<'_>, expr: &Expr) {
    if let Expr::ForLoop(e) = expr {
        scan.visit_expr(&e.expr);
    }
}

fn visit_rest(scan: &mut Scan<'_>, expr: &Expr) {
    match expr {
        Expr::While(e) => {
            scan.visit_expr(&e.cond);
            scan.visit_block(&e.body);
        }
        Expr::Loop(e) => scan.visit_block(&e.body),
        Expr::ForLoop(e) => scan.visit_block(&e.body),
        _ => {}
    }
}

fn diverges(body: &Expr) -> bool {
    match body {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Block(e) => ends(&e.block.stmts),
        _ => false,
    }
}

fn ends(stmts: &[Stmt]) -> bool {
    matches!(stmts.last(), Some(Stmt::Expr(last, _)) if diverges(last))
}
