//! Whether control may go on from a method's call to a use of the part that it is called on.
//!
//! A walk over the code in the order in which it runs, which carries one fact: whether the part may have been taken on the way here. An
//! assignment to it, or its declaration, ends that; branches are put together.
//!
//! **Invariant:** what is called a use is one on a path that rustc sees too. Where that is not certain, the walk forgets the part.

use std::collections::BTreeSet;

use syn::{Expr, Macro, Member, Pat};

use crate::ir::effects::Names;
use crate::ir::{Block, BlockId, Program, Terminator, VarId, goto_target};
use crate::syntax::mentions::{self, bare};
use crate::syntax::standard_macros::is_listed;
use crate::syntax::visit::{self, Visit};

/// Whether `part`, on which a method is called in the block, may be used again behind the call before it gets another value.
pub(super) fn is_used_again(program: &Program, names: &Names, block: BlockId, part: &Expr) -> bool {
    let Some(place) = Position::of(part) else { return false };
    let Some(var) = names.get(&place.root) else { return false };
    let mut walk =
        UseWalk { place, var: *var, part, taken: false, used: false, left: false, ahead: Vec::new() };
    walk.block(program.block(block));
    let mut seen = BTreeSet::new();
    while let Some(next) = walk.ahead.pop() {
        if seen.insert(next) {
            walk.taken = true;
            walk.block(program.block(next));
        }
    }
    walk.used
}

/// A variable or a part of one: `tree.left.key`. Pointers on the way don't count.
struct Position {
    root: String,
    fields: Vec<Member>,
}

impl Position {
    /// The place that an expression is; what is indexed is one place with all of its elements.
    fn of(expr: &Expr) -> Option<Position> {
        let mut place =
            Position { root: mentions::base(expr)?.path.get_ident()?.to_string(), fields: Vec::new() };
        let mut at = expr;
        loop {
            at = match bare(at) {
                Expr::Field(e) => {
                    place.fields.push(e.member.clone());
                    &e.base
                }
                Expr::Index(e) => {
                    place.fields.clear();
                    &e.expr
                }
                Expr::Unary(e) => &e.expr,
                _ => break,
            };
        }
        place.fields.reverse();
        Some(place)
    }

    /// Whether it is all of the other, or more.
    fn holds(&self, other: &Position) -> bool {
        self.root == other.root && other.fields.starts_with(&self.fields)
    }

    fn overlaps(&self, other: &Position) -> bool {
        self.holds(other) || other.holds(self)
    }
}

pub(crate) struct UseWalk<'a> {
    place: Position,
    var: VarId,
    /// The part, where the method is called on it.
    part: &'a Expr,
    /// Whether it may have been taken on the way here.
    taken: bool,
    /// Whether it is used where it may have been taken.
    used: bool,
    /// Whether it may have been taken where the innermost loop is left.
    left: bool,
    /// Where control may go with that.
    ahead: Vec<BlockId>,
}

impl UseWalk<'_> {
    fn block(&mut self, block: &Block) {
        for op in &block.ops {
            op.code.iter().for_each(|stmt| self.visit_stmt(stmt));
            self.taken &= !op.declares.contains(&self.var);
        }
        match &block.term {
            Terminator::Branch { cond, .. } => self.visit_expr(cond),
            Terminator::Switch { scrutinee, arms, .. } => {
                self.matched(scrutinee, arms.iter().all(|arm| is_whole(&arm.pat)));
            }
            Terminator::Call(call) => self.used |= self.taken && call.args.contains(&self.var),
            Terminator::TailCall { args, .. } => self.used |= self.taken && args.contains(&self.var),
            Terminator::Jump(_) | Terminator::Return | Terminator::Unreachable => {}
        }
        let next = block.term.successors().into_iter().enumerate();
        let keeps = |(nth, _): &(usize, BlockId)| !block.term.binds(*nth).contains(&self.var);
        self.ahead.extend(next.filter(|_| self.taken).filter(keeps).map(|(_, next)| next));
    }

    /// Code that may run or not.
    fn perhaps(&mut self, code: impl FnOnce(&mut Self)) {
        let before = self.taken;
        code(self);
        self.taken |= before;
    }

    /// One of several pieces of code.
    fn one_of<T>(&mut self, pieces: impl IntoIterator<Item = T>, mut code: impl FnMut(&mut Self, T)) {
        let (before, mut behind) = (self.taken, false);
        for piece in pieces {
            self.taken = before;
            code(self, piece);
            behind |= self.taken;
        }
        self.taken = behind;
    }

    /// A loop, which ends where `head` does or by a `break`.
    fn repeated(&mut self, head: impl Fn(&mut Self), ends: bool, body: &syn::Block) {
        let around = std::mem::take(&mut self.left);
        // The second time with what the first has done.
        for _ in 0..2 {
            head(self);
            self.left |= ends && self.taken;
            self.visit_block(body);
        }
        self.taken = std::mem::replace(&mut self.left, around);
    }

    /// What is matched: a pattern uses the parts that it looks at, all only if it binds all.
    fn matched(&mut self, scrutinee: &Expr, whole: bool) {
        if whole || Position::of(scrutinee).is_none() {
            self.visit_expr(scrutinee);
        }
    }

    fn met(&mut self, place: &Position, expr: &Expr) {
        self.used |= self.taken && place.overlaps(&self.place);
        self.taken |= std::ptr::eq(expr, self.part);
    }

    /// The indices of a place.
    fn indices(&mut self, place: &Expr) {
        match bare(place) {
            Expr::Field(e) => self.indices(&e.base),
            Expr::Index(e) => {
                self.indices(&e.expr);
                self.visit_expr(&e.index);
            }
            Expr::Unary(e) => self.indices(&e.expr),
            _ => {}
        }
    }

    fn assigned(&mut self, target: &Expr) {
        match target {
            Expr::Path(_) | Expr::Field(_) => {
                self.taken &= !Position::of(target).is_some_and(|place| place.overlaps(&self.place));
            }
            Expr::Tuple(e) => e.elems.iter().for_each(|e| self.assigned(e)),
            Expr::Array(e) => e.elems.iter().for_each(|e| self.assigned(e)),
            Expr::Struct(e) => e.fields.iter().for_each(|field| self.assigned(&field.expr)),
            Expr::Call(e) => e.args.iter().for_each(|e| self.assigned(e)),
            // What a pointer refers to.
            other => self.visit_expr(other),
        }
    }
}

