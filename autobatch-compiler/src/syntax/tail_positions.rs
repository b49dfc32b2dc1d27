//! Calls in tail position: where the value is the function's result. Which of them are tail calls says the pass of that
//! name, of the program; where scalar code runs members, it has to count the others, and only those. So they are numbered
//! before anything is compiled, in what clones are made of and in what is lowered.

use std::collections::BTreeSet;

use syn::{Block, Expr, Ident, Item, Stmt, Type};

use crate::syntax::call_sites::{self, CallSite};
use crate::syntax::visit_mut::{self, VisitMut};

/// Numbers the calls of functions of these names that stand in tail position of a body, from 0 on; how many they are.
pub(crate) fn number(body: &mut Block, names: &BTreeSet<String>) -> usize {
    let mut count = 0_usize;
    let number = |expr: &mut Expr| {
        let (name, attrs) = match expr {
            Expr::MethodCall(call) => (Some(&call.method), &mut call.attrs),
            Expr::Call(call) => match &*call.func {
                Expr::Path(p) => (p.path.segments.last().map(|s| &s.ident), &mut call.attrs),
                _ => return,
            },
            _ => return,
        };
        if let Some(name) = name.filter(|name| names.contains(&name.to_string())) {
            call_sites::mark(attrs, CallSite(count), name.span());
            count += 1;
        }
    };
    Tails { call: number }.function(body);
    count
}

/// Goes to the calls in tail position.
pub(crate) struct Tails<F> {
    /// What is done with each.
    pub(crate) call: F,
}

impl<F: FnMut(&mut Expr)> Tails<F> {
    /// Goes through the body of a function.
    pub(crate) fn function(&mut self, body: &mut Block) {
        self.visit_block_mut(body);
        self.block(body);
    }

    fn block(&mut self, block: &mut Block) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.tail(tail);
        }
    }

    /// `expr` stands where its value is the function's result.
    fn tail(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(e) => self.tail(&mut e.expr),
            Expr::Group(e) => self.tail(&mut e.expr),
            Expr::If(e) => {
                self.block(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.tail(otherwise);
                }
            }
            Expr::Match(e) => e.arms.iter_mut().for_each(|arm| self.tail(&mut arm.body)),
            Expr::Block(e) => {
                self.block(&mut e.block);
                let label = e.label.as_ref().map(|l| l.name.ident.clone());
                Breaks { tails: self, label, nested: 1 }.visit_block_mut(&mut e.block);
            }
            Expr::Loop(e) => {
                let label = e.label.as_ref().map(|l| l.name.ident.clone());
                Breaks { tails: self, label, nested: 0 }.visit_block_mut(&mut e.body);
            }
            Expr::Call(_) | Expr::MethodCall(_) => (self.call)(expr),
            _ => {}
        }
    }
}

/// `return`s outside of closures.
impl<F: FnMut(&mut Expr)> VisitMut for Tails<F> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            Expr::Return(e) => {
                visit_mut::visit_expr_return_mut(self, e);
                e.expr.iter_mut().for_each(|value| self.tail(value));
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}

/// `break`s with a value out of a loop or block that is a tail.
struct Breaks<'a, F> {
    tails: &'a mut Tails<F>,
    label: Option<Ident>,
    /// Loops in between.
    nested: usize,
}

impl<F: FnMut(&mut Expr)> VisitMut for Breaks<'_, F> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            Expr::Break(e) => {
                let ours = match &e.label {
                    Some(label) => self.label.as_ref() == Some(&label.ident),
                    None => self.nested == 0,
                };
                visit_mut::visit_expr_break_mut(self, e);
                if let (true, Some(value)) = (ours, &mut e.expr) {
                    self.tails.tail(value);
                }
            }
            Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) => {
                self.nested += 1;
                visit_mut::visit_expr_mut(self, expr);
                self.nested -= 1;
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}
