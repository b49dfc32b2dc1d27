//! `let xs = &[a, b];` keeps a temporary as long as `xs` is in scope. It gets a name, `let kept = [a, b]; let xs =
//! &kept;`, so that it is a local that is borrowed like any other. So does what a `for` or a `match` borrows from: `for x in
//! board.moves().iter()`, `if let Some(x) = board.moves().first()`.
//!
//! A number that a `match` takes out of what a local lends, and needs a call for, is a value of its own: `match *row.get(f(n)).unwrap() { 0 =>
//! … }`. So the local is not lent while an arm runs.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::{Ident, Span};
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprIf, ExprMatch, Local, LocalInit, Path, Stmt, Token, parse_quote,
};

use super::copies::{is_number_choice, is_part_of_place};
use crate::guards::may_be_guard;
use crate::input::Function;
use crate::lower::unseen::is_unseen;
use crate::lower::{behind, is_temporary, may_split};
use crate::mentions::bound_by_ref;
use crate::resolve;
use crate::signatures::{Methods, Takes};

/// Names them in a function's body. `known` are the names of the program's functions.
pub(crate) fn name(function: &mut Function, known: &BTreeSet<String>, primitives: &[Path]) {
    let mut body = function.body.clone();
    let splits = |expr: &Expr| may_split(function, known, primitives, expr);
    let mut names = Names { methods: function.methods.clone(), splits: &splits, changed: false };
    names.visit_block_mut(&mut body);
    if names.changed {
        resolve::again(function, body);
    }
}

struct Names<'a> {
    methods: Rc<Methods>,
    /// Whether code may become blocks, which temporaries don't outlive.
    splits: &'a dyn Fn(&Expr) -> bool,
    changed: bool,
}

