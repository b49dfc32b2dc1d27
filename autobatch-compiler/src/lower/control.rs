//! Control constructs that contain a batched call or a loop, as blocks.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Label, Lifetime, Pat, Stmt, Type, UnOp, parse_quote};

use crate::diagnostics::reasons;
use crate::ir::effects::{self, bound, bound_by_condition, variable};
use crate::ir::{self, BlockId, Terminator, VarId};
use crate::lower::expr::has_exits;
use crate::lower::lowering::{LoopContext, Lowering};
use crate::lower::scan;

impl Lowering<'_> {
    /// Whether [`Lowering::control`] takes this expression apart.
    pub(super) fn is_control(&self, expr: &Expr) -> bool {
        match expr {
            Expr::If(_)
            | Expr::Match(_)
            | Expr::Block(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_) => scan::splits(self, expr),
            _ => false,
        }
    }

    /// Lowers a control construct; its value goes to `dest`.
    pub(super) fn control(&mut self, expr: Expr, dest: Option<VarId>, ty: Option<&Type>) {
        let span = expr.span();
        match expr {
            Expr::Block(e) => match e.label {
                Some(label) => self.labelled_block(label, e.block, dest, ty),
                None => self.body(e.block, dest, ty.cloned()),
            },
            Expr::If(e) => self.if_(e, dest, ty),
            Expr::Match(e) => self.match_(e, dest, ty),
            Expr::Loop(e) => {
                let (header, after) = self.loop_(span, "loop", e.label.as_ref(), dest);
                self.round(e.body, header, after);
            }
            Expr::While(e) => {
                let (header, after) = self.loop_(span, "while", e.label.as_ref(), None);
                let inside = self.new_block(e.body.span(), "body");
                self.condition(*e.cond, inside, after);
                self.start(inside);
                self.round(e.body, header, after);
                self.unit(dest, ty);
            }
            Expr::ForLoop(e) => self.for_(e, dest, ty),
            _ => unreachable!("`is_control` admits no other expression"),
        }
    }

    /// The value of a construct that has none.
    fn unit(&mut self, dest: Option<VarId>, ty: Option<&Type>) {
        if let Some(dest) = dest {
            self.define(dest, ty, parse_quote!(()));
        }
    }

    /// Goes on in `block` if anything jumps there.
    fn arrive(&mut self, block: BlockId) {
        let arrives = self.program.blocks.iter().any(|b| b.successors().contains(&block));
        if arrives {
            self.start(block);
        } else {
            self.cursor = None;
        }
    }

    /// The header of a loop, which is filled from here on, and the block behind the loop.
    fn loop_(
        &mut self,
        span: Span,
        what: &'static str,
        label: Option<&Label>,
        dest: Option<VarId>,
    ) -> (BlockId, BlockId) {
        let header = self.new_block(span, what);
        self.program.blocks[header.0].header = true;
        self.jump(header);
        let after = self.new_block(span, "after loop");
        self.enter(label, Some(header), after, dest);
        self.start(header);
        (header, after)
    }

    /// The body of a loop, from the current block back to its header.
    fn round(&mut self, body: syn::Block, header: BlockId, after: BlockId) {
        self.body(body, None, None);
        self.jump(header);
        self.loops.pop();
        self.arrive(after);
    }

    fn enter(&mut self, label: Option<&Label>, header: Option<BlockId>, after: BlockId, dest: Option<VarId>) {
        let dest_ident = dest.map(|dest| self.program.var(dest).ident.clone());
        self.program.blocks[after.0].arrives.extend(dest);
        self.loops.push(LoopContext {
            label: label.map(|l| l.name.ident.to_string()),
            is_loop: header.is_some(),
            continue_to: header,
            break_to: after,
            dest: dest_ident,
            dest_var: dest,
        });
    }

    /// The innermost lowered loop or block that a jump with this label means.
    pub(super) fn context(&self, label: Option<&Lifetime>) -> Option<usize> {
        self.loops.iter().rposition(|l| match label {
            Some(label) => l.label.as_deref() == Some(label.ident.to_string().as_str()),
            None => l.is_loop,
        })
    }

    pub(super) fn break_(&mut self, e: syn::ExprBreak) {
        let Some(index) = self.context(e.label.as_ref()) else {
            return self.op(Stmt::Expr(Expr::Break(e), Some(Default::default())));
        };
        let LoopContext { break_to: target, dest_var: dest, .. } = self.loops[index];
        match (e.expr, dest) {
            (Some(value), Some(dest)) => self.into(*value, dest, None),
            (Some(value), None) => self.discard(*value),
            (None, Some(dest)) => self.define(dest, None, parse_quote!(())),
            (None, None) => {}
        }
        self.jump(target);
    }

    fn labelled_block(&mut self, label: Label, block: syn::Block, dest: Option<VarId>, ty: Option<&Type>) {
        let after = self.new_block(label.span(), "after block");
        self.enter(Some(&label), None, after, dest);
        self.body(block, dest, ty.cloned());
        self.jump(after);
        self.loops.pop();
        self.arrive(after);
    }

    fn if_(&mut self, e: syn::ExprIf, dest: Option<VarId>, ty: Option<&Type>) {
        let span = e.if_token.span;
        let then = self.new_block(e.then_branch.span(), "then");
        let otherwise = self.new_block(e.else_branch.as_ref().map_or(span, |(_, e)| e.span()), "else");
        let join = self.new_block(span, "join");
        self.condition(*e.cond, then, otherwise);
        self.start(then);
        self.body(e.then_branch, dest, ty.cloned());
        self.jump(join);
        self.start(otherwise);
        match e.else_branch {
            Some((_, otherwise)) => self.arm(*otherwise, dest, ty),
            None => self.unit(dest, ty),
        }
        self.jump(join);
        self.arrive(join);
    }

    /// Lowers what is chosen by an `if`, `match` or `let … else`.
    fn arm(&mut self, body: Expr, dest: Option<VarId>, ty: Option<&Type>) {
        match (body, dest) {
            (body, Some(dest)) => self.into(body, dest, ty),
            (Expr::Block(e), None) if e.label.is_none() => self.body(e.block, None, None),
            (body, None) => self.discard(body),
        }
    }

    /// Branches on a condition, which may be a let chain and may contain calls.
    pub(super) fn condition(&mut self, cond: Expr, then: BlockId, otherwise: BlockId) {
        if self.cursor.is_none() {
            return;
        }
        let hoists = scan::splits(self, &cond) || has_exits(&cond);
        match cond {
            Expr::Paren(e) => self.condition(*e.expr, then, otherwise),
            Expr::Unary(e) if hoists && matches!(e.op, UnOp::Not(_)) => {
                self.condition(*e.expr, otherwise, then)
            }
            Expr::Binary(e) if hoists && matches!(e.op, BinOp::And(_)) => {
                let mid = self.new_block(e.right.span(), "and");
                self.condition(*e.left, mid, otherwise);
                self.start(mid);
                self.condition(*e.right, then, otherwise);
            }
            Expr::Binary(e) if hoists && matches!(e.op, BinOp::Or(_)) => {
                let mid = self.new_block(e.right.span(), "or");
                self.condition(*e.left, then, mid);
                self.start(mid);
                self.condition(*e.right, then, otherwise);
            }
            Expr::Let(mut e) => {
                self.ask_temporaries(&e.expr);
                *e.expr = self.settled(*e.expr);
                self.branch(Expr::Let(e), then, otherwise);
            }
            other if hoists => {
                let value = self.settled(other);
                self.branch(value, then, otherwise);
            }
            other => self.branch(other, then, otherwise),
        }
    }

    fn branch(&mut self, cond: Expr, then: BlockId, otherwise: BlockId) {
        let cond = before_brace(cond);
        let binds = bound_by_condition(&self.names, &cond);
        let mut uses = effects::of(&self.names, &cond).mentions;
        uses.retain(|var| !binds.contains(var));
        self.terminate(Terminator::Branch { cond: Box::new(cond), uses, binds, then, otherwise });
    }

    /// `let pat = init else { diverge }` where a part makes blocks.
    pub(super) fn let_else(&mut self, pat: Pat, init: Expr, diverge: Expr) {
        let then = self.new_block(pat.span(), "let");
        let otherwise = self.new_block(diverge.span(), "let else");
        let pat = match pat {
            Pat::Type(t) => *t.pat,
            other => other,
        };
        self.condition(parse_quote!(let #pat = #init), then, otherwise);
        self.start(otherwise);
        self.arm(diverge, None, None);
        self.terminate(Terminator::Unreachable);
        self.start(then);
    }

    fn match_(&mut self, e: syn::ExprMatch, dest: Option<VarId>, ty: Option<&Type>) {
        let span = e.match_token.span;
        let join = self.new_block(span, "join");
        let mut arms = e.arms;
        self.ask_temporaries(&e.expr);
        let mut scrutinee = before_brace(self.settled((*e.expr).clone()));
        let guarded = |lower: &Self, arm: &syn::Arm| match &arm.pat {
            Pat::Guard(p) => scan::splits(lower, &p.guard) || has_exits(&p.guard),
            _ => false,
        };
        // Where a guard makes a call, the pattern comes first, then the guard as a condition, and where that
        // does not hold, the arms behind. What is matched is looked at again there, so it must still be there.
        let guards = || arms.iter().filter(|arm| guarded(self, arm));
        let again = guards().next().is_some()
            && (self.can_be_matched_again(&e.expr)
                || arms.iter().any(|arm| is_of_number(&arm.pat))
                || guards().all(|arm| self.binds_nothing(&arm.pat)));
        if again && variable(&self.names, &scrutinee).is_none() {
            scrutinee = self.in_variable("matched", scrutinee);
        }
        while again && let Some(nth) = arms.iter().position(|arm| guarded(self, arm)) {
            let behind = arms.split_off(nth + 1);
            let Some(syn::Arm { pat: Pat::Guard(guarded), body, .. }) = arms.pop() else { unreachable!() };
            let inside = self.new_block(guarded.guard.span(), "guard");
            let (then, otherwise) = (self.new_block(body.span(), "arm"), self.new_block(span, "next arms"));
            arms.push(self.arm_to((*guarded.pat).clone(), inside));
            arms.push(self.arm_to(parse_quote!(_), otherwise));
            self.switch(&scrutinee, arms, join, dest, ty);
            self.start(inside);
            self.condition(*guarded.guard, then, otherwise);
            self.start(then);
            self.arm(*body, dest, ty);
            self.jump(join);
            self.start(otherwise);
            arms = behind;
            // rustc can't see that the arms before have left nothing else.
            arms.push(parse_quote!(_ => ::core::unreachable!("an arm before takes it"),));
        }
        self.switch(&scrutinee, arms, join, dest, ty);
        self.arrive(join);
    }

    /// An arm that goes to a block.
    fn arm_to(&self, pat: Pat, target: BlockId) -> syn::Arm {
        let goto = ir::goto(target);
        parse_quote!(#pat => #goto,)
    }

    fn binds_nothing(&self, pat: &Pat) -> bool {
        match pat {
            Pat::Guard(p) => bound(&self.names, &p.pat).is_empty(),
            other => bound(&self.names, other).is_empty(),
        }
    }

    /// Whether matching a value does not move it: it is a reference, a number or the like, or a constant.
    fn can_be_matched_again(&self, scrutinee: &Expr) -> bool {
        let constant = matches!(scrutinee, Expr::Path(_)) && variable(&self.names, scrutinee).is_none();
        constant
            || self.reference_flow().is_number_value(scrutinee)
            || self.reference_flow().is_reference_value(scrutinee)
    }

    /// A `match` whose arms go to blocks of their own.
    fn switch(
        &mut self,
        scrutinee: &Expr,
        all: Vec<syn::Arm>,
        join: BlockId,
        dest: Option<VarId>,
        ty: Option<&Type>,
    ) {
        let scrutinee = scrutinee.clone();
        let mut uses = effects::of(&self.names, &scrutinee).mentions;
        let mut arms = Vec::new();
        let mut bodies = Vec::new();
        for arm in all {
            // An arm that only goes somewhere goes there itself.
            let known = match &*arm.body {
                Expr::Macro(mac) => ir::goto_target(&mac.mac),
                _ => None,
            };
            let target = known.unwrap_or_else(|| self.new_block(arm.body.span(), "arm"));
            let (pat, guard) = match arm.pat {
                Pat::Guard(p) => (*p.pat, Some(p.guard)),
                other => (other, None),
            };
            let binds = bound(&self.names, &pat);
            if let Some(guard) = &guard {
                if scan::splits(self, guard) || has_exits(guard) {
                    self.whole_fallback(guard.span(), reasons::IN_A_GUARD);
                }
                let mentions = effects::of(&self.names, guard).mentions;
                uses.extend(mentions.difference(&binds));
            }
            arms.push(ir::Arm { pat, guard, binds, target });
            if known.is_none() {
                bodies.push((target, *arm.body));
            }
        }
        self.terminate(Terminator::Switch { scrutinee: Box::new(scrutinee), uses, arms });
        for (target, body) in bodies {
            self.start(target);
            self.arm(body, dest, ty);
            self.jump(join);
        }
    }

    fn for_(&mut self, e: syn::ExprForLoop, dest: Option<VarId>, ty: Option<&Type>) {
        let span = e.for_token.span;
        let written = (*e.expr).clone();
        let expr = self.value(*e.expr);
        let counting = self.counting(&e.pat, &expr);
        let pat = &e.pat;
        let (condition, bind) = match counting {
            Some(counting) => counting,
            None => {
                self.ask(&written);
                let (iter, ident) = self.temp("iter", None);
                self.program.variables[iter.0].mutable = true;
                self.define(iter, None, parse_quote!(::core::iter::IntoIterator::into_iter(#expr)));
                let next = parse_quote!(let ::core::option::Option::Some(#pat) = ::core::iter::Iterator::next(&mut #ident));
                (next, vec![])
            }
        };
        let (header, after) = self.loop_(span, "for", e.label.as_ref(), None);
        let inside = self.new_block(e.body.span(), "body");
        self.branch(condition, inside, after);
        self.start(inside);
        bind.into_iter().for_each(|bind| self.op(bind));
        self.round(e.body, header, after);
        self.unit(dest, ty);
    }
}

/// Whether a pattern can only be of a number, a character, a truth value or a `&str`.
fn is_of_number(pat: &Pat) -> bool {
    match pat {
        Pat::Lit(_) | Pat::Range(_) => true,
        Pat::Or(p) => p.cases.iter().any(is_of_number),
        Pat::Paren(p) => is_of_number(&p.pat),
        Pat::Guard(p) => is_of_number(&p.pat),
        Pat::Ident(p) => p.subpat.as_ref().is_some_and(|(_, pat)| is_of_number(pat)),
        _ => false,
    }
}

/// The expression as it can stand before a `{`: struct literals that nothing encloses in parentheses, of which
/// lowering may have taken the user's own away.
fn before_brace(expr: Expr) -> Expr {
    match expr {
        Expr::Let(mut e) => {
            *e.expr = before_brace(*e.expr);
            Expr::Let(e)
        }
        Expr::Binary(mut e) if matches!(e.op, BinOp::And(_)) => {
            *e.left = before_brace(*e.left);
            *e.right = before_brace(*e.right);
            Expr::Binary(e)
        }
        other if has_bare_struct(&other) => parse_quote!((#other)),
        other => other,
    }
}

fn has_bare_struct(expr: &Expr) -> bool {
    match expr {
        Expr::Struct(_) => true,
        Expr::Assign(e) => has_bare_struct(&e.left) || has_bare_struct(&e.right),
        Expr::Await(e) => has_bare_struct(&e.base),
        Expr::Binary(e) => has_bare_struct(&e.left) || has_bare_struct(&e.right),
        Expr::Call(e) => has_bare_struct(&e.func),
        Expr::Cast(e) => has_bare_struct(&e.expr),
        Expr::Closure(e) => has_bare_struct(&e.body),
        Expr::Field(e) => has_bare_struct(&e.base),
        Expr::Group(e) => has_bare_struct(&e.expr),
        Expr::Index(e) => has_bare_struct(&e.expr),
        Expr::MethodCall(e) => has_bare_struct(&e.receiver),
        Expr::Range(e) => e.start.iter().chain(&e.end).any(|end| has_bare_struct(end)),
        Expr::Reference(e) => has_bare_struct(&e.expr),
        Expr::Try(e) => has_bare_struct(&e.expr),
        Expr::Unary(e) => has_bare_struct(&e.expr),
        _ => false,
    }
}
