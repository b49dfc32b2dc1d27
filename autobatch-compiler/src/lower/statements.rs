//! Statements: blocks of them, `let`s, items.

use std::collections::VecDeque;

use syn::spanned::Spanned;
use syn::{Expr, Ident, Pat, Stmt, Type, parse_quote};

use super::{Lowering, kept, scan, uniform};
use crate::desugar::in_place;
use crate::effects;
use crate::ir::{self, Op, VarId, VarSet};
use crate::mentions;

impl Lowering<'_> {
    /// Lowers the statements of a block; the value of its tail goes to `dest`.
    pub(super) fn body(&mut self, block: syn::Block, dest: Option<VarId>, ty: Option<Type>) {
        self.block_body(block, dest, ty, false);
    }

    /// The same. Nothing follows one that is the `outermost` of a function.
    pub(super) fn block_body(
        &mut self,
        block: syn::Block,
        dest: Option<VarId>,
        ty: Option<Type>,
        outermost: bool,
    ) {
        let (outer, mut guards) = (self.guards.len(), self.guards_of(&block.stmts, outermost));
        let mut stmts = block.stmts;
        let mut tail = match stmts.last() {
            Some(Stmt::Expr(_, None)) => match stmts.pop() {
                Some(Stmt::Expr(expr, None)) => Some(expr),
                _ => None,
            },
            Some(Stmt::Macro(m)) if m.semi_token.is_none() => match stmts.pop() {
                Some(Stmt::Macro(m)) => Some(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac })),
                _ => None,
            },
            _ => None,
        };
        let mut stmts: VecDeque<Stmt> = stmts.into();
        for i in 0.. {
            if let Some(spent) = guards.spent.get(&i) {
                let behind: Vec<Stmt> =
                    stmts.iter().cloned().chain(tail.clone().map(|e| Stmt::Expr(e, None))).collect();
                let moved = self.spend(spent, guards.outermost, &behind);
                if !moved.is_empty() {
                    tail = Some(parse_quote!({ #(#moved)* #(#behind)* }));
                    break;
                }
            }
            let Some(stmt) = stmts.pop_front() else { break };
            self.stmt(stmt);
            self.guard(guards.bound.remove(&i).unwrap_or_default());
        }
        match (tail, dest) {
            (Some(tail), Some(dest)) if self.statement.is_some() => self.into(tail, dest, ty.as_ref()),
            (Some(tail), Some(dest)) => {
                self.statement(false, true, |lower| lower.into(tail, dest, ty.as_ref()))
            }
            (Some(tail), None) => self.statement(false, true, |lower| lower.discard(tail)),
            (None, Some(dest)) => self.define(dest, ty.as_ref(), parse_quote!(())),
            (None, None) => {}
        }
        self.end_guards(outer);
    }

    pub(super) fn stmt(&mut self, stmt: Stmt) {
        if self.cursor.is_none() {
            return;
        }
        match &stmt {
            Stmt::Local(local) => {
                let extends = local.init.as_ref().is_some_and(|init| kept::extends(&init.expr));
                let exact = local.init.as_ref().is_some_and(|init| init.diverge.is_none());
                let looks_back = |name: Ident| self.known_guards.may_look_back(&name.to_string());
                let exact = exact && !(extends && mentions::names(&local.pat).into_iter().any(looks_back));
                self.statement(extends, exact, |lower| lower.stmt_itself(stmt));
            }
            _ => self.statement(false, true, |lower| lower.stmt_itself(stmt)),
        }
    }

    fn stmt_itself(&mut self, stmt: Stmt) {
        match stmt {
            Stmt::Item(item) => self.item(item),
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, semi) => {
                if scan::splits(self, &expr)
                    || matches!(expr, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_))
                {
                    self.discard(expr);
                } else {
                    self.op(Stmt::Expr(expr, semi));
                }
            }
            other => self.op(other),
        }
    }

    /// Hoists an item of the body. All bodies of the program share one scope.
    fn item(&mut self, item: syn::Item) {
        let same = |other: &syn::Item| ir::text(other) == ir::text(&item);
        if self.items.iter().any(same) {
            return;
        }
        let name = item_name(&item);
        if name.is_some() && self.items.iter().any(|other| item_name(other) == name) {
            self.whole_fallback(item.span(), "another body of the program has an item of the same name");
        }
        self.items.push(item);
    }

    fn local(&mut self, local: syn::Local) {
        let Some(init) = &local.init else {
            return self.declaration(&local.pat);
        };
        self.note_references(&local.pat, &init.expr);
        if in_place::is_place(&init.expr) {
            for var in effects::bound(&self.names, &local.pat) {
                self.program.variables[var.0].anchored = true;
            }
        }
        self.note_option(&local.pat, &init.expr);
        let uniforms = uniform::defines(self, &self.uniforms, &local);
        self.uniforms.extend(uniforms);
        if !scan::stmt_splits(self, &Stmt::Local(local.clone())) {
            return self.op(Stmt::Local(local));
        }
        let (pat, init) = (local.pat, *init.expr.clone());
        if let Some((_, diverge)) = local.init.and_then(|init| init.diverge) {
            return self.let_else(pat, init, *diverge);
        }
        // A plain binding is the destination itself.
        match &pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                let dest = self.names[&p.ident.to_string()];
                self.into(init, dest, None);
            }
            Pat::Type(t) if matches!(&*t.pat, Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none()) => {
                let dest = effects::bound(&self.names, &t.pat)
                    .into_iter()
                    .next()
                    .expect("an identifier pattern binds");
                self.into(init, dest, Some(&t.ty));
            }
            _ => {
                let value = self.value(init);
                self.op(parse_quote!(let #pat = #value;));
            }
        }
    }

    /// `let x;`: no code; the region that first assigns `x` declares it.
    fn declaration(&mut self, pat: &Pat) {
        let declares = effects::bound(&self.names, pat);
        if let Pat::Type(t) = pat {
            for var in &declares {
                self.program.variables[var.0].ty = Some((*t.ty).clone());
            }
        }
        let (uses, defs) = (VarSet::new(), VarSet::new());
        let ends = VarSet::new();
        self.push_op(Op { code: vec![], uses, defs, declares, exits: vec![], weight: 0, ends });
    }
}

/// The name an item defines.
fn item_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(i) => &i.ident,
        syn::Item::Enum(i) => &i.ident,
        syn::Item::Fn(i) => &i.sig.ident,
        syn::Item::Mod(i) => &i.ident,
        syn::Item::Static(i) => &i.ident,
        syn::Item::Struct(i) => &i.ident,
        syn::Item::Trait(i) => &i.ident,
        syn::Item::Type(i) => &i.ident,
        syn::Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