impl Names<'_> {
    /// Puts a name in a temporary's place; the statement that defines it.
    fn named(&mut self, value: &mut Expr, mutability: Option<Token![mut]>) -> Stmt {
        let kept = Ident::new("__kept", Span::mixed_site());
        let value = std::mem::replace(value, parse_quote!(#kept));
        self.changed = true;
        parse_quote!(let #mutability #kept = #value;)
    }

    /// Whether a value borrows from a temporary.
    fn borrows(&self, value: &Expr) -> bool {
        lent(&self.methods, &mut value.clone()).is_some()
    }

    /// Whether a part of a condition is matched against what borrows from a temporary.
    fn lends(&self, cond: &Expr) -> bool {
        match cond {
            Expr::Let(e) => self.borrows(&e.expr),
            Expr::Binary(e) => self.lends(&e.left) || self.lends(&e.right),
            _ => false,
        }
    }

    /// Names the temporary that a value borrows from; the statement that defines it.
    fn lender(&mut self, value: &mut Expr) -> Option<Stmt> {
        let (value, mutability) = lent(&self.methods, value)?;
        Some(self.named(value, mutability))
    }

    /// The number that a `match` chooses by, taken out of a local's part before: the statement that does it.
    fn number(&mut self, e: &mut ExprMatch) -> Option<Stmt> {
        let behind = behind(&e.expr);
        let lent = is_part_of_place(&e.expr)
            && matches!(behind, Expr::MethodCall(_))
            && !self.borrows(behind)
            && !may_be_guard(&self.methods, behind);
        let by_value = e.arms.iter().all(|arm| bound_by_ref(&arm.pat).is_empty());
        (lent && by_value && is_number_choice(e) && (self.splits)(&e.expr))
            .then(|| self.named(&mut e.expr, None))
    }

    /// The same for what the patterns of an `if` are matched against. Behind a part of the condition that is evaluated before
    /// there is an `if` of its own.
    fn matched(&mut self, mut choice: ExprIf) -> Expr {
        let mut parts = Vec::new();
        conjuncts(*choice.cond, &mut parts);
        let mut otherwise = None;
        if let Some(before) = parts.iter().skip(1).position(|part| self.lends(part)) {
            let (behind, mut then) = (parts.split_off(before + 1), choice.then_branch);
            otherwise = choice.else_branch.take();
            if otherwise.is_some() {
                then = parse_quote!({ break '__chosen #then });
            }
            let inner = self.matched(parse_quote!(if #(#behind)&&* #then));
            choice.then_branch = parse_quote!({ #inner });
        }
        let kept = match parts.first_mut() {
            Some(Expr::Let(e)) => self.lender(&mut e.expr),
            _ => None,
        };
        choice.cond = parse_quote!(#(#parts)&&*);
        match (kept, otherwise) {
            (Some(kept), None) => parse_quote!({ #kept #choice }),
            (None, None) => Expr::If(choice),
            (kept, Some((_, otherwise))) => parse_quote!('__chosen: { #kept #choice #otherwise }),
        }
    }
}

impl VisitMut for Names<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            // A statement of this block: the local may be moved behind it.
            if let Some(Expr::Match(e)) = value(&mut stmt)
                && let Some(mut number) = self.number(e)
            {
                self.visit_stmt_mut(&mut number);
                stmts.push(number);
            }
            self.visit_stmt_mut(&mut stmt);
            if let Stmt::Local(Local { init: Some(LocalInit { expr, diverge: None, .. }), attrs, .. }) =
                &mut stmt
                && attrs.is_empty()
                && let Expr::Reference(reference) = &mut **expr
                && is_temporary(&self.methods, base(&mut reference.expr))
            {
                stmts.push(self.named(base(&mut reference.expr), reference.mutability));
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Match(e) = expr
            && let Some(number) = self.number(e)
        {
            return *expr = parse_quote!({ #number #expr });
        }
        let borrows = match &*expr {
            Expr::ForLoop(e) => self.borrows(&e.expr),
            Expr::Match(e) => self.borrows(&e.expr) && (self.splits)(expr),
            Expr::If(e) => self.lends(&e.cond) && (self.splits)(expr),
            Expr::While(e) => self.lends(&e.cond) && (self.splits)(expr),
            _ => false,
        };
        if !borrows {
            return;
        }
        let kept = match expr {
            Expr::ForLoop(e) => self.lender(&mut e.expr),
            Expr::Match(e) => self.lender(&mut e.expr),
            Expr::If(e) => return *expr = self.matched(e.clone()),
            Expr::While(e) => {
                let (label, cond, body) = (&e.label, &e.cond, &e.body);
                let round = self.matched(parse_quote!(if #cond { #body continue; }));
                return *expr = parse_quote!(#label loop { #round break; });
            }
            _ => None,
        };
        *expr = parse_quote!({ #kept #expr });
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
}

/// What a statement evaluates.
fn value(stmt: &mut Stmt) -> Option<&mut Expr> {
    match stmt {
        Stmt::Expr(expr, _) => Some(expr),
        Stmt::Local(local) => local.init.as_mut().map(|init| &mut *init.expr),
        _ => None,
    }
}

/// The parts of a condition, in order.
fn conjuncts(cond: Expr, parts: &mut Vec<Expr>) {
    match cond {
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            conjuncts(*left, parts);
            conjuncts(*right, parts);
        }
        other => parts.push(other),
    }
}

/// The temporary that an iterator or a part borrows from, which is made before all else; `mut`, if mutably.
fn lent<'e>(methods: &Methods, expr: &'e mut Expr) -> Option<(&'e mut Expr, Option<Token![mut]>)> {
    let (place, mutability) = match expr {
        Expr::Paren(e) => return lent(methods, &mut e.expr),
        Expr::Reference(e) => (base(&mut e.expr), e.mutability),
        Expr::MethodCall(e) => {
            // The user's and the library's may have the same name.
            let known = [methods.of(&e.method), methods.of_libraries(&e.method)];
            match known.into_iter().flatten().find(|method| method.borrows) {
                Some(method) => {
                    (base(&mut e.receiver), (method.takes == Some(Takes::Mut)).then(<Token![mut]>::default))
                }
                None if is_unseen(methods, &e.method) && is_temporary(methods, &e.receiver) => {
                    (&mut *e.receiver, Some(<Token![mut]>::default()))
                }
                None => return lent(methods, &mut e.receiver),
            }
        }
        // `Some(x)`, and the question that a `?` asks.
        Expr::Call(e) if is_constructor(&e.func) => return lent(methods, e.args.first_mut()?),
        _ => return None,
    };
    if is_temporary(methods, place) { Some((place, mutability)) } else { lent(methods, place) }
}

/// The expression that a place is a part of.
fn base(place: &mut Expr) -> &mut Expr {
    match place {
        Expr::Field(e) => base(&mut e.base),
        Expr::Index(e) => base(&mut e.expr),
        Expr::Paren(e) => base(&mut e.expr),
        Expr::Group(e) => base(&mut e.expr),
        other => other,
    }
}

fn is_constructor(func: &Expr) -> bool {
    let Expr::Path(path) = func else { return false };
    let name = path.path.segments.last().map(|last| last.ident.to_string());
    name.is_some_and(|name| name == "branch" || name.starts_with(char::is_uppercase))
}