impl<'ast> Visit<'ast> for UseWalk<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            self.matched(&init.expr, is_whole(&local.pat));
            if let Some((_, diverge)) = &init.diverge {
                let before = self.taken;
                self.visit_expr(diverge);
                self.taken = before;
            }
        }
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(e) => {
                self.visit_expr(&e.right);
                self.assigned(&e.left);
            }
            Expr::Let(e) => self.matched(&e.expr, is_whole(&e.pat)),
            Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                self.visit_expr(&e.left);
                self.perhaps(|walk| walk.visit_expr(&e.right));
            }
            Expr::If(e) => {
                self.visit_expr(&e.cond);
                self.one_of([true, false], |walk, holds| match (holds, &e.else_branch) {
                    (true, _) => walk.visit_block(&e.then_branch),
                    (false, Some((_, otherwise))) => walk.visit_expr(otherwise),
                    (false, None) => {}
                });
            }
            Expr::Match(e) => {
                self.matched(&e.expr, e.arms.iter().all(|arm| is_whole(&arm.pat)));
                self.one_of(&e.arms, |walk, arm| walk.visit_arm(arm));
            }
            Expr::While(e) => self.repeated(|walk| walk.visit_expr(&e.cond), true, &e.body),
            Expr::ForLoop(e) => {
                self.visit_expr(&e.expr);
                self.repeated(|_| {}, true, &e.body);
            }
            Expr::Loop(e) => self.repeated(|_| {}, false, &e.body),
            Expr::Break(e) => {
                e.expr.iter().for_each(|value| self.visit_expr(value));
                self.left |= self.taken && e.label.is_none();
                self.taken = false;
            }
            Expr::Return(_) | Expr::Continue(_) => {
                visit::visit_expr(self, expr);
                self.taken = false;
            }
            Expr::Closure(e) => {
                let left = self.left;
                self.perhaps(|walk| walk.visit_expr(&e.body));
                self.left = left;
            }
            // What is left of it.
            Expr::Struct(e) => {
                e.fields.iter().for_each(|field| self.visit_expr(&field.expr));
                e.rest.iter().for_each(|rest| self.matched(rest, false));
            }
            _ => match Position::of(expr) {
                Some(place) => {
                    self.indices(expr);
                    self.met(&place, expr);
                }
                None => visit::visit_expr(self, expr),
            },
        }
    }
    fn visit_macro(&mut self, mac: &'ast Macro) {
        if let Some(target) = goto_target(mac) {
            self.ahead.extend(self.taken.then_some(target));
        }
        let goes_on = mac.path.is_ident("vec") || mac.path.is_ident("matches") || is_listed(mac);
        let ends = ["panic", "todo", "unreachable"].iter().any(|name| mac.path.is_ident(name));
        self.taken &= goes_on && !ends;
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a pattern binds all that it is matched against.
fn is_whole(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.subpat.is_none(),
        Pat::Type(p) => is_whole(&p.pat),
        _ => false,
    }
}
